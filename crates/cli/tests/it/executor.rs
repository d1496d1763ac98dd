//! `ordain executor` as its operators and callers see it: the real binary.

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use ordain_testkit::processes::is_running;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::check::{check, range, workspace};
use crate::command::{Folder, Running, eventually, ordain, run};

/// A running `ordain executor`.
pub(crate) struct Served {
    pub(crate) running: Running,
    pub(crate) address: String,
    lines: mpsc::Receiver<Value>,
}

impl Served {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, |_| {})
    }

    /// Starts one where another was, as soon as nobody else has that port.
    pub(crate) fn start_at(address: &str) -> Self {
        let mut started = None;
        assert!(eventually(|| {
            started = Self::launch(address, &[], |_| {});
            started.is_some()
        }));
        started.unwrap()
    }

    pub(crate) fn start_with(arguments: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        Self::launch("127.0.0.1:0", arguments, change).expect("it listens")
    }

    /// `None` if it ends before it listens.
    fn launch(listen: &str, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Option<Self> {
        let mut command = ordain(["executor", "--listen", listen, "--json", "--idle-cells", "2"]);
        command.args(arguments);
        change(&mut command);
        let mut running = Running::start(command);
        let stderr = running.0.stderr.take().unwrap();
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                // Whatever is on stderr has to be JSON.
                let value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        let listening = lines.iter().find(|line: &Value| line["event"] == "listening")?;
        let address = listening["address"].as_str().unwrap().to_owned();
        Some(Self { running, address, lines })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many events of that name the log has told since it was last looked at.
    pub(crate) fn count(&self, event: &str) -> usize {
        self.lines.try_iter().filter(|line| line["event"] == event).count()
    }

    /// The gRPC codes of the jobs that the log has told since it was last looked at.
    fn codes(&self) -> Vec<String> {
        let jobs = self.lines.try_iter().filter(|line| line["event"] == "job");
        jobs.map(|job| job["code"].as_str().unwrap().to_owned()).collect()
    }

    /// The next event of that name in the log.
    pub(crate) fn wait_for(&self, event: &str) -> Value {
        loop {
            let line =
                self.lines.recv_timeout(Duration::from_mins(1)).unwrap_or_else(|_| panic!("no `{event}`"));
            if line["event"] == event {
                return line;
            }
        }
    }
}

pub(crate) const BUY_ONE: &str = "\
Item = Query()
item = inventory_tbl.get(Item.name == 'Classic')
left = item['quantity_in_stock'] - 1
inventory_tbl.update({'quantity_in_stock': left}, Item.name == 'Classic')
STATUS = 'success'
answer_text = 'Sold one Classic.'
";

/// A sunglasses shop with enough stock for everybody.
pub(crate) struct Shop {
    pub(crate) folder: Folder,
    pub(crate) root: String,
}

impl Shop {
    pub(crate) fn new(stock: u32) -> Self {
        let folder = Folder::new();
        let root = folder.join("shop");
        let made = run(ordain(["init", "--example", "sunglasses", &root]));
        assert_eq!(made.code, Some(0), "{made:?}");
        let path = format!("{root}/tables/inventory.json");
        let mut rows: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for row in rows.as_array_mut().unwrap() {
            row["quantity_in_stock"] = stock.into();
        }
        std::fs::write(&path, rows.to_string()).unwrap();
        Self { folder, root }
    }

    pub(crate) fn classics(&self) -> i64 {
        let shown = run(ordain(["tables", "inventory", "--rows", "--json", "--workspace", &self.root]));
        let rows = shown.json();
        let row = rows.as_array().unwrap().iter().find(|row| row["name"] == "Classic").unwrap();
        row["quantity_in_stock"].as_i64().unwrap()
    }
}

#[test]
fn a_plan_runs_on_an_executor_and_changes_the_store_here() {
    let (shop, served) = (Shop::new(10), Served::start(&[]));
    let plan = shop.folder.file("buy.py", BUY_ONE);
    let arguments =
        ["ask", "buy one", "--plan", &plan, "--json", "-w", &shop.root, "--executor", &served.url()];
    let asked = run(ordain(arguments));
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert_eq!(asked.json()["state"], "committed");
    assert_eq!(shop.classics(), 9);
    let job = served.wait_for("job");
    assert_eq!((job["cause"].as_str(), job["method"].as_str()), (Some("ok"), Some("Run")));
}

#[test]
fn an_executor_that_is_not_there_leaves_everything_as_it_was() {
    let shop = Shop::new(10);
    let plan = shop.folder.file("buy.py", BUY_ONE);
    let arguments = ["ask", "buy one", "--plan", &plan, "-w", &shop.root, "--executor", "http://127.0.0.1:1"];
    let asked = run(ordain(arguments));
    assert_eq!(asked.code, Some(3), "{asked:?}");
    assert!(asked.stderr.contains("cannot be reached") && asked.stderr.contains("hint:"), "{asked:?}");
    assert_eq!(shop.classics(), 10);
}

#[test]
fn a_plan_whose_executor_hangs_is_carried_out_by_another() {
    let shop = Shop::new(10);
    let (hanging, other) = (Served::start(&[]), Served::start(&[]));
    rustix::process::kill_process(rustix::process::Pid::from_child(&hanging.running.0), Signal::STOP)
        .unwrap();
    let plan = shop.folder.file("buy.py", BUY_ONE);
    let both = format!("{},{}", hanging.url(), other.url());
    let asked = run(ordain(["ask", "buy one", "--plan", &plan, "-w", &shop.root, "--executor", &both]));
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert_eq!(shop.classics(), 9);
    other.wait_for("job");
}

/// Every second check was refused, because its table had come with an earlier one, and got a fresh cell and the table again.
#[test]
fn checks_on_an_executor_share_a_cell_and_the_tables_in_it() {
    const CHECKS: usize = 12;
    let checks: Vec<Value> = (0..CHECKS).map(|at| range(&format!("c{at}"), "price", "info")).collect();
    let (folder, served) = (workspace(&checks.into()), Served::start(&["--profiles", "core,data"]));
    let run = || check(&folder, &["run", "--json", "--jobs", "2", "--executor", &served.url()]);
    for _ in 0..2 {
        let ran = run();
        assert_eq!(ran.json()["counts"]["FAIL"], CHECKS, "{ran:?}");
    }
    let mut codes = Vec::new();
    assert!(eventually(|| {
        codes.extend(served.codes());
        codes.len() >= 2 * CHECKS
    }));
    assert!(codes.iter().all(|code| code == "Ok"), "{codes:?}");
}

#[test]
fn a_job_whose_profile_no_executor_offers_is_refused_by_name() {
    let (folder, served) = (workspace(&json!([range("c", "price", "info")])), Served::start(&[]));
    let refused = check(&folder, &["run", "--executor", &served.url()]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    let said = "does not offer the profile `data`, only core";
    let hint = "hint: start an executor with `ordain executor --profiles core,data`";
    assert!(refused.stderr.contains(said) && refused.stderr.contains(hint), "{refused:?}");
}

#[test]
fn an_exposed_executor_does_not_start() {
    let refused = run(ordain(["executor", "--listen", "0.0.0.0:0"]));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("can be reached from other machines"), "{refused:?}");
    let mut half = ordain(["executor", "--listen", "127.0.0.1:0"]);
    half.env("GRPC_USE_SECURE", "true");
    let refused = run(half);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("GRPC_USE_SECURE"), "{refused:?}");
}

#[test]
fn a_port_that_is_taken_is_an_error_with_a_hint() {
    let served = Served::start(&[]);
    let refused = run(ordain(["executor", "--listen", &served.address]));
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.stderr.contains("cannot listen") && refused.stderr.contains("hint:"), "{refused:?}");
}

#[test]
fn the_end_is_asked_for_by_a_signal_and_leaves_no_process_behind() {
    let mut served = Served::start(&[]);
    let below = served.running.descendants();
    assert!(!below.is_empty());
    served.running.signal(Signal::TERM);
    assert_eq!(served.running.exit_code(), Some(0));
    assert!(eventually(|| below.iter().all(|process| !is_running(*process))));
    served.wait_for("stopped");
}

#[test]
fn a_killed_executor_leaves_no_process_behind_either() {
    let mut served = Served::start(&[]);
    let below = served.running.descendants();
    served.running.0.kill().unwrap();
    assert!(eventually(|| below.iter().all(|process| !is_running(*process))));
}
