//! Questions about a small shop's files: what is computed, what is asked back, and what is declined.

use serde_json::{Value, json};

use super::plan;
use crate::brief::{Brief, FileBrief, Task};
use crate::exchange::Reply;

fn file(name: &str, facts: Value) -> FileBrief {
    let kind = name.rsplit('.').next().unwrap_or_default().to_owned();
    FileBrief { name: name.to_owned(), bytes: 2000, kind, facts }
}

fn column(name: &str, kind: &str, values: &[&str]) -> Value {
    json!({ "name": name, "type": kind, "values": values })
}

fn orders() -> FileBrief {
    file(
        "orders.csv",
        json!({ "tables": [{ "name": null, "rows": 48, "columns": [
            column("order_id", "integer", &[]),
            json!({ "name": "order_date", "type": "date", "min": "2026-01-03", "max": "2026-12-30" }),
            column("region", "category", &["north", "south", "New York"]),
            column("product", "category", &["aviator", "classic"]),
            column("units", "integer", &[]),
            column("unit_price", "real", &[]),
            column("paid", "boolean", &[]),
        ]}]}),
    )
}

fn managers() -> FileBrief {
    file(
        "managers.csv",
        json!({ "tables": [{ "name": null, "rows": 3, "columns": [
            column("region", "category", &["north", "south", "New York"]),
            column("manager", "category", &["Ann", "Bob"]),
        ]}]}),
    )
}

fn reply(files: &[FileBrief], request: &str) -> Reply {
    let mut brief = Brief::new(Task::Code, request);
    brief.files = files.to_vec();
    plan(&brief)
}

#[track_caller]
fn code(files: &[FileBrief], request: &str) -> String {
    match reply(files, request) {
        Reply::Plan(draft) => draft.code,
        other => panic!("{request}: {other:?}"),
    }
}

/// The plan for a question about the orders has these lines.
#[track_caller]
fn check(request: &str, lines: &[&str]) {
    let code = code(&[orders()], request);
    for line in lines {
        assert!(code.contains(line), "{request}: no `{line}` in\n{code}");
    }
}

#[track_caller]
fn declined(files: &[FileBrief], request: &str) {
    let reply = reply(files, request);
    assert!(!matches!(reply, Reply::Plan(_)), "{request}: {reply:?}");
}

#[test]
fn figures_are_computed_of_the_named_column() {
    check("What is the total of units?", &["value = rows[\"units\"].sum(min_count=1)"]);
    check("average unit price", &["value = rows[\"unit_price\"].mean()"]);
    check("median of units", &["rows[\"units\"].median()"]);
    check("How many orders are there in the south?", &["rows[(rows[\"region\"] == \"south\")]", "len(rows)"]);
    check("how many different products are there", &["rows[\"product\"].nunique()"]);
    check("minimum and maximum of units", &["rows[\"units\"].min()", "rows[\"units\"].max()"]);
    check("correlation between units and unit_price", &["rows[\"units\"].corr(rows[\"unit_price\"])"]);
    check(
        "share of orders that are paid by region",
        &["(rows[\"paid\"] == True).groupby([rows[\"region\"]]"],
    );
}

#[test]
fn groups_periods_and_ranks_are_read() {
    check("total units by region", &["rows.groupby([\"region\"])[\"units\"].sum(min_count=1)"]);
    check("total revenue by region", &["rows[\"revenue\"] = rows[\"units\"] * rows[\"unit_price\"]"]);
    check("total units per month", &["rows[\"month\"] = rows[\"order_date\"].dt.strftime(\"%Y-%m\")"]);
    check("top 2 products by revenue", &["groupby([\"product\"])[\"revenue\"].sum(min_count=1)", ".head(2)"]);
    check("Which region has the highest revenue?", &["groupby([\"region\"]", ".head(1)"]);
    check("which month had the lowest revenue?", &["groupby([\"month\"]", "ascending=True"]);
    check("How many orders were placed in March 2026?", &["pd.Timestamp(\"2026-03-01\")", "len(rows)"]);
    check(
        "average units and total revenue by product",
        &["groups[\"units\"].mean()", "groups[\"revenue\"].sum(min_count=1)"],
    );
}

#[test]
fn a_month_without_its_year_is_one_of_the_years_in_the_file() {
    let march = "pd.Timestamp(\"2026-03-01\")";
    for request in [
        "how many orders in March",
        "how many orders in Mar 2026",
        "how many orders were there in march",
        "orders after 28 Feb. 2026",
        "orders since Mar 1, 2026",
    ] {
        check(request, &[march]);
    }
    check("how many orders on 1 Feb 2026", &["pd.Timestamp(\"2026-02-01\")", "pd.Timestamp(\"2026-02-02\")"]);
    let mut two_years = orders();
    two_years.facts["tables"][0]["columns"][1]["min"] = json!("2025-11-01");
    let asked = reply(&[two_years.clone()], "how many orders in March");
    assert!(
        matches!(&asked, Reply::Question(text) if text.contains("2025-03") && text.contains("2026-03")),
        "{asked:?}"
    );
    two_years.facts["tables"][0]["looked_at_rows"] = json!(10);
    declined(&[two_years], "how many orders in March");
    declined(&[orders()], "how many orders on March 5");
}

#[test]
fn dollars_of_one_file_are_not_added_to_euros_of_another() {
    let file = |name: &str, unit: Value| {
        let mut file = orders();
        file.name = name.to_owned();
        file.facts["tables"][0]["columns"][4]["unit"] = unit;
        file
    };
    for (theirs, said) in [(json!("EUR"), "EUR"), (Value::Null, "no unit")] {
        let asked = reply(&[file("us.csv", json!("USD")), file("eu.csv", theirs)], "total units");
        let why = format!("has USD in the first and {said} in the second");
        assert!(matches!(&asked, Reply::Question(text) if text.contains(&why)), "{asked:?}");
    }
    let joined = reply(&[file("us.csv", json!("USD")), file("ca.csv", json!("USD"))], "total units");
    assert!(matches!(joined, Reply::Plan(_)), "{joined:?}");
}

#[test]
fn rows_without_a_value_are_found_however_it_is_said() {
    for request in
        ["rows where units is missing", "orders where units is empty", "rows where units has no value"]
    {
        check(request, &["rows = rows[rows[\"units\"].isna()]"]);
    }
    check("rows where units is not missing", &["rows = rows[rows[\"units\"].notna()]"]);
}

#[test]
fn rows_are_named_after_their_groups_too() {
    for request in ["average units per region for aviators", "average units by region for the aviator"] {
        check(
            request,
            &["rows[(rows[\"product\"] == \"aviator\")]", "groupby([\"region\"])[\"units\"].mean()"],
        );
    }
    check(
        "how many orders per region in March",
        &["pd.Timestamp(\"2026-03-01\")", "groupby([\"region\"]).size()"],
    );
    declined(&[orders()], "average units per region under 5");
}

#[test]
fn the_best_of_something_needs_a_figure() {
    check(
        "which region is the best by revenue",
        &["groupby([\"region\"])[\"revenue\"].sum(min_count=1)", ".head(1)"],
    );
    let asked = reply(&[orders()], "best region");
    let said = |text: &str| text.contains("total units") && text.contains("number of orders");
    assert!(matches!(&asked, Reply::Question(text) if said(text)), "{asked:?}");
}

/// Sales whose revenue is missing were told as `No sales: there is none`.
#[test]
fn rows_without_values_are_not_told_as_no_rows() {
    check(
        "total units in March",
        &["if len(rows) else", "There is no total units of orders", "none of them has a value"],
    );
}

#[test]
fn a_product_that_is_named_is_called_by_its_columns() {
    check(
        "total of unit_price times units by region",
        &["rows[\"unit price times units\"] = rows[\"unit_price\"] * rows[\"units\"]"],
    );
    check(
        "total of units times unit_price",
        &["rows[\"revenue\"].sum(min_count=1)", "revenue is units times unit price"],
    );
    check("orders after 30.06.2026", &["pd.Timestamp(\"2026-07-01\")"]);
    declined(&[orders()], "orders after 06/30/2026");
}

#[test]
fn how_many_were_sold_is_a_total_of_several_rows() {
    check("how many aviators were ordered", &["rows[\"units\"].sum(min_count=1)"]);
}

#[test]
fn no_word_of_a_condition_is_passed_over() {
    check("orders with more than 6 units", &["(rows[\"units\"] > 6)"]);
    check("orders that are not in the north", &["~(rows[\"region\"] == \"north\")"]);
    check("total units except New York", &["~(rows[\"region\"] == \"New York\")"]);
    check(
        "orders with unit_price between 70 and 90",
        &["(rows[\"unit_price\"] >= 70)", "(rows[\"unit_price\"] <= 90)"],
    );
    for request in [
        "total units of Bob",
        "total units sold by hand",
        "how many orders never arrived",
        "total units by shop",
        "units of the orders that Ann likes",
        "the units unless it rains",
    ] {
        declined(&[orders()], request);
    }
    let reply = reply(&[orders()], "total units of Bob");
    assert!(matches!(&reply, Reply::Refusal(text) if text.contains("“Bob”")), "{reply:?}");
}

#[test]
fn not_one_value_or_another_is_neither_of_them() {
    let neither = r#"(~(rows["region"] == "north") & ~(rows["region"] == "south"))"#;
    for request in [
        "how many orders are not from north or south?",
        "how many orders are not from north and south",
        "how many orders where region is not north or south",
    ] {
        check(request, &[neither]);
    }
    check(
        "orders in north or south with more than 2 units but less than 10",
        &[r#"((rows["region"] == "north") | (rows["region"] == "south"))"#, r#"(rows["units"] < 10)"#],
    );
    declined(&[orders()], "how many orders are not from north or paid");
}

#[test]
fn an_id_is_counted_and_never_added_up() {
    declined(&[orders()], "total order_id by region");
    check("number of orders by region", &["groupby([\"region\"]).size()"]);
}

#[test]
fn a_column_of_another_file_is_joined_by_the_shared_one_only_once_for_each_row() {
    let code = code(&[orders(), managers()], "total units by manager");
    assert!(code.contains("stands more than once in"), "{code}");
    assert!(code.contains("groupby([\"managers.manager\"]"), "{code}");
}

#[test]
fn pictures_and_files_are_written_to_artifacts() {
    check("bar chart of total units by region", &["axes.bar(", "artifacts / \"chart.png\""]);
    check("Plot the revenue by month as a line chart", &["axes.plot(", "artifacts / \"chart.png\""]);
    check("histogram of units", &["axes.hist(", "artifacts / \"histogram.png\""]);
    check("scatter plot of units against unit_price", &["axes.scatter("]);
    check("save total revenue by region as csv", &["to_csv(artifacts / \"result.csv\"", "=+-@"]);
}

#[test]
fn a_large_table_is_read_in_pieces_and_only_the_columns_that_are_needed() {
    let mut big = orders();
    big.bytes = 100 << 20;
    let code = code(&[big], "average units by region");
    assert!(code.contains("frame.pieces(\"orders.csv\", columns=[\"region\", \"units\"])"), "{code}");
}

#[test]
fn calculations_take_every_word() {
    for (request, line) in [
        ("5 + 3 * 2", "answer_json = 5 + 3 * 2"),
        ("prime numbers up to 100", "limit = 100"),
        ("first 10 Fibonacci numbers", "numbers[:10]"),
        ("mean of 2, 4 and 9", "numbers = [2, 4, 9]"),
        ("15% of 80", "15 * 80 / 100"),
        ("is 91 a prime?", "number = 91"),
    ] {
        let code = code(&[], request);
        assert!(code.contains(line), "{request}: no `{line}` in\n{code}");
    }
    for request in
        ["the sum of 4 and 5, not 6", "primes up to 100 except 7", "first 10 Fibonacci numbers backwards"]
    {
        declined(&[], request);
    }
}

/// `IT` was taken for the pronoun, and the median was that of everybody.
#[test]
fn a_department_that_is_written_like_a_pronoun_is_not_passed_over() {
    let staff = file(
        "staff.csv",
        json!({ "tables": [{ "name": null, "rows": 9, "columns": [
            column("department", "category", &["IT", "HR"]),
            column("salary", "integer", &[]),
        ]}]}),
    );
    if let Reply::Plan(draft) = reply(&[staff], "What is the median salary in IT?") {
        assert!(draft.code.contains("IT"), "{}", draft.code);
    }
}

fn shipments() -> FileBrief {
    file(
        "shipments.csv",
        json!({ "tables": [{ "name": null, "rows": 70, "columns": [
            column("shipment_id", "integer", &[]),
            column("sent_on", "date", &[]),
            column("delivered_on", "date", &[]),
            column("carrier", "category", &["DHL", "UPS"]),
            column("cost_eur", "real", &[]),
            json!({ "name": "fee", "type": "decimal", "currency": "USD" }),
        ]}]}),
    )
}

#[test]
fn the_newest_of_rows_with_two_days_asks_which_day_and_never_takes_the_year() {
    for request in ["latest shipment", "oldest shipment", "most recent shipment"] {
        let Reply::Question(said) = reply(&[shipments()], request) else { panic!("{request}") };
        assert!(said.contains("sent on") && said.contains("delivered on"), "{request}: {said}");
    }
    check("newest order", &["sort_values(\"order_date\", ascending=False"]);
    assert!(matches!(reply(&[managers()], "newest manager"), Reply::Refusal(_)));
    assert!(code(&[orders()], "last 3 orders").contains("the last 3 as the file is written"));
}

#[test]
fn a_currency_that_a_column_is_not_in_is_declined() {
    for request in [
        "how many shipments have cost_eur above 500 USD",
        "shipments with cost_eur above £500",
        "how many shipments have fee above 10 EUR",
    ] {
        let Reply::Refusal(said) = reply(&[shipments()], request) else { panic!("{request}") };
        assert!(said.contains("I do not convert currencies"), "{request}: {said}");
    }
    code(&[shipments()], "how many shipments have cost_eur above 500 euro");
    code(&[shipments()], "how many shipments have fee above $10");
}

#[test]
fn a_fraction_with_a_comma_is_read_as_the_file_writes_it() {
    let mut german = orders();
    assert!(matches!(
        reply(&[german.clone()], "how many orders with unit_price above 12,50"),
        Reply::Refusal(_)
    ));
    german.facts["tables"][0]["columns"][5]["decimal"] = json!(",");
    // How another file writes its numbers says nothing about this one.
    let mut other = german.clone();
    other.name = "deliveries.csv".to_owned();
    other.facts["tables"][0]["columns"][5]["name"] = json!("weight");
    let english = orders();
    let request = "how many orders with unit_price above 12,50";
    assert!(matches!(reply(&[english.clone(), other.clone()], request), Reply::Refusal(_)));
    assert!(code(&[english, other], "how many deliveries with weight above 12,50").contains("> 12.5"));
    assert!(code(&[german.clone()], "how many orders with unit_price above 12,50").contains("> 12.5"));
    assert!(matches!(reply(&[german], "how many orders with unit_price above 1,000"), Reply::Refusal(_)));
    assert!(code(&[], "3.142 * 2").contains("3.142"));
    for request in ["1,5 + 2", "1.000 + 2", "average of 1,5 and 2,5"] {
        let Reply::Refusal(said) = reply(&[], request) else { panic!("{request}") };
        assert!(said.contains("two ways"), "{request}: {said}");
    }
    code(&[], "average of 1,5,7");
}

#[test]
fn rows_without_a_group_or_a_value_are_counted_in_the_answer() {
    check(
        "total units by region",
        &["gaps = {\"region\": int(rows[\"region\"].isna().sum())}", "{left_out}"],
    );
    check("average units", &["gaps = {\"units\": int(rows[\"units\"].isna().sum())}"]);
    assert!(!code(&[orders()], "total units").contains("isna().sum()"));
}

#[test]
fn single_values_of_settings_and_mails_are_looked_up() {
    let settings = json!([
        { "path": ["server", "port"], "type": "integer" },
        { "path": ["server", "hosts"], "type": "list" },
        { "path": ["db", "name"], "type": "text" },
    ]);
    let conf = file("conf.toml", json!({ "settings": settings }));
    for (request, line) in [
        ("What is the port?", "found[\"server.port\"] = tree[\"server\"][\"port\"]"),
        ("what is the name of the db", "tree[\"db\"][\"name\"]"),
        ("how many hosts?", "len(tree[\"server\"][\"hosts\"])"),
    ] {
        let code = code(std::slice::from_ref(&conf), request);
        assert!(code.contains(line), "{request}: {code}");
    }
    declined(std::slice::from_ref(&conf), "what is the port of the db?");
    declined(&[conf], "how many ports?");
    let columns = [column("sender", "text", &[]), column("subject", "text", &[])];
    let mail = file("mail.eml", json!({ "tables": [{ "name": "messages", "rows": 1, "columns": columns }] }));
    let code = code(&[mail], "Who sent the mail and what is the subject?");
    assert!(code.contains("tree[\"sender\"]") && code.contains("tree[\"subject\"]"), "{code}");
}

#[test]
fn sheets_with_the_same_columns_are_one_table_where_all_are_meant() {
    let sheet = |name: &str| {
        json!({ "name": name, "rows": 3, "columns": [
            column("department", "category", &["Tech", "HR"]),
            column("spend", "integer", &[]),
        ]})
    };
    let book = file("budget.xlsx", json!({ "tables": [sheet("Q1"), sheet("Q2")] }));
    let code = code(std::slice::from_ref(&book), "total spend by department in all sheets");
    assert!(code.contains("[(\"budget.xlsx\", \"Q1\"), (\"budget.xlsx\", \"Q2\")]"), "{code}");
    assert!(code.contains("(of Q1, Q2)"), "{code}");
    assert!(matches!(reply(&[book], "total spend by department"), Reply::Question(_)));
}

#[test]
fn a_table_is_known_by_its_own_name_and_by_that_of_its_file() {
    let events = json!([{ "name": "events", "rows": 2, "columns": [column("summary", "text", &[])] }]);
    let team = file("team.ics", json!({ "tables": events }));
    assert!(code(&[team], "how many events?").contains("There are {shown(value)} events"));
    let inner = json!([
        { "name": "offices", "rows": 2, "columns": [column("city", "text", &["Rome"])] },
        { "name": "offices.staff", "rows": 3, "inner_list": "staff", "columns": [column("salary", "integer", &[])] },
    ]);
    let nested = file("nested.json", json!({ "tables": inner }));
    assert!(code(&[nested], "How many staff are there?").contains("\"offices.staff\""));
}

#[test]
fn pages_headings_and_lines_of_texts_are_found() {
    let pdf = file("contract.pdf", json!({ "pages": 4 }));
    let code_of = |file: &FileBrief, request: &str| code(std::slice::from_ref(file), request);
    assert!(code_of(&pdf, "Which pages mention 'batch 3'?").contains("row['page']"));
    let notes = file("notes.md", json!({ "encoding": "utf-8" }));
    assert!(code_of(&notes, "How many headings does it have?").contains("headings"));
    declined(&[notes], "which pages mention 'batch 3'?");
    let log = file("app.log", json!({ "encoding": "utf-8" }));
    assert!(code_of(&log, "how many ERROR lines are there?").contains("wanted = \"ERROR\""));
}

fn refused(files: &[FileBrief], request: &str) -> String {
    match reply(files, request) {
        Reply::Refusal(text) | Reply::Question(text) => text,
        other => panic!("{request} was not declined: {other:?}"),
    }
}

#[test]
fn a_column_that_is_no_number_says_why_when_a_figure_is_asked_for() {
    let mut price = column("price", "text", &[]);
    price["because"] = json!("its numbers have several units (EUR, USD), so it is read as text");
    let table =
        json!({ "tables": [{ "name": null, "rows": 3, "columns": [column("deal", "text", &[]), price] }] });
    let said = refused(&[file("fx.csv", table)], "total price");
    assert!(said.contains("its numbers have several units (EUR, USD)"), "{said}");
}

#[test]
fn one_is_not_joined_with_zero_one_and_that_is_said() {
    let customers = json!({ "tables": [{ "name": null, "rows": 3, "columns": [
        column("cust_id", "identifier", &[]), column("country", "category", &["IT", "NO"]),
    ]}]});
    let sales = json!({ "tables": [{ "name": null, "rows": 3, "columns": [
        column("amt", "integer", &[]), column("cust_id", "integer", &[]),
    ]}]});
    let said = refused(&[file("cust.csv", customers), file("ord.csv", sales)], "total amt by country");
    assert!(said.contains("are not joined by cust_id"), "{said}");
}

#[test]
fn texts_that_look_like_days_are_no_days() {
    let table = json!({ "tables": [{ "name": null, "rows": 3, "columns": [
        column("day", "text", &["2024-02-28", "2024-02-30", "2024-03-01"]), column("qty", "integer", &[]),
    ]}]});
    assert!(!refused(&[file("d.csv", table)], "total qty by month").is_empty());
}

#[test]
fn a_percent_is_not_compared_with_plain_numbers() {
    let table = |unit: Value| {
        let mut share = column("share", "real", &[]);
        share["unit"] = unit;
        file(
            "u.csv",
            json!({ "tables": [{ "name": null, "rows": 3, "columns": [column("k", "text", &[]), share] }] }),
        )
    };
    let said = refused(&[table(Value::Null)], "how many rows with share above 50%");
    assert!(said.contains("share has no percents"), "{said}");
    assert!(code(&[table(json!("%"))], "how many rows with share above 50%").contains("> 50"));
}

#[test]
fn values_with_degrees_are_read_over() {
    let table = json!({ "tables": [{ "name": null, "rows": 2, "columns": [
        column("k", "text", &[]), column("temp", "category", &["-5°C", "7°C"]),
    ]}]});
    declined(&[file("temp.csv", table)], "average temp");
}

#[test]
fn a_question_hands_over_the_rows_that_it_makes() {
    let Reply::Plan(draft) = reply(&[orders()], "total units by region") else { panic!() };
    let rows = draft.rows.unwrap();
    assert_eq!((rows.variable, rows.left_out), ("table", Some("left_out")));
    assert!(draft.code.starts_with(&rows.code) && !rows.code.contains("answer_rows"), "{}", rows.code);
    let Reply::Plan(figure) = reply(&[orders()], "total units") else { panic!() };
    assert_eq!(figure.rows, None);
}

#[test]
fn the_fewest_of_something_may_be_none() {
    let code = code(&[orders()], "which region has the fewest paid orders?");
    assert!(code.contains("every = rows[[\"region\"]].dropna().drop_duplicates()"), "{code}");
}

#[test]
fn a_total_of_a_column_that_is_called_total_is_asked_about() {
    let table = json!({ "tables": [{ "name": null, "rows": 3, "columns": [
        column("order_id", "integer", &[]), column("total", "real", &[]), column("status", "category", &["shipped", "open"]),
    ]}]});
    let said = refused(&[file("orders.csv", table)], "total of orders not shipped");
    assert!(said.contains("or the sum of total"), "{said}");
}

#[test]
fn what_is_declined_names_no_flag_of_a_command() {
    for said in [refused(&[], "what is love"), refused(&[orders()], "what is love")] {
        assert!(said.contains("a model is needed") && !said.contains("--"), "{said}");
    }
}

#[test]
fn lengths_of_time_that_cannot_be_added_up_are_told_as_such() {
    let work = file(
        "work.csv",
        json!({ "tables": [{ "name": null, "rows": 3, "columns": [
            column("task", "text", &[]),
            json!({ "name": "spent", "type": "duration", "unit": "s" }),
        ]}]}),
    );
    let said = refused(&[work], "total spent");
    assert!(said.contains("spent is no number here, but of type duration"), "{said}");
}

#[test]
fn the_most_expensive_of_rows_with_a_price_and_a_total_asks_which_is_meant() {
    let sales = file(
        "sales.csv",
        json!({ "tables": [{ "name": null, "rows": 40, "columns": [
            column("order_no", "identifier", &[]),
            column("quantity", "integer", &[]),
            column("price", "real", &[]),
            column("total", "real", &[]),
        ]}]}),
    );
    for request in ["most expensive sale", "sales over $100", "how many sales cost between 10 and 20"] {
        let said = match reply(std::slice::from_ref(&sales), request) {
            Reply::Plan(draft) => panic!("{request}: {}", draft.code),
            other => format!("{other:?}"),
        };
        assert!(said.contains("price") && said.contains("total"), "{request}: {said}");
    }
}

#[test]
fn a_day_is_compared_with_times_that_name_a_zone() {
    let mut zoned = orders();
    zoned.facts["tables"][0]["columns"][1]["zone"] = json!("UTC");
    for (request, line) in [
        ("how many orders after 2026-03-01", "pd.Timestamp(\"2026-03-02\", tz=\"UTC\")"),
        ("how many orders in March", "pd.Timestamp(\"2026-04-01\", tz=\"UTC\")"),
        ("total units per quarter", "rows[\"order_date\"].dt.tz_localize(None).dt.to_period(\"Q\")"),
    ] {
        let code = code(std::slice::from_ref(&zoned), request);
        assert!(code.contains(line) && code.contains("times in UTC"), "{request}: {code}");
    }
    let plain = code(&[orders()], "how many orders after 2026-03-01");
    assert!(!plain.contains("UTC"), "{plain}");
}

#[test]
fn a_name_that_two_columns_have_is_asked_about() {
    let mut doubled = orders();
    let columns = doubled.facts["tables"][0]["columns"].as_array_mut().unwrap();
    columns.push(json!({ "name": "units.1", "type": "integer", "called": "units" }));
    let files = std::slice::from_ref(&doubled);
    for request in ["total units", "orders with units above 3", "the 3 orders with the most units"] {
        let asked = reply(files, request);
        assert!(
            matches!(&asked, Reply::Question(text) if text.contains("2 columns of orders are called units") && text.contains("“units.0”") && text.contains("“units.1”")),
            "{request}: {asked:?}"
        );
    }
    assert!(code(files, "total units.0").contains("rows[\"units\"].sum("));
    assert!(code(files, "total units.1").contains("rows[\"units.1\"].sum("));
    assert!(code(files, "how many orders are paid").contains("len(rows)"));
}

#[test]
fn an_answer_says_what_its_numbers_count() {
    let mut counted = orders();
    let columns = counted.facts["tables"][0]["columns"].as_array_mut().unwrap();
    columns[5]["currency"] = json!("CHF");
    columns.push(json!({ "name": "weight", "type": "real", "unit": "kg" }));
    columns.push(json!({ "name": "discount", "type": "percent", "unit": "%" }));
    for (request, line) in [
        ("average unit price", "is CHF {shown(value)}"),
        ("total revenue", "is CHF {shown(value)}"),
        ("total weight", "is {shown(value)} kg"),
        ("average discount", "is {shown(value)} %"),
        ("total weight by region", "units = {\"total_weight\": (\"\", \" kg\")}"),
        ("average weight and highest unit price by region", "\"highest_unit_price\": (\"CHF \", \"\")"),
        ("orders with weight above 3", "\"weight\": (\"\", \" kg\")"),
    ] {
        let code = code(std::slice::from_ref(&counted), request);
        assert!(code.contains(line), "{request}: {code}");
    }
    let count = code(&[counted], "how many orders");
    assert!(!count.contains("CHF"), "{count}");
}

#[test]
fn a_value_that_cannot_be_read_is_no_gap() {
    let mut slips = orders();
    slips.facts["tables"][0]["columns"][4]["misfits"] =
        json!({ "count": 1, "rows": [3], "values": ["many"] });
    let unread = "~rows.index.isin(list(rows.attrs[\"misfits\"][\"units\"]))";
    for request in ["orders where units is missing", "rows where units is not missing"] {
        let code = code(std::slice::from_ref(&slips), request);
        assert!(code.contains(unread), "{request}: {code}");
    }
    let average = code(&[slips], "average units");
    assert!(average.contains("{\"a readable units\": "), "{average}");
}

#[test]
fn a_total_over_a_join_counts_no_row_twice() {
    let (mut plays, mut props) = (managers(), orders());
    plays.facts["tables"][0]["columns"][0] = column("region", "category", &["north", "south"]);
    let columns = plays.facts["tables"][0]["columns"].as_array_mut().unwrap();
    columns.push(json!({ "name": "budget", "type": "integer" }));
    props.facts["tables"][0]["columns"]
        .as_array_mut()
        .unwrap()
        .retain(|column| column["name"] != "unit_price");
    let asked = reply(&[plays, props], "total budget by product");
    assert!(matches!(asked, Reply::Refusal(_)), "{asked:?}");
}

#[test]
fn a_file_without_rows_is_told_as_that() {
    let mut empty = orders();
    empty.facts["tables"][0]["rows"] = json!(0);
    for column in empty.facts["tables"][0]["columns"].as_array_mut().unwrap() {
        *column = json!({ "name": column["name"], "type": "empty" });
    }
    for request in ["average unit price", "orders in the south", "total units by region", "latest order date"]
    {
        let asked = reply(std::slice::from_ref(&empty), request);
        assert!(
            matches!(&asked, Reply::Refusal(text) if text.contains("orders.csv has no rows")),
            "{request}: {asked:?}"
        );
    }
}
