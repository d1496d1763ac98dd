//! One run of checks on many nodes.
//!
//! The node that carries out the run deals its checks out in parts. A part is a signed file in the store, which is offered
//! to all nodes. The node that takes it reads the tables, judges the code again, runs it, and leaves what each check found
//! beside the part. The run's own node grades and records. A node that takes the run over finds the parts of the first one:
//! what was judged is not judged again.
//!
//! Invariant: what another node found counts only for the code and the rows that the run's own node has. What it could not
//! judge in that way, the run's own node judges itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream, FuturesUnordered};
use ordain_store::{CachedPlan, QueuedRun};
use ordain_types::RunId;
use serde::{Deserialize, Serialize};

use crate::catalogue::Kind;
use crate::cells::{CheckFindings, WorkerCells};
use crate::compile::{Ready, rule_of, wanted_tables};
use crate::given::Given;
use crate::results::{Ran, Results};
use crate::tables::Tables;
use crate::task::CheckOptions;
use crate::{Check, Checks, ChecksError};

/// A run of fewer checks stays on its node.
const DEALT_FROM: usize = 100;
/// Checks of one part.
const PART_CHECKS: RangeInclusive<usize> = 50..=2000;
/// Parts for each node, so that a fast one takes more of them.
const PARTS_EACH: usize = 4;
/// How often it is looked what other nodes found.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often parts are offered again whose messages may be lost.
const OFFER_EVERY: Duration = Duration::from_secs(10);
/// Begins the names of parts.
const PART: &str = "part/";
/// Begins the names of what was found.
const JUDGED: &str = "judged/";

#[derive(Debug, Serialize, Deserialize)]
struct Part {
    /// What the run gives to the code of every check.
    given: Given,
    checks: Vec<Assigned>,
}

/// A check that another node may judge.
#[derive(Debug, Serialize, Deserialize)]
struct Assigned {
    check: Check,
    plan: CachedPlan,
    /// What earlier runs saw, for code that asks.
    figures: Vec<f64>,
    /// The hash of the rows.
    rows: String,
}

impl Assigned {
    fn is_same(&self, other: &Self) -> bool {
        self.plan.plan_id == other.plan.plan_id && self.rows == other.rows
    }
}

/// What a check found on another node.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Judged {
    check_id: String,
    plan_id: String,
    rows: String,
    pub(crate) outcome: Result<CheckFindings, String>,
    pub(crate) duration_ms: f64,
}

impl Judged {
    /// Whether it is about this code and these rows.
    pub(crate) fn is_about(&self, ready: &Ready, tables: &Tables) -> bool {
        self.plan_id == ready.plan.plan_id && self.rows == tables.fingerprint(&ready.tables)
    }
}

/// The checks that are not dealt out yet, each with its tables, by id.
type Left = BTreeMap<String, (BTreeSet<String>, Assigned)>;

/// The checks of a part, each with what another node found.
pub(crate) type Gathered = Vec<(String, Option<Judged>)>;

/// The parts of a run that are not gathered yet, each with the ids of its checks.
pub(crate) struct Dealt {
    checks: Checks,
    run: RunId,
    parts: BTreeMap<u32, Vec<String>>,
    offered: Option<Instant>,
}

impl Dealt {
    /// The checks that other nodes judge.
    pub(crate) fn check_ids(&self) -> BTreeSet<String> {
        self.parts.values().flatten().cloned().collect()
    }

    /// What was found, part by part; nothing for a check that has to be judged here.
    pub(crate) fn gathered(self) -> BoxStream<'static, Result<Gathered, ChecksError>> {
        stream::try_unfold(self, |mut dealt| async move { Ok(dealt.next().await?.map(|part| (part, dealt))) })
            .boxed()
    }

    async fn next(&mut self) -> Result<Option<Gathered>, ChecksError> {
        let (store, owner) = (self.checks.store().clone(), QueuedRun::uploads(&self.run));
        while !self.parts.is_empty() {
            self.offer().await;
            let kept = store.kept_files(&owner).await?;
            let is_judged = |part: &u32| kept.iter().any(|file| file.name == judged_name(*part));
            let judged = self.parts.keys().copied().find(is_judged);
            if let Some(part) = judged
                && let Some(content) = store.signed_file(&owner, &judged_name(part)).await?
            {
                return Ok(Some(found(self.parts.remove(&part).unwrap_or_default(), &content)));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(None)
    }

    async fn offer(&mut self) {
        let Some(nodes) = &self.checks.engine.settings().others else { return };
        if self.offered.is_some_and(|at| at.elapsed() < OFFER_EVERY) {
            return;
        }
        for part in self.parts.keys() {
            nodes.offer_part(&self.run, *part).await;
        }
        self.offered = Some(Instant::now());
    }
}

impl Checks {
    /// Deals out what other nodes may judge: nothing where there are none, or too few checks.
    pub(crate) async fn deal(
        &self,
        results: &Results<'_>,
        ready: &[(&Check, Box<Ready>)],
        tables: &Tables,
        figures: &HashMap<String, Vec<f64>>,
    ) -> Result<Dealt, ChecksError> {
        let run = RunId(results.report.run_id.clone());
        let given = Given::new(&results.report.started_at, results.options);
        let dealt = Dealt { checks: self.clone(), run, parts: BTreeMap::new(), offered: None };
        if results.options.is_trial || self.engine.settings().others.is_none() || ready.len() < DEALT_FROM {
            return Ok(dealt);
        }
        let mut left = BTreeMap::new();
        for (check, code) in ready {
            if check.depends_on.is_empty() && check.kind != Kind::Transform {
                let figures = figures.get(&check.check_id).cloned().unwrap_or_default();
                let (check, plan) = ((*check).clone(), code.plan.clone());
                let rows = tables.fingerprint(&code.tables);
                let assigned = Assigned { check, plan, figures, rows };
                left.insert(assigned.check.check_id.clone(), (code.tables.clone(), assigned));
            }
        }
        self.deal_out(dealt, left, given).await
    }

    async fn deal_out(&self, mut dealt: Dealt, mut left: Left, given: Given) -> Result<Dealt, ChecksError> {
        let Some(nodes) = &self.engine.settings().others else { return Ok(dealt) };
        let next = self.take_over(&mut dealt, &mut left).await?;
        let nodes = nodes.count().await;
        if nodes < 2 {
            return Ok(dealt);
        }
        let size = left.len().div_ceil(nodes * PARTS_EACH).clamp(*PART_CHECKS.start(), *PART_CHECKS.end());
        let mut left: Vec<(BTreeSet<String>, Assigned)> = left.into_values().collect();
        // Checks of the same tables stay together, so that each node reads few of them.
        left.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut left: Vec<Assigned> = left.into_iter().map(|(_, assigned)| assigned).collect();
        for number in next.. {
            if left.is_empty() {
                break;
            }
            let rest = left.split_off(size.min(left.len()));
            let part = Part { given: given.clone(), checks: std::mem::replace(&mut left, rest) };
            self.keep(&dealt.run, &format!("{PART}{number}"), &part).await?;
            let ids = part.checks.into_iter().map(|assigned| assigned.check.check_id).collect();
            dealt.parts.insert(number, ids);
        }
        Ok(dealt)
    }

    /// Takes over the parts that an earlier attempt at the run dealt out, as far as code and rows are the same. Gives the
    /// first number that is free.
    async fn take_over(&self, dealt: &mut Dealt, left: &mut Left) -> Result<u32, ChecksError> {
        let mut next = 0;
        for file in self.store().kept_files(&QueuedRun::uploads(&dealt.run)).await? {
            let Some(number) = file.name.strip_prefix(PART).and_then(|number| number.parse::<u32>().ok())
            else {
                continue;
            };
            next = next.max(number.saturating_add(1));
            let Some(part) = self.part(&dealt.run, number).await? else { continue };
            let mut ids = Vec::new();
            for earlier in part.checks {
                let id = earlier.check.check_id.clone();
                if left.get(&id).is_some_and(|(_, now)| now.is_same(&earlier)) {
                    left.remove(&id);
                    ids.push(id);
                }
            }
            if !ids.is_empty() {
                dealt.parts.insert(number, ids);
            }
        }
        Ok(next)
    }

    /// Judges a part that this node has taken, and leaves what was found. One that is judged, or whose run has ended, is
    /// left alone.
    pub async fn judge_part(&self, run: &RunId, number: u32) -> Result<(), ChecksError> {
        let Some(part) = self.part(run, number).await? else { return Ok(()) };
        if self.store().kept_file(&QueuedRun::uploads(run), &judged_name(number)).await?.is_some() {
            return Ok(());
        }
        let judged = self.judge_all(run, &part).await?;
        self.keep(run, &judged_name(number), &judged).await
    }

    /// Leaves a part that no node could judge to the run's own node.
    pub async fn leave_part(&self, run: &RunId, number: u32) -> Result<(), ChecksError> {
        self.keep::<[Judged; 0]>(run, &judged_name(number), &[]).await
    }

    /// Judges the checks of a part over the tables of this node; those of which other rows are here are left out.
    async fn judge_all(&self, run: &RunId, part: &Part) -> Result<Vec<Judged>, ChecksError> {
        let jobs = CheckOptions::jobs_here();
        let checks: Vec<&Check> = part.checks.iter().map(|assigned| &assigned.check).collect();
        let (wanted, called) = wanted_tables(&checks);
        let stored = self.stored_tables(&checks, &wanted).await?;
        let tables = self.tables_beside(Some(&wanted), &called, stored, jobs).await?;
        let mut ready = Vec::new();
        let mut given = Vec::new();
        for assigned in &part.checks {
            let rule = rule_of(&assigned.check, &tables);
            let fixed = self.fingerprint_inputs(&tables, &rule);
            let admitted = Self::admit(&assigned.check, &assigned.plan, fixed, &tables.judged_by.policy);
            let Ok(mut code) = admitted else { continue };
            if tables.fingerprint(&code.tables) == assigned.rows {
                code.by_database = self.by_database(&assigned.check, &code, &tables);
                ready.push((&assigned.check, code));
                given.push(part.given.inputs(&assigned.figures));
            }
        }
        let cells = self.checking_cells(&ready, &tables, jobs)?;
        let mut left = ready.iter().zip(given);
        let mut workers: Vec<usize> = (0..jobs).collect();
        let mut running = FuturesUnordered::new();
        let mut judged = Vec::new();
        loop {
            while let Some(worker) = workers.pop() {
                let Some(((check, code), inputs)) = left.next() else { break };
                let place = WorkerCells { cells: &cells, worker };
                running.push(self.run_one(check, code, &tables, place, inputs, run.as_str()));
            }
            let Some(ran) = running.next().await else { break };
            let (worker, Ran { check, ready, mut outcome, duration_ms }) = ran?;
            workers.push(worker);
            if let Ok(found) = &mut outcome {
                found.artifacts = self.share_artifacts(&found.artifacts).await?;
            }
            let (check_id, plan_id) = (check.check_id.clone(), ready.plan.plan_id.clone());
            let rows = tables.fingerprint(&ready.tables);
            judged.push(Judged { check_id, plan_id, rows, outcome, duration_ms });
        }
        drop(running);
        cells.close().await;
        Ok(judged)
    }

    async fn part(&self, run: &RunId, number: u32) -> Result<Option<Part>, ChecksError> {
        let content = self.store().signed_file(&QueuedRun::uploads(run), &format!("{PART}{number}")).await?;
        // A node of another version may have written it: then its own kind judges it.
        Ok(content.and_then(|content| serde_json::from_slice(&content).ok()))
    }

    async fn keep<T: Serialize + Sync>(&self, run: &RunId, name: &str, kept: &T) -> Result<(), ChecksError> {
        let failed = ChecksError::state("keep a part of a run of checks");
        let content = serde_json::to_vec(kept).map_err(std::io::Error::from).map_err(failed)?;
        Ok(self.store().keep_signed_file(&QueuedRun::uploads(run), name, &content).await?)
    }
}

/// What was found about each check of a part.
fn found(ids: Vec<String>, content: &[u8]) -> Gathered {
    let judged: Vec<Judged> = serde_json::from_slice(content).unwrap_or_default();
    let mut judged: HashMap<String, Judged> =
        judged.into_iter().map(|judged| (judged.check_id.clone(), judged)).collect();
    let found = |id: String| {
        let judged = judged.remove(&id);
        (id, judged)
    };
    ids.into_iter().map(found).collect()
}

fn judged_name(part: u32) -> String {
    format!("{JUDGED}{part}")
}
