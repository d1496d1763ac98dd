//! As many connections as the machine permits, up to ten thousand, against the real binary.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};

use serde_json::json;

use crate::command::eventually;
use crate::executor::{BUY_ONE, Shop};
use crate::serve::Server;

const WANTED: usize = 10_000;
/// Descriptors that the test itself needs.
const KEPT: usize = 200;

fn figure(server: &Server, name: &str) -> usize {
    let text = server.get("/metrics").body;
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap()
}

#[test]
fn ten_thousand_idle_connections_leave_the_server_answering() {
    ordain_server::http::raise_descriptor_limit();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    let count = WANTED.min(usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(KEPT));
    let shop = Shop::new(10);
    let server = Server::start(&shop.root, &["--connections", "12000"], |_| {});
    let begun = std::time::Instant::now();
    let mut open = Vec::with_capacity(count);
    for place in 0..count {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        // Some have begun a request and do not go on.
        if place % 3 == 0 {
            stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: local").unwrap();
        }
        open.push(stream);
    }
    // Those that say nothing for as long are given up, which on a busy machine may be many of them.
    let patience =
        ordain_server::http::HttpOptions::new("", SocketAddr::from(([127, 0, 0, 1], 0)), "".into())
            .header_time;
    let mut open_there = 0;
    assert!(eventually(|| {
        open_there = figure(&server, "ordain_connections_open");
        open_there > count || begun.elapsed() > patience
    }));
    let _ = writeln!(std::io::stderr(), "{count} connections were opened, {open_there} are open at once");
    assert_eq!(server.get("/healthz").status, 200);
    let sold = server.post("/v1/requests", &json!({ "request": "buy one", "plan": BUY_ONE }));
    assert_eq!(sold.json()["state"], "committed", "{}", sold.body);
    let ran = server.post("/v1/exec", &json!({ "code": "print(6 * 7)" }));
    assert_eq!(ran.json()["outcome"]["stdout"], "42\n", "{}", ran.body);
    drop(open);
    assert!(eventually(|| figure(&server, "ordain_connections_open") == 1), "their places are free again");
}

#[test]
fn connections_beyond_the_limit_get_health_checks_alone_until_others_have_gone() {
    let shop = Shop::new(10);
    let server = Server::start(&shop.root, &["--connections", "3"], |_| {});
    let taken: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    assert!(eventually(|| server.get("/v1/tables").status == 503), "all places are taken");
    assert_eq!(server.get("/healthz").status, 200);
    drop(taken);
    assert!(eventually(|| server.get("/v1/tables").status == 200), "their places are free again");
}

#[test]
fn a_system_that_gives_few_descriptors_is_not_used_up_by_connections() {
    let shop = Shop::new(10);
    let binary = env!("CARGO_BIN_EXE_ordain");
    // A shell that permits itself little, and so its child.
    let server = Server::start(&shop.root, &[], |command| {
        let arguments: Vec<_> = command.get_args().map(std::ffi::OsStr::to_owned).collect();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -n 300 && exec \"$0\" \"$@\"", binary]).args(arguments);
        shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
        *command = shell;
    });
    // Half of them are for connections; more callers wait, and the others are served.
    let many: Vec<TcpStream> = (0..140).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    let sold = server.post("/v1/requests", &json!({ "request": "buy one", "plan": BUY_ONE }));
    assert_eq!(sold.json()["state"], "committed", "{}", sold.body);
    drop(many);
}
