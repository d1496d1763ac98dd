//! Questions about files whose tables are found rather than given: members of an archive, objects, rows of units.

use std::fmt::Write as _;

use crate::command::{Folder, run_in};

/// What is answered to each question about a file, or what is said instead, has these words.
#[track_caller]
fn answers(file: &str, content: &str, cases: &[(&str, &str)]) {
    let folder = Folder::new();
    folder.file("ordain.toml", "[workspace]\nname = \"questions\"\n");
    folder.file(file, content);
    for (question, part) in cases {
        let record = run_in(folder.path(), &["code", question, "--file", file, "--json"]).json();
        let text = record["answer"]["text"].as_str().unwrap_or_default();
        assert!(text.contains(part), "{question}: {text}");
    }
}

/// An archive of some texts, as `tar` writes it.
fn archive(members: &[(&str, &str)]) -> String {
    let mut written = String::new();
    for (name, text) in members {
        let head = |sum: &str| {
            let fields = ["0000644", "0000000", "0000000"].map(|field| format!("{field}\0")).concat();
            let size = format!("{:011o}\0{:011o}\0", text.len(), 0);
            let head = format!("{name:\0<100}{fields}{size}{sum}0{:\0<100}ustar\u{0}00", "");
            format!("{head:\0<512}")
        };
        let sum: u32 = head("        ").bytes().map(u32::from).sum();
        written += &head(&format!("{sum:06o}\0 "));
        let blocks = text.len().div_ceil(512) * 512;
        write!(written, "{text:\0<blocks$}").unwrap();
    }
    written + &"\0".repeat(1024)
}

#[test]
fn gaps_of_every_member_of_an_archive_are_known() {
    let two = archive(&[("jan.csv", "k,v\na,1\nb,2\n"), ("feb.csv", "k,v\nc,3\nd,\n")]);
    answers("two.tar", &two, &[("how many rows where v is empty?", "1 two"), ("total v", "is 6")]);
    let first = (0..20).fold("k,v\n".to_owned(), |text, at| format!("{text}a{at},{at}\n"));
    let wrong = archive(&[("jan.csv", &first), ("feb.csv", "k,v\nc,3\nd,x\n")]);
    let folder = Folder::new();
    folder.file("ordain.toml", "[workspace]\nname = \"tables\"\n");
    folder.file("wrong.tar", &wrong);
    let ran = run_in(folder.path(), &["code", "total v", "--file", "wrong.tar"]);
    assert!(ran.stdout.contains("is 193"), "{ran:?}");
    assert!(ran.stderr.contains("v: 1 of 22 values cannot be read as numbers: row 22 ('x')"), "{ran:?}");
}

#[test]
fn members_are_one_table_though_one_of_them_holds_a_single_word() {
    let members =
        archive(&[("jan.csv", "k,ok,v\na,yes,1\nb,yes,2\n"), ("feb.csv", "k,ok,v\nc,no,3\nd,yes,4\n")]);
    answers("two.tar", &members, &[("total v", "is 10")]);
    // The days of one month are clear, and decide for those of the other.
    let days = archive(&[
        ("jan.csv", "day,v\n01/02/2025,1\n02/02/2025,2\n"),
        ("feb.csv", "day,v\n13/02/2025,3\n14/02/2025,4\n"),
    ]);
    answers("days.tar", &days, &[("total v in February 2025", "is 10")]);
}

#[test]
fn a_list_without_anything_in_it_is_no_value() {
    let clients = r#"[{"client":"AC","name":"Acme","contacts":[{"name":"Rita"}]},{"client":"BO","name":"Boreal","contacts":[]}]"#;
    answers("clients.json", clients, &[("show clients where contacts is empty", "Boreal")]);
}

#[test]
fn objects_by_their_keys_are_a_table_though_they_hold_objects() {
    let leases = r#"{"ND":{"name":"a","lease":{"ha":1}},"HK":{"name":"b","lease":{"ha":2}}}"#;
    answers("leases.json", leases, &[("average lease.ha", "is 1.5")]);
}

#[test]
fn a_row_of_units_is_known_by_all_usual_units() {
    let milk = "batch,milk,weight,status\n–,L,kg,–\nB0,1000,90,open\nB1,1100,91,open\n";
    answers("yields.csv", milk, &[("total milk", "2,100 L"), ("how many rows", "2 ")]);
    let plants = "plant,p,e,u\n,MW,GWh,kV\nA,10,2,110\nB,20,3,110\n";
    answers("plants.csv", plants, &[("total e", "5 GWh")]);
    // Letters beside what is no unit, or without numbers below them, are values.
    let marks = "pupil,grade,mark\nx,A,1\ny,B,2\nz,V,3\n";
    answers("pupils.csv", marks, &[("how many rows", "3 ")]);
    let teams = "team,grade,mark\nA,L,V\nx,B,W\ny,V,K\n";
    answers("teams.csv", teams, &[("how many rows", "3 ")]);
}

/// What `ordain code` says of a file that is declared so.
fn declared(section: &str) -> crate::command::Ran {
    let folder = Folder::new();
    folder.file("ordain.toml", format!("[workspace]\nname = \"tables\"\n[data.sales]\n{section}\n"));
    folder.file("sales.csv", "region,units\nnorth,3\n");
    run_in(folder.path(), &["code", "how many rows", "--file", "sales.csv"])
}

#[test]
fn a_declaration_that_means_nothing_is_told() {
    let order = declared("date_format = \"day first\"");
    assert_ne!(order.code, Some(0), "{order:?}");
    assert!(order.stderr.contains("ordain.toml:4") && order.stderr.contains("day-first"), "{order:?}");
    assert_eq!(declared("date_format = \"day-first\"").code, Some(0));
    let encoding = declared("encoding = \"utf-17\"");
    let said = format!("{}{}", encoding.stdout, encoding.stderr);
    assert!(said.contains("there is no encoding 'utf-17'") && !said.contains("LookupError"), "{encoding:?}");
    // As in checks, the delimiter that is declared is the one that is used.
    let delimiter = declared("delimiter = \"|\"");
    let said = format!("{}{}", delimiter.stdout, delimiter.stderr);
    assert!(said.contains("the declared delimiter '|' does not occur"), "{delimiter:?}");
}
