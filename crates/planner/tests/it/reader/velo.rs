//! A hire of bikes: two customers of one name, columns without values, and a status that sounds like something that was done.

use ordain_planner::{Brief, Reply, reader};

use super::{are_declined, brief_of, said};

const BIKES: &str = r#"[{"bike_id": "V1", "name": "Cargo", "kind": "cargo", "blocked_on": "2026-12-24", "status": "free", "daily_rate": 45.0, "deposit": 300.0, "mileage_km": 2100, "station_id": "S1"},
    {"bike_id": "V2", "name": "City", "kind": "city", "blocked_on": null, "status": "hired", "daily_rate": 25.0, "deposit": 100.0, "mileage_km": 3400, "station_id": "S1"},
    {"bike_id": "V3", "name": "Tandem", "kind": "tandem", "blocked_on": null, "status": "free", "daily_rate": 48.0, "deposit": null, "mileage_km": null, "station_id": "S2"}]"#;
const STATIONS: &str = r#"[{"station_id": "S1", "name": "Bahnhof", "docks": 12}, {"station_id": "S2", "name": "Seeufer", "docks": 6}]"#;
const CUSTOMERS: &str = r#"[{"customer_id": "C1", "name": "Ann Lee", "balance": 20.0}, {"customer_id": "C3", "name": "Marc Roth", "balance": 0.0},
    {"customer_id": "C4", "name": "Marc Roth", "balance": 75.5}]"#;
const HIRES: &str = r#"[{"hire_id": "H1", "bike_id": "V2", "customer_id": "C1", "begins": "2026-11-10", "returned": null, "fee": 250.0},
    {"hire_id": "H2", "bike_id": "V1", "customer_id": "C3", "begins": "2026-11-01", "returned": "2026-11-08", "fee": 70.0},
    {"hire_id": "H3", "bike_id": "V1", "customer_id": "C4", "begins": "2026-08-14", "returned": "2026-08-15", "fee": 60.0}]"#;
const CATALOG: &str = r#"
    [tables.bikes]
    synonyms = ["bike"]
    [tables.bikes.columns]
    mileage_km = { synonyms = ["mileage"] }
    station_id = { references = "stations.station_id" }
    [tables.stations]
    synonyms = ["station"]
    [tables.customers]
    synonyms = ["customer"]
    [tables.hires]
    synonyms = ["hire"]
    [tables.hires.columns]
    bike_id = { references = "bikes.bike_id" }
    customer_id = { references = "customers.customer_id" }

    [[actions]]
    name = "repair"
    words = ["repair"]
    params.bike = { table = "bikes" }
"#;

fn velo(request: &str) -> Brief {
    let tables = [("bikes", BIKES), ("stations", STATIONS), ("customers", CUSTOMERS), ("hires", HIRES)];
    brief_of(&tables, CATALOG, request)
}

#[track_caller]
fn reads(request: &str, reading: &str) {
    let said = said(&velo(request));
    assert!(said.contains(reading), "{request}: {said}");
}

#[track_caller]
fn code(request: &str) -> String {
    let Reply::Plan(draft) = reader::plan(&velo(request)) else {
        panic!("{request}: {}", said(&velo(request)))
    };
    draft.code
}

#[test]
fn a_bound_after_a_column_of_a_row_is_about_that_column_and_not_the_price() {
    let cargo = "for bikes where name is Cargo";
    reads("is the mileage of the Cargo above 100?", &format!("whether mileage km is above 100 {cargo}"));
    reads("is the mileage of the Cargo below 100?", &format!("whether mileage km is below 100 {cargo}"));
    reads("is the mileage of the Cargo not above 100?", "mileage km is at most 100");
    reads("is the Cargo's deposit above 100?", &format!("whether deposit is above 100 {cargo}"));
    reads("is the status of the Cargo hired?", &format!("whether status is hired {cargo}"));
    reads("is the station of the Cargo Bahnhof?", &format!("whether station's name is Bahnhof {cargo}"));
    reads("what is the mileage of the Cargo?", "mileage km of bikes where name is Cargo");
    reads("repair the City if the mileage of the Cargo is above 100", "mileage km is above 100");
}

#[test]
fn two_customers_of_one_name_are_two_groups() {
    for request in
        ["which customer has the most hires?", "total fee by customer", "number of hires by customer"]
    {
        let code = code(request);
        assert!(code.contains("GROUP BY t1.name, t1.customer_id"), "{request}: {code}");
        assert!(code.contains("str(row['customer_id'])"), "{request}: {code}");
    }
    let by_value = code("number of bikes by status");
    assert!(by_value.contains("GROUP BY t.status ORDER"), "{by_value}");
}

#[test]
fn a_figure_of_two_customers_of_one_name_says_so() {
    for request in
        ["total fee of Marc Roth", "how many hires does Marc Roth have?", "total balance of Marc Roth"]
    {
        let code = code(request);
        assert!(
            code.contains("count(DISTINCT t") && code.contains("customers of the same name"),
            "{request}: {code}"
        );
    }
    assert!(!code("total fee of hires").contains("of the same name"));
}

#[test]
fn what_was_never_so_is_not_what_is_not_so_now() {
    are_declined(
        velo,
        &[
            "which bikes were never hired?",
            "which bikes have never been hired?",
            "was the Cargo ever hired?",
            "bikes whose status was never hired",
            "was the mileage of the Cargo ever above 100?",
        ],
    );
    reads("which bikes are not hired?", "status is not hired");
    reads("is the Cargo hired?", "whether status is hired");
}

#[test]
fn who_had_a_bike_once_does_not_have_it_now() {
    are_declined(
        velo,
        &["who has the Cargo?", "customers with the Cargo", "how many bikes does Ann Lee have?"],
    );
    reads("who had the Cargo?", "there is a hire whose bike's name is Cargo");
    reads("how many hires does Ann Lee have?", "number of hires where customer's name is Ann Lee");
}

#[test]
fn a_sorted_list_has_the_rows_without_a_value_too() {
    let sorted = code("bikes sorted by mileage");
    assert!(
        sorted.contains("ORDER BY t.mileage_km IS NULL, t.mileage_km") && !sorted.contains("IS NOT NULL"),
        "{sorted}"
    );
    let best = code("the bike with the highest mileage");
    assert!(best.contains("t.mileage_km IS NOT NULL"), "{best}");
}

#[test]
fn available_does_not_mean_that_there_is_one() {
    are_declined(velo, &["how many bikes are available?", "which bikes are available?"]);
}

#[test]
fn the_last_bike_is_not_the_one_with_the_latest_day_that_few_have() {
    are_declined(
        velo,
        &["repair the last bike", "repair the newest bike", "repair the oldest bike", "the latest bike"],
    );
    reads("the last hire", "the latest by begins");
}

#[test]
fn a_value_in_the_plural_is_not_set_in_the_singular() {
    are_declined(
        velo,
        &[
            "set the kind of the City to tandems",
            "set the status of the City to hireds",
            "set the station of the City to Bahnhofs",
        ],
    );
    reads("set the kind of the City to Tandem", "becomes tandem");
    reads("set the station of the City to Seeufer", "becomes Seeufer");
}

#[test]
fn a_total_counts_a_row_once_that_several_refer_to() {
    are_declined(velo, &["total docks by status", "average docks by kind", "total balance by bike"]);
    reads("total fee by customer", "total fee of hires");
}

#[test]
fn a_bound_by_another_column_of_a_row_is_that_rows() {
    reads(
        "how many bikes have a daily rate below the deposit of the City?",
        "below the deposit where name is City",
    );
    let code = code("how many bikes have a daily rate below the deposit of the City?");
    assert!(code.contains("t.daily_rate < (SELECT x1.deposit"), "{code}");
    are_declined(velo, &["repair the Cargo if its daily rate is below the deposit of the City"]);
    reads("bikes with a daily rate below the deposit", "daily rate is below deposit");
}

#[test]
fn who_hired_it_says_nothing_of_its_status() {
    are_declined(velo, &["how many bikes were hired by Ann Lee?", "which bikes are hired by Ann Lee?"]);
}
