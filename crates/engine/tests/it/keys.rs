//! What an idempotency key stands for stays the same from one version to the next: the values here may never change
//! without a new version of `Identity`.

use ordain_cell::InputFile;
use ordain_cell::profile::Profile;
use ordain_engine::{Ask, CodeTask, Exec, Judgement, Mode, Origin};
use ordain_types::{Limits, SourceFile, Strategy};
use serde_json::{Map, json};

#[tokio::test]
async fn a_retry_after_an_upgrade_is_known_again() {
    let plain = Ask::new("buy 2 classic", "ada", "cli");
    assert_eq!(plain.fingerprint(), "17c08a5e1ee23ec2ad2f709954eca4b7");
    let params = Map::from_iter([("b".to_owned(), json!([2])), ("a".to_owned(), json!(1))]);
    let full = Ask {
        conversation: Some("c1".to_owned()),
        mode: Mode::DryRun,
        strategy: Strategy::Plan,
        show_plan: true,
        params,
        ..Ask::new("buy 2 classic", "ada", "cli")
    };
    let full = full.with_plan("STATUS = 'success'\n", "plan.py");
    assert_eq!(full.fingerprint(), "2b4e3a2631a1a7bd1f767eafc87c3e08");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.csv");
    std::fs::write(&path, "a,b\n1,2\n").unwrap();
    let code = CodeTask { files: vec![path.clone()], ..CodeTask::new("total of b", "ada", "cli") };
    assert_eq!(code.fingerprint().await, "22ed7d754bf45d09937246fc5e72a509");
    let exec = Exec {
        given: SourceFile { code: "print(1)".to_owned(), name: "main.py".to_owned() },
        judgement: Judgement::Exec,
        profile: Profile::Data,
        limits: Limits::default(),
        files: vec![InputFile { name: "sales.csv".to_owned(), path }],
        session: Some("s1".to_owned()),
        origin: Origin::new("ada", "cli"),
    };
    assert_eq!(exec.fingerprint().await, "c3ff0cf00638bf5292ee3861dba4ef42");
}
