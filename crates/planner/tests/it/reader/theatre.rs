//! A theatre's box office: titles and people whose names are ordinary words.

use ordain_planner::Brief;

use super::brief_of;

const SHOWS: &str = r#"[
    {"show_id": "S1", "title": "Hamlet", "author": "William Shakespeare", "genre": "tragedy", "house": "Main Stage", "price": 27.5, "opens": "2026-12-01", "seats_left": 45},
    {"show_id": "S2", "title": "Six", "author": "Toby Marlow", "genre": "musical", "house": "Cellar", "price": 32.5, "opens": "2026-10-01", "seats_left": 12},
    {"show_id": "S3", "title": "Art", "author": "Yasmina Reza", "genre": "comedy", "house": "Cellar", "price": 19.5, "opens": "2026-10-02", "seats_left": 30},
    {"show_id": "S4", "title": "The Price", "author": "Arthur Miller", "genre": "drama", "house": "Cellar", "price": 22.5, "opens": "2026-11-01", "seats_left": 12},
    {"show_id": "S5", "title": "Happy Days", "author": "Samuel Beckett", "genre": "drama", "house": "Cellar", "price": 20.5, "opens": "2026-10-03", "seats_left": 9},
    {"show_id": "S6", "title": "Private Lives", "author": "Noel Coward", "genre": "comedy", "house": "Main Stage", "price": 24.5, "opens": "2026-10-04", "seats_left": 60},
    {"show_id": "S7", "title": "As You Like It", "author": "William Shakespeare", "genre": "comedy", "house": "Main Stage", "price": 24.5, "opens": "2026-10-05", "seats_left": 60},
    {"show_id": "S8", "title": "Doubt", "author": "John Shanley", "genre": "drama", "house": "Cellar", "price": 20.5, "opens": "2026-10-06", "seats_left": 9},
    {"show_id": "S9", "title": "The Crucible", "author": "Arthur Miller", "genre": "drama", "house": "Main Stage", "price": 26.5, "opens": "2026-09-01", "seats_left": 9},
    {"show_id": "S10", "title": "Company", "author": "Stephen Sondheim", "genre": "musical", "house": "Main Stage", "price": 38.5, "opens": "2027-01-01", "seats_left": 0}]"#;
const PATRONS: &str = r#"[
    {"patron_id": "P1", "full_name": "Grace Price", "town": "Bath", "membership": "gold", "credit": 12.5, "joined": "2022-05-01"},
    {"patron_id": "P2", "full_name": "Mark Short", "town": "Frome", "membership": "none", "credit": 0.5, "joined": "2021-05-01"},
    {"patron_id": "P3", "full_name": "Ivy House", "town": "Wells", "membership": "friend", "credit": 3.5, "joined": "2020-05-01"},
    {"patron_id": "P4", "full_name": "Guy Summers", "town": "Bath", "membership": "none", "credit": 3.5, "joined": "2026-05-01"},
    {"patron_id": "P5", "full_name": "Nina Cole", "town": "Bath", "membership": "gold", "credit": 20.5, "joined": "2024-05-01"},
    {"patron_id": "P6", "full_name": "Martin Stone", "town": "Wells", "membership": "gold", "credit": 7.5, "joined": "2025-05-01"},
    {"patron_id": "P7", "full_name": "Stella Stone", "town": "Wells", "membership": "friend", "credit": 9.5, "joined": "2023-05-01"}]"#;
const BOOKINGS: &str = r#"[
    {"booking_id": "B1", "show_id": "S1", "patron_id": "P2", "seats": 2, "paid": 55.5, "status": "booked", "booked_on": "2026-09-01"},
    {"booking_id": "B2", "show_id": "S4", "patron_id": "P5", "seats": 2, "paid": 45.5, "status": "booked", "booked_on": "2026-10-08"},
    {"booking_id": "B3", "show_id": "S9", "patron_id": "P5", "seats": 1, "paid": 26.5, "status": "collected", "booked_on": "2026-08-04"}]"#;
const CATALOG: &str = r#"
    [tables.shows]
    synonyms = ["show", "play", "ticket", "seat"]
    [tables.patrons]
    synonyms = ["patron", "customer", "person"]
    [tables.bookings]
    synonyms = ["booking"]
    [tables.bookings.columns]
    show_id = { references = "shows.show_id" }
    patron_id = { references = "patrons.patron_id" }
    booked_on = { description = "the day of the booking" }

    [[actions]]
    name = "book"
    words = ["book", "reserve"]
    each = ["seats", "show"]
    params.show = { table = "shows" }
    params.seats = { type = "count", min = 1 }
    params.patron = { table = "patrons", after = ["for", "to"] }
    [actions.records]
    table = "bookings"
    where = "status != 'cancelled'"
    by = ["book", "reserve"]

    [[actions]]
    name = "cancel"
    words = ["cancel"]
    params.booking = { table = "bookings" }

    [[actions]]
    name = "add_credit"
    words = ["add"]
    params.amount = { type = "money", min = 1 }
    params.patron = { table = "patrons", after = ["to"] }

    [[phrasings]]
    words = ["sold out"]
    table = "shows"
    means = "seats_left = 0"

    [[metrics]]
    name = "revenue"
    table = "bookings"
    formula = "sum(paid)"
"#;

pub(super) fn theatre(request: &str) -> Brief {
    brief_of(&[("shows", SHOWS), ("patrons", PATRONS), ("bookings", BOOKINGS)], CATALOG, request)
}
