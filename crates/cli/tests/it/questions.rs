//! Questions in words about files and tables: what is answered, what is asked back, and what is declined.

use crate::command::{Folder, ordain, run_in, run_with_input};

const CALLS: &str =
    "call_id,agent,topic,minutes,fee\n1,Ann,Tax,10,50\n2,Ben,Tax,20,60\n3,Ann,Law,30,120\n4,Cy,Law,15,\n";
const HIVES: &str = "hive,site,queen_seen,frames,honey_kg\nA1,Wood,yes,10,12.5\nA2,Wood,no,8,3\nA3,Hill,no,9,\nB1,Hill,yes,10,20\n";
const PARCELS: &str = "parcel,Status,Delivered,paid,weight_kg\nP1,Delivered,2025-01-03,yes,2.5\nP2,In transit,,no,1\n\
                       P3,Delivered,,yes,4\nP4,Paid,,no,3\n";
const GOODS: &str = "item,quantity,price,amount,group\nKid bike,1,100,100,Kid\nCity,2,90,180,Adult\nCity,1,70,70,Adult\nSled,3,80,240,Kid\n";

/// What is answered to each question about a file, or what is said instead, has these words.
#[track_caller]
pub(crate) fn answers(file: &str, content: &str, cases: &[(&str, &str)]) {
    let folder = Folder::new();
    folder.file("ordain.toml", "[workspace]\nname = \"questions\"\n");
    folder.file(file, content);
    for (question, part) in cases {
        let record = run_in(folder.path(), &["code", question, "--file", file, "--json"]).json();
        let text = record["answer"]["text"].as_str().unwrap_or_default();
        assert!(text.contains(part), "{question}: {text}");
    }
}

/// The same of questions about several files; where there is no answer, what the error says has the words.
#[track_caller]
fn answers_of(files: &[(&str, &str)], cases: &[(&str, &str)]) {
    let folder = Folder::new();
    folder.file("ordain.toml", "[workspace]\nname = \"questions\"\n");
    for (file, content) in files {
        folder.file(file, content);
    }
    for (question, part) in cases {
        let named = files.iter().flat_map(|(file, _)| ["--file", file]);
        let arguments: Vec<&str> = ["code", question, "--json"].into_iter().chain(named).collect();
        let record = run_in(folder.path(), &arguments).json();
        let said = |of: &str, name: &str| record[of][name].as_str().unwrap_or_default().to_owned();
        let text = format!("{}{}", said("answer", "text"), said("error", "message"));
        assert!(text.contains(part), "{question}: {record}");
    }
}

/// The same of questions about the table that the file was imported as.
#[track_caller]
fn answers_of_a_table(table: &str, content: &str, cases: &[(&str, &str)]) {
    let folder = Folder::new();
    folder.file("ordain.toml", "[workspace]\nname = \"questions\"\n");
    let file = format!("{table}.csv");
    folder.file(&file, content);
    let imported = run_in(folder.path(), &["import", &file, "--table", table]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    for (question, part) in cases {
        let record = run_in(folder.path(), &["ask", question, "--model", "rules", "--json"]).json();
        let text = record["answer"]["text"].as_str().unwrap_or_default();
        assert!(text.contains(part), "{question}: {text}");
    }
}

#[test]
fn a_fee_per_minute_is_divided_and_never_put_together_by_minutes() {
    let both = "say “total … divided by total minutes”, or “by minutes”";
    let cases = [
        ("total fee per minute", "The total fee divided by total minutes of calls is 3.83 (fee is there)."),
        ("total fee for each minute by agent", "Ann (4.25), Ben (3)."),
        ("total fee divided by total minutes", "is 3.83 (fee is there)."),
        ("which agent has the highest total fee per minute", "Ann (4.25)."),
        ("average fee per minute", both),
        ("fee per minute", both),
        ("how many calls per minute", both),
        ("average fee by minute", both),
        ("average fee by minutes", "Average fee by minutes: 30 (120)"),
        ("average fee per agent", "Average fee by agent: Ann (85)"),
        ("average minutes per call", "The average minutes of calls is 18.75."),
        ("average fee per hour", "“hour”"),
    ];
    answers("calls.csv", CALLS, &cases);
    let cases = [
        ("total honey kg per frame", "is 1.27 (honey kg is there)."),
        ("honey per frame", "say “total … divided by total frames”"),
    ];
    answers("hives.csv", HIVES, &cases);
    let stays = "guest,nights,rate,arrived\nAnn,3,100,2025-01-02\nBen,4,90,2025-01-02\n";
    let cases = [("total rate per night", "is 27.14."), ("total rate per day", "Total rate by day")];
    answers("stays.csv", stays, &cases);
    // Where rows have a day and a number of days, nobody can tell.
    answers(
        "stays.csv",
        &stays.replace("nights", "days"),
        &[("total rate per day", "“per day” may divide by days")],
    );
    let cases = [
        ("total fee per minute", "The total fee divided by total minutes of calls is 3.83"),
        ("average fee per minute", both),
    ];
    answers_of_a_table("calls", CALLS, &cases);
}

#[test]
fn what_is_not_seen_is_not_read_as_seen_and_not_seen() {
    let not = "2 hives (queen seen is not true): A2";
    let cases = [
        ("rows where the queen is not seen", not),
        ("hives where the queen was never seen", not),
        ("hives where no queen was seen", not),
        ("hives where the queen has not been seen", not),
        ("rows where the queen is seen", "2 hives (queen seen is true): A1"),
        ("how many hives have the queen not seen", "There are 2 hives (queen seen is not true)."),
        (
            "share of hives where the queen is not seen",
            "50.00% of hives are those where queen seen is not true.",
        ),
        ("hives where queen seen is true and queen seen is not true", "No row can be so that"),
        ("rows where honey is empty and honey kg above 2", "No row can be so that"),
    ];
    answers("hives.csv", HIVES, &cases);
    answers_of_a_table("hives", HIVES, &[("hives where the queen is not seen", not)]);
}

#[test]
fn a_word_that_is_a_column_and_a_value_is_taken_by_the_grammar_or_asked_about() {
    let both = "“Delivered” is the column Delivered and a value of Status";
    let cases = [
        ("how many rows have no Delivered", "There are 3 parcels (delivered is empty)."),
        ("rows without delivered", "3 parcels (delivered is empty)"),
        ("how many rows have a Delivered", "There are 1 parcels (delivered is there)."),
        ("how many rows have Delivered", both),
        ("rows with Delivered", both),
        ("how many parcels are Delivered", "There are 2 parcels (status is Delivered)."),
        ("Delivered parcels", "2 parcels (status is Delivered)"),
        ("how many rows have a Delivered status", "There are 2 parcels (status is Delivered)."),
        ("paid parcels", "parcels where status is Paid; or parcels where paid is true"),
    ];
    answers("parcels.csv", PARCELS, &cases);
    let cases = [
        ("how many parcels have no Delivered", "There are 3 parcels (delivered is empty)."),
        ("how many parcels have Delivered", both),
    ];
    answers_of_a_table("parcels", PARCELS, &cases);
}

#[test]
fn days_are_counted_and_ranked_as_days_whatever_their_column_is_called() {
    let rides = "RIDE,DAY,LINE,RIDERS\n1,2025-01-03,Red,8\n2,2025-01-03,Blue,6\n3,2025-01-04,Red,9\n";
    let cases = [
        ("how many days", "The number of different days of rides is 2."),
        ("top 1 DAY by total RIDERS", "Total riders by DAY: 2025-01-03 (14)."),
        ("top 3 days by RIDERS", "“riders” needs a figure there"),
    ];
    answers("rides.csv", rides, &cases);
    answers(
        "visits.csv",
        &rides.replace("DAY", "date"),
        &[("how many dates", "different dates of visits is 2.")],
    );
    let cases = [
        ("how many days", "There are 3 days. Different values of DAY: 2."),
        ("how many different days", "The number of different days of days is 2."),
    ];
    answers("days.csv", rides, &cases);
    answers_of_a_table("rides", rides, &[("how many days", "The number of different days is 2.")]);
}

#[test]
fn a_year_may_be_a_column_or_that_of_a_day_and_is_asked_about() {
    let shifts = "shift_id,day,hours,year\n1,2025-01-03,8,2024\n2,2025-01-04,6,2025\n";
    let both = "shifts where year is 2025; or shifts where day is in 2025";
    answers("shifts.csv", shifts, &[("shifts in 2025", both), ("shifts where year is 2024", "1 shifts")]);
    let titles = "title,year,copies\nA,2024,3\nB,2025,4\nC,2026,5\n";
    let cases = [
        ("copies in 2025", "The total copies of titles is 4 (year is 2025)."),
        ("total copies since 2025", "is 9 (year is at least 2025)."),
    ];
    answers("titles.csv", titles, &cases);
    answers_of_a_table("shifts", shifts, &[("shifts in 2025", "2. shifts where day is in 2025")]);
}

#[test]
fn of_several_days_the_one_that_says_the_month_is_told_or_asked_about() {
    let jobs = "job,sheets,ordered,due,delivered\n1,100,2025-01-10,2025-02-01,2025-01-30\n2,50,2025-02-11,2025-02-25,2025-03-01\n";
    let cases = [
        (
            "total sheets per month",
            "total sheets of jobs by ordered month; or total sheets of jobs by delivered month",
        ),
        ("total sheets by due month", "Total sheets by due month: 2025-02 (150)."),
        ("total sheets per day", "by ordered day; or"),
    ];
    answers("jobs.csv", jobs, &cases);
    // A day on which something is due is not when it was made.
    let cases = [("total sheets per month", "Total sheets by ordered month: 2025-01 (100), 2025-02 (50).")];
    answers("jobs.csv", &jobs.replace("delivered", "returned"), &cases);
    let one = jobs.replace("due", "note").replace("2025-02-01", "x").replace("2025-02-25", "y");
    let one = one.replace("delivered", "remark").replace("2025-01-30", "x").replace("2025-03-01", "y");
    answers(
        "jobs.csv",
        &one,
        &[("total sheets per month", "Total sheets by month: 2025-01 (100), 2025-02 (50).")],
    );
}

#[test]
fn a_file_that_is_called_like_a_column_counts_its_rows_only_where_that_is_certain() {
    let visits = "garden,visits,paid\nRose,10,yes\nHerb,20,no\n";
    let cases = [
        ("how many visits", "number of visits; or total visits of visits"),
        ("total visits", "is 30."),
        ("how many rows", "There are 2 visits."),
    ];
    answers("visits.csv", visits, &cases);
    let docks = visits.replace("visits", "docks");
    answers("docks.csv", &docks, &[("how many docks", "say “how many rows”, or “total docks”")]);
    let fees = visits.replace("visits", "fee");
    answers(
        "fee.csv",
        &fees,
        &[
            ("fee by paid", "“fee” may be the rows or a column of theirs"),
            ("total fee by paid", "False (20)"),
        ],
    );
    // Each station is a row, whatever it is called.
    let twins = "station_id,name,docks\nS1,Alpha,10\nS2,Beta,20\nS3,Alpha,5\n";
    let each = "Total docks by name and station id: Beta, S2 (20), Alpha, S1 (10), Alpha, S3 (5).";
    let cases = [
        ("total docks by station", each),
        ("average docks per station", "The average docks of stations is 11.67."),
    ];
    answers("stations.csv", twins, &cases);
    let stations = "station,docks\nAlpha,10\nBeta,20\n";
    let cases = [
        ("total docks by station", "Total docks by station: Beta (20), Alpha (10)."),
        ("average docks per station", "“per station” may ask for one figure of all of them"),
    ];
    answers("stations.csv", stations, &cases);
}

#[test]
fn groups_that_are_called_by_one_name_are_told() {
    let folder = Folder::new();
    folder.file("ordain.toml", "[workspace]\nname = \"questions\"\n");
    folder.file("stations.csv", "station_id,name,docks\nS1,Alpha,10\nS2,Beta,20\nS3,Alpha,5\n");
    folder.file("bikes.csv", "bike_id,station_id,price\nB1,S1,10\nB2,S3,20\nB3,S2,30\n");
    let files = ["--file", "stations.csv", "--file", "bikes.csv", "--json"];
    let asked =
        |question: &str| run_in(folder.path(), &[&["code", question], files.as_slice()].concat()).json();
    let text = asked("total price by station")["answer"]["text"].clone();
    assert!(text.as_str().unwrap().ends_with("Several stations are called Alpha."), "{text}");
    let text = asked("total price by station_id")["answer"]["text"].clone();
    assert!(!text.as_str().unwrap().contains("Several"), "{text}");
}

#[test]
fn the_sheets_of_a_workbook_are_counted_whether_or_not_they_are_alike() {
    let folder = Folder::new();
    folder.file("ordain.toml", "[workspace]\nname = \"questions\"\n");
    folder.file(
        "make.py",
        "import openpyxl\nbook = openpyxl.Workbook()\nbook.remove(book.active)\n\
         for name, head in [('Jan', 'sales'), ('Feb', 'sales'), ('Staff', 'age')]:\n    sheet = book.create_sheet(name)\n    \
         sheet.append(['who', head])\n    sheet.append(['Ann', 30])\nbook.save(artifacts / 'book.xlsx')\nanswer_text = 'made'\n",
    );
    let made = run_in(folder.path(), &["code", "make", "--plan", "make.py", "--out", "."]);
    assert_eq!(made.code, Some(0), "{made:?}");
    for question in ["how many sheets", "which sheets are there", "list the sheets of the book"] {
        let record = run_in(folder.path(), &["code", question, "--file", "book.xlsx", "--json"]).json();
        let text = record["answer"]["text"].as_str().unwrap_or_default();
        assert!(
            text.contains("book.xlsx has 3 sheets that are not hidden: Jan, Feb, Staff"),
            "{question}: {text}"
        );
    }
}

#[test]
fn a_column_is_known_by_its_exact_name_before_it_is_by_a_word() {
    let cases = [
        ("average price by group", "Average price by group: Kid (90), Adult (80)."),
        ("total cost", "total price of goods; or total amount of goods"),
    ];
    answers("goods.csv", GOODS, &cases);
    let before = GOODS.replace("amount", "price_before").replace("quantity", "size");
    answers(
        "goods.csv",
        &before,
        &[("goods cheaper than the Sled", "1 goods (price is below the price where item is Sled)")],
    );
}

#[test]
fn a_row_that_something_is_compared_with_is_one_row_or_it_is_asked_which() {
    let named = "2 rows are called so: item City";
    let cases = [
        ("goods cheaper than the City", named),
        ("is the Sled cheaper than the City", named),
        ("is the City cheaper than the Sled", "Of some of them"),
    ];
    answers("goods.csv", &GOODS.replace("amount", "weight").replace("quantity", "size"), &cases);
    answers_of_a_table("goods", &GOODS.replace("amount", "weight").replace("quantity", "size"), &cases);
}

#[test]
fn what_there_is_none_of_is_said_in_words_and_a_name_in_another_form_is_told() {
    let none = "4 (agent Cy, topic Law, minutes 15, fee no value)";
    answers_of_a_table("calls", CALLS, &[("calls", none), ("average fee by agent", "Cy: no value.")]);
    let told = "(group is Kid). “Kids” is read as Kid.";
    answers(
        "goods.csv",
        GOODS,
        &[("average price for Kids", told), ("goods of group Kid", "2 goods (group is Kid)")],
    );
}

#[test]
fn a_choice_between_rows_of_one_name_is_answered_in_the_next_turn() {
    let folder = Folder::new();
    folder.file("bikes.csv", "bike_id,name,colour,stock\nB1,City,red,5\nB2,City,blue,4\nB3,Sled,red,3\n");
    folder.file(
        "ordain.toml",
        "[workspace]\nname = \"bikes\"\n[tables.bikes]\nseed = \"bikes.csv\"\nkey = \"bike_id\"\n[[actions]]\nname = \"sell\"\nwords = [\"sell\"]\n\
         each = [\"quantity\", \"bike\"]\nparams.quantity = { type = \"count\", min = 1 }\nparams.bike = { table = \"bikes\" }\n",
    );
    folder.file(
        "helpers.py",
        "def sell(quantity, bike):\n    \"\"\"Sells so many.\"\"\"\n    return {\"status\": \"success\", \"text\": f\"Sold {quantity} of {bike}.\"}\n",
    );
    for (said, sold) in
        [("the second", "B2"), ("2", "B2"), ("B2", "B2"), ("the blue one", "B2"), ("red", "B1")]
    {
        let mut chat = ordain(["chat", "--model", "rules"]);
        chat.current_dir(folder.path());
        let ran = run_with_input(chat, format!("sell 1 City\n{said}\n").as_bytes());
        assert!(ran.stdout.contains("1. City (B1); 2. City (B2)"), "{ran:?}");
        assert!(ran.stdout.contains(&format!("Sold 1 of {sold}.")), "{said}: {ran:?}");
    }
}

#[test]
fn a_rule_about_a_column_that_is_gone_is_refused_with_the_columns_that_are_there() {
    let folder = Folder::new();
    folder.file("ordain.toml", "[workspace]\nname = \"lines\"\n");
    folder.file("lines.csv", "item,quantity,cost_eur,state\na,1,2,new\nb,2,3,old\n");
    let imported = run_in(folder.path(), &["import", "lines.csv", "--table", "lines"]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    for rule in [
        "price must be above 0",
        "status must be one of new, old",
        "when state is old, price must be above 2",
        "the sum of total must be at least 3",
        "total must be above 0",
        "no two rows may have the same name",
        "at most 5% of price may be null",
        "quantity must be item times price",
    ] {
        let read = run_in(folder.path(), &["check", "explain", rule, "--table", "lines"]);
        assert_eq!(read.code, Some(1), "{rule}: {read:?}");
        let columns = "cost_eur, item, quantity, state";
        assert!([&read.stdout, &read.stderr].iter().any(|text| text.contains(columns)), "{rule}: {read:?}");
    }
    let asked =
        run_in(folder.path(), &["ask", "lines where status is new", "--model", "rules", "--json"]).json();
    assert!(asked["answer"]["text"].as_str().unwrap_or_default().contains("“status”"), "{asked}");
}

#[test]
fn a_bound_on_rows_of_somebody_is_asked_back_where_their_sum_may_be_meant() {
    let files = [
        ("orders.csv", "order_id,customer_id,kg\n1,K1,5\n2,K2,7\n3,K1,9\n"),
        ("customers.csv", "customer_id,name,city\nK1,Bio Basel,Basel\nK2,Rest Sun,Bern\n"),
    ];
    let both = "“kg” may be that of one order, or of several orders together";
    let cases = [
        ("customers who ordered more than 10 kg in total", both),
        ("customers who ordered at least 10 kg overall", both),
        ("customers who ordered less than 10 kg altogether", both),
        ("customers with orders above 10 kg in total", both),
        ("customers who ordered more than 10 kg", both),
        ("customers with an order whose kg is above 8", "K1 (name Bio Basel"),
        ("customers with orders above 8 kg", "K1 (name Bio Basel"),
        ("total kg by name", "Bio Basel (14), Rest Sun (7)"),
        ("orders of Bio Basel", "2 orders (customer's name is Bio Basel)"),
        ("orders by Bio Basel", "2 orders (customer's name is Bio Basel)"),
    ];
    answers_of(&files, &cases);
}

#[test]
fn a_column_of_another_table_is_taken_by_its_name_and_not_by_what_it_means() {
    let files = [
        ("inspections.csv", "no,inspector,cost\n1,I1,100\n2,I1,50\n3,I2,30\n"),
        ("inspectors.csv", "inspector,name,base,hourly_rate\nI1,Greta,Kiel,85\nI2,Pavel,Fulda,92.5\n"),
    ];
    let cases = [
        ("total cost by base", "Kiel (150), Fulda (30)"),
        ("total cost by name", "Greta (150), Pavel (30)"),
        ("average cost by base", "Kiel (75), Fulda (30)"),
        ("highest cost by name", "Greta (100), Pavel (30)"),
        ("total cost of Greta", "is 150 "),
    ];
    answers_of(&files, &cases);
    let files = [
        ("items.csv", "item,price,cost,group_id\na,1,2,G1\nb,3,4,G1\nc,5,6,G2\n"),
        ("groups.csv", "group_id,name,price,fee\nG1,Red,10,1\nG2,Blue,20,2\n"),
    ];
    let both = "groups and items both have a column price";
    let cases = [
        ("total price by name", both),
        ("average price by name", both),
        ("total price of items by name", "Blue (5), Red (4)"),
        ("total price of groups by name", "Blue (20), Red (10)"),
    ];
    answers_of(&files, &cases);
}

#[test]
fn columns_without_a_value_in_common_join_nothing() {
    let files = [
        ("translators.csv", "id,name,language\nT1,Ana,de\nT2,Bo,fr\n"),
        ("languages.csv", "code,language,family\nde,German,West\nfr,French,Romance\nfi,Finnish,Uralic\n"),
    ];
    let none = "no value of language of translators is in language of languages";
    let cases = [("which languages have no translator?", none), ("number of translators by family", none)];
    answers_of(&files, &cases);
    let named = "code,language,family\n1,de,West\n2,fr,Romance\n3,fi,Uralic\n";
    let cases = [
        ("which languages have no translator?", "1 languages (there is no translator): 3"),
        ("number of translators by family", "Romance (1), West (1)"),
    ];
    answers_of(&[files[0], ("languages.csv", named)], &cases);
}

#[test]
fn what_is_denied_of_a_value_in_several_rows_is_not_taken_of_some_of_them() {
    let sales = "sale,customer,kg,channel\n1,Ada,5,web\n2,Bob,7,web\n3,Ada,9,phone\n4,Cid,2,web\n5,Bob,1,phone\n\
                 6,Dan,,\n7,Dan,3,web\n";
    let open = "one customer may have several sales";
    let cases = [
        ("how many customers do not have a kg above 6?", open),
        ("how many customers are not in web?", open),
        ("sales where channel is not web", "3 sales (channel is not web)"),
    ];
    answers_of(&[("sales.csv", sales)], &cases);
    // Where everybody stands in one row nothing is open.
    let once = "sale,customer,kg,channel\n1,Ada,5,web\n2,Bob,7,phone\n";
    answers_of(
        &[("sales.csv", once)],
        &[("how many customers are not in web?", "is 1 (channel is not web)")],
    );
}

#[test]
fn a_column_called_like_a_preposition_and_a_part_of_a_name_are_asked_about() {
    let lent = "item,since,fee\na,2010,5\nb,2012,6\nc,2015,7\nd,2001,8\n";
    let cases = [
        ("total fee since 2010", "“since” is a column, and a word that compares as well"),
        ("total fee where since is 2010", "is 5 "),
        ("total fee where since is at least 2010", "is 18 "),
    ];
    answers("lent.csv", lent, &cases);
    let kinds = "name,kind,market_day\nA,market,Sat\nB,market,Sun\nC,shop,\nD,shop,Mon\n";
    let cases = [
        ("how many markets are there?", "“markets” is a value of kind, and part of the name of market day"),
        ("how many rows where kind is market", "There are 2 "),
        ("how many different market days", "is 3."),
    ];
    answers("cust.csv", kinds, &cases);
}

#[test]
fn a_file_of_several_tables_is_joined_to_another_file() {
    let clients = r#"[{"client":"AC","name":"Acme","address":{"country":"CH"},"contacts":[{"name":"Rita"}]},
        {"client":"BO","name":"Boreal","address":{"country":"AT"},"contacts":[]}]"#;
    let files = [("jobs.csv", "job,client,fee\n1,AC,10\n"), ("clients.json", clients)];
    let cases =
        [("total fee by country", "CH (10)"), ("clients without jobs", "1 clients (there is no job): BO")];
    answers_of(&files, &cases);
}
