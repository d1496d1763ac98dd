//! Nodes as processes of this program, and the workspace that they share.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::load;
use crate::setup;

/// Items of the workspace. Clients that change different ones have nothing to do with each other.
pub(crate) const ITEMS: usize = 64;
/// How many of each item there are.
pub(crate) const STOCK: usize = 1_000_000;
const SETTINGS: &str = "\
[workspace]
name = \"bench\"

[tables.items]
seed = \"items.json\"
key = \"item_id\"

[tables.items.columns]
stock = { type = \"integer\", nullable = false }

[[invariants]]
name = \"stock never below zero\"
sql = \"SELECT item_id FROM items WHERE stock < 0\"
";

/// The name of an item.
pub(crate) fn item(at: usize) -> String {
    format!("I{:03}", at % ITEMS)
}

/// A plan that takes one of an item, which is found by its key.
pub(crate) fn take_one(at: usize) -> String {
    format!(
        "Item = Query()\nitem = items_tbl.get(Item.item_id == '{0}')\n\
         items_tbl.update({{'stock': item['stock'] - 1}}, Item.item_id == '{0}')\n\
         STATUS = 'success'\nanswer_text = 'One was taken.'\n",
        item(at)
    )
}

/// Folders of the same workspace, which sign with one key.
pub(crate) struct Shops {
    folder: TempDir,
    postgres: String,
    pub(crate) cluster: String,
}

impl Shops {
    pub(crate) fn make(postgres: &str, cluster: &str, count: usize) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let shops = Self { folder, postgres: postgres.to_owned(), cluster: cluster.to_owned() };
        let items: Vec<Value> = (0..ITEMS).map(|at| json!({ "item_id": item(at), "stock": STOCK })).collect();
        for at in 0..count {
            fs_err::create_dir_all(shops.root(at))?;
            fs_err::write(shops.root(at).join("ordain.toml"), SETTINGS)?;
            fs_err::write(shops.root(at).join("items.json"), json!(items).to_string())?;
        }
        Ok(shops)
    }

    pub(crate) fn root(&self, at: usize) -> PathBuf {
        self.folder.path().join(at.to_string())
    }

    /// A command of this program on one of the folders.
    pub(crate) fn command(&self, at: usize) -> anyhow::Result<Command> {
        let mut command = setup::ordain()?;
        command
            .current_dir(self.root(at))
            .env("ORDAIN_STORE_URL", &self.postgres)
            .env_remove("ORDAIN_CLUSTER");
        command.stdin(Stdio::null());
        Ok(command)
    }

    /// A server alone.
    pub(crate) fn start_alone(&self) -> anyhow::Result<Node> {
        started(self.serve(0)?)
    }

    /// A node of the cluster.
    pub(crate) fn start(&self, at: usize, arguments: &[&str]) -> anyhow::Result<Node> {
        let mut command = self.serve(at)?;
        command.args(arguments).env("ORDAIN_CLUSTER", &self.cluster);
        started(command)
    }

    fn serve(&self, at: usize) -> anyhow::Result<Command> {
        let state = |at: usize| self.root(at).join(".ordain");
        for name in ["ledger.key", "ledger.checkpoint"] {
            if at > 0 && !state(at).join(name).exists() {
                fs_err::create_dir_all(state(at))?;
                fs_err::copy(state(0).join(name), state(at).join(name))?;
            }
        }
        let mut command = self.command(at)?;
        command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--log", "off", "--model", "rules"]);
        Ok(command)
    }
}

/// A running node, ended when this is dropped.
pub(crate) struct Node {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn started(mut command: Command) -> anyhow::Result<Node> {
    let mut process = command.stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().context("a node has no output")?).read_line(&mut line)?;
    let told: Value = serde_json::from_str(&line).context("a node did not start")?;
    let address = told["listen"].as_str().context("a node did not say where it listens")?.parse()?;
    Ok(Node { process, address })
}

impl Node {
    /// A figure of its `/metrics`.
    pub(crate) async fn figure(&self, name: &str) -> anyhow::Result<f64> {
        let (_, text) = load::once(self.address, &load::get("/metrics")).await?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.parse().ok()).with_context(|| format!("a node does not say `{name}`"))
    }

    /// The processor time that the node and everything under it has used, in milliseconds.
    pub(crate) fn cpu_ms(&self) -> f64 {
        let processes = processes();
        let mut family = vec![self.process.id()];
        let mut at = 0;
        while at < family.len() {
            let parent = family[at];
            family.extend(processes.iter().filter(|(_, (of, _))| *of == parent).map(|(id, _)| *id));
            at += 1;
        }
        family.iter().filter_map(|id| processes.get(id)).map(|(_, ms)| ms).sum()
    }
}

/// Every process, with its parent and the processor time of itself and of its children that have ended.
fn processes() -> HashMap<u32, (u32, f64)> {
    let folders = Path::new("/proc").read_dir().into_iter().flatten().flatten();
    let numbers = folders.filter_map(|folder| folder.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter_map(|id| Some((id, usage(&fs_err::read_to_string(format!("/proc/{id}/stat")).ok()?)?)))
        .collect()
}

/// The parent and the milliseconds of one line of `/proc/…/stat`. The name in it may hold anything but ends with the last `)`.
fn usage(stat: &str) -> Option<(u32, f64)> {
    // Linux counts for programs in hundredths of a second.
    const TICK_MS: f64 = 10.0;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11..15)?.iter().filter_map(|field| field.parse::<f64>().ok()).sum::<f64>();
    Some((fields.get(1)?.parse().ok()?, ticks * TICK_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_process_is_read_behind_whatever_name_it_has() {
        let stat = "7 (a) b (c) S 3 7 7 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 5";
        assert_eq!(usage(stat), Some((3, 1000.0)));
    }
}
