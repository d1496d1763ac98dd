//! Sessions of code on nodes of a cluster: whichever node is asked, the one that holds the cell answers.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::command::eventually;
use crate::nodes::Nodes;
use crate::nodes_work::post;
use crate::serve::{Answer, Server, send};

/// Waits until nodes know of each other.
fn know_each_other(nodes: &Nodes, count: usize) {
    let listed = || nodes.status()["nodes"].as_array().map_or(0, Vec::len);
    assert!(eventually(|| listed() == count), "{}", nodes.status());
}

fn exec(node: &Server, session: &str, code: &str) -> Answer {
    post(node, "/v1/exec", &json!({ "code": code, "session": session }))
}

/// What code printed in a session.
fn printed(node: &Server, session: &str, code: &str) -> String {
    let answer = exec(node, session, code);
    let printed = answer.json()["outcome"]["stdout"].as_str().map(str::to_owned);
    printed.unwrap_or_else(|| panic!("{answer:?}"))
}

fn answered(node: &Server, plan: &str) -> Value {
    let body = json!({ "request": "go on", "plan": format!("{plan}\nSTATUS = 'success'"), "session": "q" });
    post(node, "/v1/code", &body).json()["answer"]["text"].clone()
}

fn end(node: &Server, session: &str) -> Value {
    send(&node.address, &format!("DELETE /v1/sessions/{session} HTTP/1.1\r\n"), "").json()["ended"].clone()
}

#[test]
fn a_session_goes_on_at_the_node_that_holds_it_whichever_is_asked() {
    let nodes = Nodes::new(2, 1);
    let servers = [nodes.start(0, &["--sessions", "3"]), nodes.start(1, &["--sessions", "3"])];
    know_each_other(&nodes, 2);
    assert_eq!(printed(&servers[0], "s", "x = 41"), "");
    assert_eq!(printed(&servers[1], "s", "x += 1\nprint(x)"), "42\n");
    assert_eq!(answered(&servers[0], "y = 41\nanswer_text = 'noted'"), "noted");
    assert_eq!(answered(&servers[1], "answer_text = str(y + 1)"), "42");
    // A key has its sessions on all nodes together.
    assert_eq!(printed(&servers[1], "third", "print(1)"), "1\n");
    for node in &servers {
        let fourth = exec(node, "fourth", "print(1)");
        assert_eq!((fourth.status, &fourth.json()["code"]), (429, &json!("sessions_limit")), "{fourth:?}");
    }
    // One that was ended elsewhere begins anew where it was.
    assert_eq!(end(&servers[1], "s"), true);
    assert_eq!(end(&servers[1], "s"), false);
    assert_eq!(printed(&servers[0], "s", "print('x' in globals())"), "False\n");
}

#[test]
fn a_session_whose_node_died_says_so_and_begins_anew() {
    let nodes = Nodes::new(2, 1);
    let servers = nodes.start_all();
    know_each_other(&nodes, 2);
    assert_eq!(printed(&servers[0], "s", "x = 1"), "");
    assert_eq!(answered(&servers[0], "y = 41\nanswer_text = 'noted'"), "noted");
    servers[0].running.signal(Signal::KILL);
    know_each_other(&nodes, 1);
    let gone = exec(&servers[1], "s", "print(x)");
    assert_eq!((gone.status, &gone.json()["code"]), (409, &json!("session_gone")), "{gone:?}");
    assert_eq!(printed(&servers[1], "s", "x = 2\nprint(x)"), "2\n");
    // The code of earlier questions runs again where the session goes on.
    assert_eq!(answered(&servers[1], "answer_text = str(y + 2)"), "43");
}

/// The first one that was carried out used to be told, and the others found a session without their variables.
#[test]
fn every_request_that_was_on_its_way_to_a_lost_session_is_told() {
    let nodes = Nodes::new(2, 1);
    let servers = nodes.start_all();
    know_each_other(&nodes, 2);
    assert_eq!(printed(&servers[0], "s", "x = 1"), "");
    servers[0].running.signal(Signal::KILL);
    // The others do not know yet that the node is gone.
    let asked: Vec<Answer> = std::thread::scope(|scope| {
        let ask = || exec(&servers[1], "s", "print('x' in globals())");
        let asking = [scope.spawn(ask), scope.spawn(ask), scope.spawn(ask)];
        asking.map(|asking| asking.join().unwrap()).into()
    });
    for gone in asked {
        assert_eq!((gone.status, &gone.json()["code"]), (409, &json!("session_gone")), "{gone:?}");
    }
    assert_eq!(printed(&servers[1], "s", "print('x' in globals())"), "False\n");
}

#[test]
fn a_session_finds_its_executor_whichever_node_is_asked() {
    let nodes = Nodes::new(2, 1);
    let _executors = [nodes.executor(), nodes.executor()];
    let servers = [nodes.start(0, &["--executor", "cluster"]), nodes.start(1, &["--executor", "cluster"])];
    know_each_other(&nodes, 2);
    assert!(eventually(|| nodes.status()["executors"].as_array().is_some_and(|all| all.len() == 2)));
    for session in ["a", "b", "c", "d"] {
        assert_eq!(printed(&servers[0], session, &format!("name = '{session}'")), "");
    }
    for (session, node) in ["a", "b", "c", "d"].into_iter().zip(servers.iter().cycle()) {
        assert_eq!(printed(node, session, "print(name)"), format!("{session}\n"));
    }
}
