//! Files that nobody prepared: bank statements, loggers, surveys, price lists, exports of R, Stata and pandas.

/// A file, and what is found: `column: type key=value`, then a part of its notes where that matters.
pub(crate) type Case = (&'static str, &'static [u8], &'static [&'static str], &'static str);

pub(crate) const FOUND: &[Case] = &[
    // A German bank: two lines of its own above the header, quoted line breaks, Windows' letters.
    ("bank_de.csv", b"\"Kontoauszug\";\"DE12 3456 7890\"\n\"Zeitraum:\";\"01.03.2024 - 31.03.2024\"\n\n\"Buchungstag\";\"Valuta\";\"Verwendungszweck\";\"Betrag\";\"W\xe4hrung\"\n\"28.03.24\";\"28.03.24\";\"Miete April\";\"-1.150,00\";\"EUR\"\n\"15.03.24\";\"16.03.24\";\"Gehalt; M\xe4rz\";\"3.250,45\";\"EUR\"\n\"02.03.24\";\"02.03.24\";\"REWE sagt\nDanke\";\"-45,9\";\"EUR\"\n", &["Buchungstag: date order=day-first max=2024-03-28", "Betrag: real decimal=, thousands=. min=-1150.0", "Verwendungszweck: text"], "2 rows above the header left out: 'Kontoauszug DE12 3456 7890'"),
    // An American one: amounts in brackets are negative.
    ("bank_us.csv", b"Date,Description,Debit,Credit,Balance\n03/28/2024,\"ACME, INC PAYROLL\",,\"3,250.45\",\"4,100.00\"\n03/29/2024,RENT,\"(1,150.00)\",,\"2,950.00\"\n04/01/2024,COFFEE,(4.50),,\"2,945.50\"\n", &["Date: date order=month-first", "Debit: real thousands=, min=-1150.0", "Balance: real max=4100.0"], ""),
    // A logger: remarks above the header, and a number that stands for none.
    ("sensor.log.csv", b"# logger v2.1 serial 00123\n# site: roof\ntimestamp,temp_C,rh_%,battery_V\n2024-03-01T00:00:00.000Z,3.1,81,3.29\n2024-03-01T00:10:00.000Z,3.0,81,3.29\n2024-03-01T00:20:00.000Z,-999,82,3.28\n2024-03-01T00:30:00.000Z,2.9,82,3.28\n", &["timestamp: timestamp zone=UTC", "temp_C: real", "rh_%: integer"], "-999 may stand for a missing value"),
    // A form: times with a zone by name, ranges that are no dates.
    ("survey.csv", b"Timestamp,\"How satisfied are you? (1-5)\",Would you recommend us?,Comments,Age group\n2024/03/01 9:12:45 AM GMT+1,5,Yes,\"Great, thanks\",18-24\n2024/03/01 9:15:02 AM GMT+1,3,No,,25-34\n2024/03/01 1:20:33 PM GMT+1,4,Yes,\"ok\nbut slow\",25-34\n", &["Timestamp: timestamp zone=UTC min=2024-03-01T08:12:45", "Would you recommend us?: boolean", "Age group: text"], ""),
    // Amounts in several units are not one quantity.
    ("price_list.csv", "Item,Price,Per,Weight\nFlour,\"1,29 €\",kg,\"1 kg\"\nSugar,\"0,99 €\",kg,\"500 g\"\nSalt,\"0,45 €\",500 g,\"0,5 kg\"\n".as_bytes(), &["Price: decimal decimal=, currency=EUR", "Weight: text"], "its numbers have several units (g, kg)"),
    ("weekday.csv", b"day;visitors\nMo, 04.03.2024;120\nDi, 05.03.2024;135\nMi, 06.03.2024;99\n", &["day: date order=day-first", "visitors: integer"], ""),
    // The day of the week says which number is the day.
    ("weekday_us.csv", b"day;visitors\nMon 03/04/2024;120\nTue 03/05/2024;135\n", &["day: date order=month-first"], ""),
    ("r_table.txt", b"\"mpg\" \"cyl\" \"name\"\n\"Mazda RX4\" 21 6 \"a b\"\n\"Datsun 710\" 22.8 NA \"c\"\n", &["row: text", "mpg: real", "cyl: integer", "name: text"], "'NA' (1)"),
    // Cells that span columns and rows stand in each of them.
    ("span.html", b"<html><table><tr><th rowspan=2>City</th><th colspan=2>Visitors</th></tr><tr><th>2023</th><th>2024</th></tr><tr><td rowspan=2>Bern<td>1<td>2<tr><td>3<td>4</table></html>", &["City: category", "Visitors 2023: integer max=3", "Visitors 2024: integer max=4"], "joined"),
    // A name without values is a row, also below an empty line.
    ("sparse.csv", b"name,phone\nAnn,1\n\nBob,\nCy,\n", &["name: text"], "\"rows\":3"),
    ("weekday_en.csv", b"Date,Sales\n\"Monday, March 4, 2024\",1200\n\"Tuesday, March 5, 2024\",1350\n\"Wednesday, 6 March 2024\",990\n", &["Date: date max=2024-03-06"], ""),
    // Totals among the rows would be counted twice.
    ("totals.csv", b"Quarter,Region,Revenue\nQ1,North,100\nQ1,South,50\nSubtotal Q1,,150\nQ2,North,120\nQ2,South,60\nSubtotal Q2,,180\nGrand Total,,330\n", &["Revenue: integer"], "rows 4 (Subtotal Q1), 7 (Subtotal Q2), 8 (Grand Total) may be totals of others"),
    ("pivot.csv", b"Region,Shop,Sales\nNorth,a,10\nNorth,b,20\nNorth Total,,30\nSouth,c,5\nSouth,Subtotal,5\n", &["Sales: integer"], "rows 4 (North Total), 6 (Subtotal) may be totals of others"),
    // SAP marks a total with asterisks.
    ("sap.csv", b"Doc;Amount;Crcy\n0100000001;1.500,00;EUR\n0100000002;250,50-;EUR\n*;1.249,50;EUR\n", &["Amount: real max=1500.0"], "its last row (*) is the total of the others"),
    // Rows that happen to add up are rows: only a label makes a total of one.
    ("odd_total.csv", b"shop,sales,n\na,10,1\nb,20,2\nc,45,5\nZZ,75,8\n", &["sales: integer max=75"], "its last row (ZZ) is the sum of the others; it is read as a row"),
    ("one_sum.csv", b"shop,sales\na,10\nb,20\nc,45\nd,75\n", &["sales: integer max=75"], "is the sum of the others; it is read as a row"),
    ("no_label.csv", b"shop,sales\na,10\nb,20\nc,45\n,75\n", &["sales: integer max=75"], "is the sum of the others; it is read as a row"),
    ("no_name.csv", b"shop,errors\na,0\nb,0\nc,0\n,0\n", &["errors: integer"], "\"rows\":4"),
    // Five euros and no cents are not minus five.
    ("dashes.csv", b"k;v\na;5,-\nb;10,-\nc;2,50\n", &["v: real decimal=, min=2.5 max=10"], ""),
    ("versions.csv", b"app,version\nx,1.1\ny,1.10\nz,1.2\n", &["version: identifier"], ""),
    // Codes stay codes, whatever was typed behind one of them.
    ("dirty_zip.csv", b"id,zip\n1,98053-\n2,98052\n3,98051\n4,98050\n", &["zip: identifier"], ""),
    ("dirty_code.csv", b"id,code\n1,01234\n2,98053-\n3,98051\n4,98050\n5,98049\n6,98048\n7,98047\n8,98046\n9,98045\n10,98044\n11,98043\n", &["code: text"], ""),
    ("minus.csv", b"k,v\na,1.50-\nb,2.25\n", &["v: real min=-1.5 max=2.25"], ""),
    ("sku_e.csv", b"sku,qty\n1E5,1\n100000,2\n2E3,3\n", &["sku: identifier"], ""),
    ("two_currencies.csv", b"k,amount,currency\na,5,EUR\nb,7,USD\nc,9,EUR\n", &["amount: integer"], "names several currencies (EUR, USD)"),
    ("cases.csv", b"shop,n\nBerlin,1\nberlin,2\nBern,3\n", &["shop: text"], "differ by case or blanks alone"),
    // Texts that are protected from spreadsheets.
    ("protected.csv", b"id,n\n\"=\"\"00123\"\"\",1\n\"=\"\"00045\"\"\",2\n", &["id: identifier"], ""),
    ("twice.json", b"[{\"v\": 1, \"v\": 5}, {\"v\": 2}]", &["v: integer max=5"], "'v' stands twice in an object"),
    ("appended.csv", b"k,v\na,1\nb,2\nk,v\nc,3\n", &["k: text"], "the header stands again in row 4"),
    // A frame as pandas writes it by its columns.
    ("columns.json", b"{\"city\": {\"0\": \"Rome\", \"1\": \"Oslo\"}, \"n\": {\"0\": 1, \"1\": 2}}", &["city: text", "n: integer max=2"], "\"rows\":2"),
    // The century of a year of two digits is a convention.
    ("born.csv", b"who,born\na,31.12.69\nb,01.05.71\n", &["born: date min=1971-05-01"], "years of two digits are read as 1970 to 2069"),
    // More digits than a whole number has.
    ("big.json", b"[{\"id\": 12345678901234567890, \"v\": 1}, {\"id\": 12345678901234567891, \"v\": 2}]", &["id: identifier", "v: integer"], "more than 18 digits"),
    ("mixed_currency.csv", "invoice,amount\n1,$120.00\n2,€ 99.50\n3,£ 45.10\n4,$10.00\n".as_bytes(), &["amount: text"], "several units (EUR, GBP, USD)"),
    ("accounting.csv", b"Account,2022,2023\nRevenue,\"1,234.50\",\"2,345.60\"\nCosts,\"(1,000.00)\",\"(2,100.10)\"\nOther,-,\"(5.00)\"\n", &["2022: real min=-1000.0", "2023: real max=2345.6"], "read as missing: '-' (1)"),
    // A spreadsheet shows an amount of nothing as a dash with its currency.
    ("euro.csv", "Artikel;Preis\nA;1.234,50 €\nB;12,00 €\nC;- €\nD;-3,50 €\n".as_bytes(), &["Preis: decimal decimal=, thousands=. currency=EUR min=-3.5"], "read as missing: '- €' (1)"),
    ("times_fr.csv", "nom;durée;début\nA;12h30;08h15\nB;1h05;09h00\nC;0h45;14h30\n".as_bytes(), &["durée: duration max=45000.0", "début: text"], "times of the day or lengths of time"),
    ("pace.csv", b"runner,pace,duration\nA,3:05,0:42:10\nB,4:10,0:51:00\nC,3:55,1:02:33\n", &["pace: text", "duration: duration max=3753.0"], "times of the day or lengths of time"),
    ("d2.csv", b"id,shipped\n1,05/06/24\n2,13/06/24\n3,01/07/24\n", &["shipped: date order=day-first min=2024-06-05"], ""),
    ("d2u.csv", b"id,shipped\n1,05/06/24\n2,03/06/24\n", &["shipped: date order=month-first"], "05/06/24 is read month-first, as 2024-05-06"),
    // A byte order mark is no part of the first name.
    ("bom_semi.csv", "\u{feff}id;naam;bedrag\r\n1;Jan;10,5\r\n2;Piet;1.000,25\r\n".as_bytes(), &["id: integer", "bedrag: real decimal=, thousands=."], ""),
    ("utf16.txt", b"\xff\xfei\x00d\x00\t\x00n\x00a\x00m\x00e\x00\t\x00v\x00a\x00l\x00u\x00e\x00\r\x00\n\x001\x00\t\x00\xc4\x00\t\x005\x00,\x005\x00\r\x00\n\x002\x00\t\x00\xd6\x00\t\x006\x00,\x005\x00\r\x00\n\x00", &["value: real decimal=,"], ""),
    // R names its rows in a column without a name.
    ("r_names.csv", b"\"\",\"mpg\",\"cyl\",\"am\",\"grp\"\n\"Mazda RX4\",21,6,TRUE,\"a\"\n\"Datsun 710\",22.8,4,FALSE,NA\n\"Hornet\",NA,6,NA,\"b\"\n", &["mpg: real", "am: boolean", "grp: text"], "read as missing: 'NA' (1)"),
    ("stata.csv", b"id,income,married,region\n1,.,1,North\n2,52000,0,South\n3,.a,1,North\n4,48000.5,0,West\n", &["income: real max=52000"], "read as missing: '.' (1), '.a' (1)"),
    ("excel_serial.csv", b"order,date\n1,45352\n2,45353\n3,45360\n", &["date: integer"], "may be days of a spreadsheet (45352 is 2024-03-01)"),
    ("epoch.csv", b"event,created_at,ts\na,1709251200,1709251200000\nb,1709254800,1709254800000\n", &["created_at: integer"], "may be seconds since 1970 (1709251200 is 2024-03-01)"),
    ("countries.csv", b"code,name\nde,German\nna,Nauru\nno,Norwegian\nfr,French\n", &["code: text"], "'na' is a code like the others"),
    ("phones.csv", b"name,phone,zip\nAnn,(212) 555-0198,02134\nBob,212-555-0143,10001\nCy,+1 212 555 0101,94105-1234\n", &["phone: identifier", "zip: identifier"], ""),
    ("scientific.csv", b"sample;conc;p\nA;1,5E-03;0,04\nB;2E+05;<0,001\nC;3,25E+00;0,2\nD;1,1E+00;0,5\nE;1,1E+00;0,6\nF;1,1E+00;0,7\nG;1,1E+00;0,8\nH;1,1E+00;0,85\nI;1,1E+00;0,9\nJ;1,1E+00;0,95\n", &["conc: real decimal=, max=200000.0", "p: real decimal=,"], "row 3 ('<0,001')"),
    ("ch.csv", "Kunde;Umsatz CHF;Anteil;Datum\nMüller AG;1\u{2019}234\u{2019}567.85;12.5%;1.3.2024\nHuber;98\u{2019}000.00;3.0%;15.3.2024\n".as_bytes(), &["Umsatz CHF: real thousands=' unit=CHF", "Anteil: percent", "Datum: date order=day-first"], ""),
    ("fr.csv", b"Ville;Population;Densit\xe9 (hab/km\xb2);Date\nParis;2 145 906;20 360,5;1 janvier 2024\nLyon;522 250;10 908,1;15 f\xe9vrier 2024\n", &["Population: integer max=2145906", "Date: date max=2024-02-15"], ""),
    // Lakhs and crores.
    ("in.csv", "city,population,amount\nPune,\"31,24,458\",\"₹1,00,000.00\"\nDelhi,\"1,67,87,941\",\"₹25,000.00\"\n".as_bytes(), &["population: integer max=16787941", "amount: decimal currency=INR max=100000.0"], ""),
    ("pct.csv", b"product,growth,share\nA,+12.5%,0.45\nB,-3%,0.35\nC,0%,0.2\n", &["growth: percent min=-3", "share: real"], ""),
    ("bool_mix.csv", b"user,active,newsletter,admin\na,TRUE,Y,x\nb,FALSE,N,\nc,TRUE,Y,x\n", &["active: boolean", "newsletter: boolean"], ""),
    ("pipe.txt", b"ID|Name|Amount\n001|Ann|10.50\n002|Bob|7.25\n", &["ID: identifier", "Amount: real"], ""),
    ("quoted.csv", b"id,note,amount\n1,\"He said \"\"hi\"\", left\",5\n2,\"line one\nline two\",7\n3,,9\n", &["amount: integer max=9"], ""),
    ("metadata_tail.csv", b"Region,Sales\nNorth,10\nSouth,20\n\nSource: Statistics office\nLast updated: 2024-03-01\n", &["Region: text", "Sales: integer max=20"], "2 rows below the table left out: 'Source: Statistics office'"),
    ("units_rows.csv", "Depth,Pressure,Temp\nm,bar,°C\n10,1.0,4.5\n20,2.0,4.1\n".as_bytes(), &["Depth: integer unit=m", "Temp: real unit=°C"], "the row below its names gives units (m, bar, °C)"),
    // A unit for one of many columns; a row of values below the header is none, nor a mark of another kind above a total.
    ("units_some.csv", b"Charge,Sorte,Gewicht\n,,kg\nR1,Filter,10.5\nR2,Filter,11.5\nR3,Mild,2.0\nR4,Mild,1.0\nR5,Mild,1.0\nR6,Mild,1.0\nR7,Mild,1.0\nR8,Mild,1.0\nR9,Mild,1.0\nR10,Mild,1.0\nSumme,,31.0\n", &["Gewicht: real unit=kg max=11.5"], "its last row (Summe) is the total"),
    ("units_dash.csv", b"Charge,Sorte,Gewicht\n-,-,[kg]\nR1,Filter,10.5\nR2,Filter,11.5\nR3,Mild,2.0\nR4,Mild,1.0\nR5,Mild,1.0\nR6,Mild,1.0\nR7,Mild,1.0\nR8,Mild,1.0\nR9,Mild,1.0\nR10,Mild,1.0\nSumme,,31.0\n", &["Gewicht: real unit=kg max=11.5"], "its last row (Summe) is the total"),
    ("units_ratio.csv", "Charge,Sorte,Preis\n,,EUR/kg\nR1,Filter,10.5\nR2,Filter,11.5\nR3,Mild,2.0\nR4,Mild,1.0\nR5,Mild,1.0\nR6,Mild,1.0\nR7,Mild,1.0\nR8,Mild,1.0\nR9,Mild,1.0\nR10,Mild,1.0\nSumme,,31.0\n".as_bytes(), &["Preis: real unit=EUR/kg max=11.5"], "its last row (Summe) is the total"),
    ("units_other.csv", "Charge,Sorte,Menge\n,,Säcke\nR1,Filter,10.5\nR2,Filter,11.5\nR3,Mild,2.0\nR4,Mild,1.0\nR5,Mild,1.0\nR6,Mild,1.0\nR7,Mild,1.0\nR8,Mild,1.0\nR9,Mild,1.0\nR10,Mild,1.0\nSumme,,31.0\n".as_bytes(), &["Menge: real max=11.5"], "its last row (Summe) is the total"),
    ("sizes.csv", b"size\nm\ns\nm\nl\n", &["size: text"], "\"rows\":4"),
    // A first row of values that looks like units: an amount in brackets, and a name beside one.
    ("first_negative.csv", b"account,balance\nA,(100.00)\nB,250.50\nC,30.00\n", &["account: text", "balance: real max=250.5"], "\"rows\":3"),
    ("first_name.csv", b"item,weight\nA,kg\nB,2\nC,3\nD,4\nE,5\nF,6\nG,7\nH,8\nI,9\nJ,10\nK,11\nL,12\n", &["item: text", "weight: integer max=12"], "\"rows\":12"),
    // A range is no number.
    ("ranges.csv", b"product,price\nA,10-20\nB,20-30\nC,30-40\n", &["price: text"], ""),
    ("thousands_k.csv", b"company,revenue\nA,1.2M\nB,350k\nC,2.5M\n", &["revenue: text"], "what follows (M, k) is no known unit"),
    ("neg_paren_cur.csv", b"line,amount\na,($5.00)\nb,$1000.00\nc,-$3.25\n", &["amount: decimal currency=USD min=-5.0"], ""),
    ("temp.csv", "station;temp\nA;-3,5 °C\nB;12,0 °C\nC;±0,0 °C\n".as_bytes(), &["temp: text"], "others are not ('±0,0 °C')"),
    // Spreadsheet programs are told the delimiter so.
    ("sep.csv", b"sep=;\nid;val\n1;2,5\n2;3,5\n", &["id: integer", "val: real decimal=,"], ""),
    ("dup.csv", b"Name,Score,Score,Name\nA,1,2,x\nB,3,4,y\n", &["Score.1: integer"], "two columns are called 'Score'"),
    ("iso_week.csv", b"week,month,quarter,sales\n2024-W01,2024-01,2024Q1,10\n2024-W02,2024-01,2024Q1,12\n2024-W06,2024-02,2024Q1,9\n", &["week: text", "sales: integer"], ""),
    // A single column with decimal commas is not cut at them.
    ("one_column.csv", b"preis\n1 234,50\n2 000,00\n17,25\n", &["preis: real decimal=, max=2000.0"], ""),
    // A number that floating point does not hold would make every figure of its column infinite.
    ("beyond.csv", b"id,amount,share\n1,10.5,1\n2,1e400,inf\n3,20,1\n4,5,1\n5,6,1\n6,6,1\n7,6,1\n8,6,1\n9,6,1\n10,6,1\n", &["amount: real max=20", "share: integer max=1"], "1 of 10 values cannot be read as numbers: row 3 ('1e400')"),
    ("beyond.json", br#"[{"a":1.5},{"a":1e400},{"a":2},{"a":3},{"a":4},{"a":5},{"a":6},{"a":7},{"a":8},{"a":9},{"a":10},{"a":-Infinity},{"a":11},{"a":12},{"a":13},{"a":14},{"a":15},{"a":16},{"a":17},{"a":18}]"#, &["a: real min=1.5 max=18"], "2 of 20 values cannot be read as numbers: rows 2, 12 ('1e400', '-Infinity')"),
    // A length of time that no clock holds.
    ("span.csv", b"duration,n\n1 days 02:00:00,1\n0 days 00:30:00,2\n99999999999 days 00:30:00,2\n", &["duration: text"], ""),
    // Times of the day are no points in time, a length may be more than a day, and an error is there.
    ("times.xls", include_bytes!("../forms/times.xls"), &["begins: text", "length: duration max=95400.0", "twice: text"], "it holds values of several kinds (number, text)"),
    ("times.ods", include_bytes!("../forms/times.ods"), &["begins: text", "length: duration max=95400.0", "twice: text"], "it holds values of several kinds (number, text)"),
    ("r_plain.txt", b"len kind\n1 5.1 setosa\n2 4.9 setosa\n3 6.3 virginica\n", &["row: integer", "len: real", "kind: text"], "the column `row`"),
    // R names the rows beside the header; a column may be called so already.
    ("r_row.csv", b"\"row\",\"seat\"\n\"1\",5,9\n\"2\",6,8\n", &["row_name: integer", "row: integer", "seat: integer"], "begin with one field more than its header: their names, which are the column `row_name`"),
    // Lengths of time as pandas writes them.
    ("pandas_delta.csv", b"t,v\n1 days 02:00:00,1\n0 days 00:30:00,2\n", &["t: duration max=93600.0"], ""),
];
