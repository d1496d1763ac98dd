//! Takes a check's code from the plan cache, or has it made anew, and says why.

use std::collections::{BTreeSet, HashMap};

use ordain_engine::{
    Components, FingerprintInputs, Head, NAMED_COLUMNS, Written, cached_plan, columns_with, hash, why_stale,
};
use ordain_planner::Planner;
use ordain_store::{CachedPlan, PlanAuthor};
use ordain_types::{RunKind, Schema, Table, nearest};
use ordain_verify::{Contract, Effects, Policy, Severity, Verdict, VerifiedCode, glance, verify};
use serde::Serialize;
use serde_json::{Value, json};

use crate::by_sql::ByDatabase;
use crate::catalogue::Kind;
use crate::compiled::COMPILED;
use crate::given::missing_variable;
use crate::kinds::{self, CompileError};
use crate::results::Results;
use crate::tables::{TableFacts, TableState, Tables};
use crate::{Check, Checks, ChecksError, CodeFrom, SkipReason, change, readings, values};

/// Code that may run.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    /// The code, judged in this run.
    pub(crate) code: VerifiedCode,
    /// The same as it is kept.
    pub(crate) plan: CachedPlan,
    /// Where the code came from, in this run.
    pub(crate) code_from: CodeFrom,
    /// Why it was made anew.
    pub(crate) recompiled: Option<String>,
    /// What changed and does not matter.
    pub(crate) notes: Vec<String>,
    /// The tables that it looks at.
    pub(crate) tables: BTreeSet<String>,
    /// What it uses.
    pub(crate) effects: Effects,
    /// The database that judges the rule in this run in place of the code.
    pub(crate) by_database: Option<ByDatabase>,
}

/// Whether a check can run.
#[derive(Debug, Clone)]
pub(crate) enum Readiness {
    /// It can run.
    Ready(Box<Ready>),
    /// It is not run, and why.
    Skipped(SkipReason, String),
    /// Its code is known, and its table has no rows, so that the types of its columns are not.
    NoRows,
    /// It cannot be evaluated, and why.
    Broken(String),
    /// It needs compiling, which `--frozen` forbids; why.
    Frozen(String),
}

/// The code of a check that is kept.
#[derive(Debug, Clone, Serialize)]
pub struct KeptCode {
    /// When it was compiled.
    pub at: String,
    /// Its Python.
    pub code: String,
    /// Who wrote it.
    pub code_from: CodeFrom,
    /// The structured plan behind it.
    pub plan: Value,
}

/// The kept code of all checks, by their keys, the newest first.
#[derive(Debug, Default)]
pub(crate) struct Kept(HashMap<String, Vec<CachedPlan>>);

impl Kept {
    /// What is kept for a check.
    pub(crate) fn of(&self, check_id: &str) -> &[CachedPlan] {
        self.0.get(&key(check_id)).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn add(&mut self, plans: Vec<CachedPlan>) {
        for plan in plans {
            self.0.entry(plan.exact.clone()).or_default().insert(0, plan);
        }
    }
}

impl Checks {
    /// The kept code of a check.
    pub async fn kept_code(&self, check_id: &str) -> Result<Option<KeptCode>, ChecksError> {
        let plans = self.store().find_plans(RunKind::Check.as_str(), Some(&key(check_id))).await?;
        Ok(plans.first().map(|plan| KeptCode {
            at: plan.created_at.clone(),
            code: plan.code.clone(),
            code_from: code_from(plan),
            plan: declared(plan),
        }))
    }

    /// When the code of checks was compiled that is kept, by their ids.
    pub async fn compiled_at(&self, ids: Vec<String>) -> Result<HashMap<String, String>, ChecksError> {
        let kept = self.kept().await?;
        let at = |id: String| Some((id.clone(), kept.of(&id).first()?.created_at.clone()));
        Ok(ids.into_iter().filter_map(at).collect())
    }

    pub(crate) async fn kept(&self) -> Result<Kept, ChecksError> {
        let mut kept: HashMap<String, Vec<CachedPlan>> = HashMap::new();
        for plan in self.store().find_plans(RunKind::Check.as_str(), None).await? {
            kept.entry(plan.exact.clone()).or_default().push(plan);
        }
        Ok(Kept(kept))
    }

    /// Makes the code of a check ready, compiling it where that is needed and allowed.
    pub(crate) async fn make_ready(
        &self,
        check: &Check,
        results: &Results<'_>,
        head: &Head,
        tables: &Tables,
    ) -> Readiness {
        if !check.enabled {
            return Readiness::Skipped(SkipReason::Disabled, "it is turned off".to_owned());
        }
        if let Some(unusable) = unusable_table(check, tables) {
            return unusable;
        }
        if let Some(missing) = missing_variable(check, results.options) {
            return Readiness::Broken(missing);
        }
        let kept = if results.options.force { &[] } else { results.kept.of(&check.check_id) };
        let rule = rule_of(check, tables);
        let inputs = self.fingerprint_inputs(tables, &rule);
        let mut why = None;
        for plan in kept {
            let stale = why_stale(plan, inputs, &results.options.planner);
            let admitted = match stale {
                Some(stale) => Err(stale),
                // Code is judged in every run: what the verifier now refuses is made anew.
                None => Self::admit(check, plan, inputs, &tables.judged_by.policy),
            };
            match admitted {
                Ok(ready) => {
                    if let Some(compiled) = &results.compiled {
                        let is_sealed =
                            compiled.is_sealed(&check.check_id, self.workspace.checks_key.as_deref());
                        let changed = if is_sealed {
                            None
                        } else {
                            self.changed(check, plan, results, head, tables).await
                        };
                        if let Some(changed) = changed {
                            return changed;
                        }
                    }
                    let otherwise = readings::otherwise(check, plan, results, why.as_deref())
                        .or_else(|| values::nearly_named(check, &declared(plan), tables))
                        .or_else(|| doubled_column(&ready.effects, &plan.code, &ready.tables, tables));
                    return otherwise.unwrap_or(Readiness::Ready(ready));
                }
                Err(_) if has_no_rows(check, plan, inputs, tables) => return Readiness::NoRows,
                Err(stale) => why = why.or(Some(stale)),
            }
        }
        let why = why.filter(|_| !results.options.is_new);
        if results.options.frozen && check.is_words() {
            let why = why.unwrap_or_else(|| "it was never compiled".to_owned());
            let how = if results.compiled.is_some() {
                format!("; `ordain check compile` writes {COMPILED} anew")
            } else {
                String::new()
            };
            return Readiness::Frozen(why + &how);
        }
        self.compile(check, why, results, &results.options.planner, head, tables).await
    }

    /// Why committed code without a good seal is not run: the reader makes other code of the rule, or somebody else wrote it.
    async fn changed(
        &self,
        check: &Check,
        plan: &CachedPlan,
        results: &Results<'_>,
        head: &Head,
        tables: &Tables,
    ) -> Option<Readiness> {
        let changed = |why: &str| {
            Some(Readiness::Broken(format!(
                "changed_code: {why}; `ordain check compile` writes {COMPILED} anew"
            )))
        };
        if plan.source != PlanAuthor::Rules {
            return changed("its code carries no seal of the `key` under `[checks]` in ordain.toml");
        }
        match self.compile(check, None, results, &Planner::Rules, head, tables).await {
            Readiness::Ready(made)
                if made.plan.code == plan.code && declared(&made.plan) == declared(plan) =>
            {
                None
            }
            Readiness::Ready(_) | Readiness::Skipped(SkipReason::NotUnderstood, _) => {
                changed("the reader makes other code of its rule")
            }
            unjudged => Some(unjudged),
        }
    }

    /// What a check's code depends on.
    pub(crate) fn fingerprint_inputs<'a>(
        &'a self,
        tables: &'a Tables,
        rule: &'a Components,
    ) -> FingerprintInputs<'a> {
        FingerprintInputs {
            rule: Some(rule),
            units: Some(&tables.units),
            policy: &self.engine.settings().own_policy,
            ..self.engine.settings().fingerprint_inputs(tables.schema())
        }
    }

    /// Judges kept code again.
    pub(crate) fn admit(
        check: &Check,
        plan: &CachedPlan,
        inputs: FingerprintInputs<'_>,
        policy: &Policy,
    ) -> Result<Box<Ready>, String> {
        let verdict = verify(&plan.code, policy, inputs.schema);
        let Some(code) = verdict.verified().cloned() else {
            return Err(format!("the verifier refuses the kept code: {}", first(&verdict)));
        };
        Ok(Box::new(Ready {
            code,
            plan: plan.clone(),
            code_from: CodeFrom::Cache,
            recompiled: None,
            notes: inputs.notes(&plan.components),
            tables: looked_at(check, &verdict),
            effects: verdict.effects,
            by_database: None,
        }))
    }

    async fn compile(
        &self,
        check: &Check,
        why: Option<String>,
        results: &Results<'_>,
        planner: &Planner,
        head: &Head,
        tables: &Tables,
    ) -> Readiness {
        let rule = rule_of(check, tables);
        let inputs = self.fingerprint_inputs(tables, &rule);
        let (code, mut declared, source) = if check.is_words() {
            match self.write(check, tables, planner).await {
                Ok((code, declared)) => {
                    (code, declared, if planner.can_repair() { PlanAuthor::Model } else { PlanAuthor::Rules })
                }
                Err(reason) => {
                    if let Some(unjudged) = self.without_values(check, tables) {
                        return unjudged;
                    }
                    let because = why.map(|why| format!(" ({why})")).unwrap_or_default();
                    // A model that gave no code may have been out of reach.
                    let skipped = if planner.can_repair() {
                        SkipReason::NotCompiled
                    } else {
                        SkipReason::NotUnderstood
                    };
                    return Readiness::Skipped(skipped, format!("{reason}{because}"));
                }
            }
        } else {
            match kinds::compile(check, inputs.schema) {
                Ok(compiled) => {
                    let is_own = matches!(check.kind, Kind::Python | Kind::Sql | Kind::Transform);
                    let source = if is_own { PlanAuthor::File } else { PlanAuthor::Kind };
                    (compiled.code, json!(compiled.plan), source)
                }
                Err(error) => {
                    let unjudged = self.without_values(check, tables);
                    return unjudged.unwrap_or_else(|| of_compile_error(&error, why.as_deref()));
                }
            }
        };
        let verdict = verify(&code, &tables.judged_by.policy, inputs.schema);
        let Some(verified) = verdict.verified().cloned() else {
            return Readiness::Broken(format!("its code was refused: {}", first(&verdict)));
        };
        readings::say_units(&mut declared, &verdict.effects, tables);
        let used_tables = looked_at(check, &verdict);
        if let Some(missing) = used_tables.iter().find(|name| tables.ready(name).is_none()) {
            return missing_table(missing, tables);
        }
        let plan = CachedPlan {
            // The same code over other units is another plan.
            plan_id: hash(&format!("{}\0{code}\0{}", key(&check.check_id), declared["units"])),
            title: check.check_name.clone(),
            declared: Some(declared.to_string()),
            model: (source == PlanAuthor::Model).then(|| planner.name()),
            created_at: head.started_at.clone(),
            ..cached_plan(Written {
                kind: RunKind::Check,
                exact: &key(&check.check_id),
                request: &check.rule(),
                code: &code,
                source,
                run_id: &head.run_id,
                components: inputs.components(&verdict.effects, source.is_ours()),
            })
        };
        let otherwise = readings::otherwise(check, &plan, results, why.as_deref())
            .or_else(|| values::nearly_named(check, &declared, tables))
            // A value that was read once is demanded as it was.
            .or_else(|| values::nearly_demanded(check, &declared, tables).filter(|_| why.is_none()))
            .or_else(|| doubled_column(&verdict.effects, &code, &used_tables, tables))
            .or_else(|| unreadable_values(check, &verdict, tables));
        if let Some(otherwise) = otherwise {
            return otherwise;
        }
        Readiness::Ready(Box::new(Ready {
            code: verified,
            code_from: code_from(&plan),
            plan,
            recompiled: why,
            notes: Vec::new(),
            tables: used_tables,
            effects: verdict.effects,
            by_database: None,
        }))
    }
}

/// What the code of a check is kept by.
pub(crate) fn key(check_id: &str) -> String {
    hash(&format!("check\0{check_id}"))
}

/// Who wrote kept code.
fn code_from(plan: &CachedPlan) -> CodeFrom {
    match plan.source {
        PlanAuthor::Model => CodeFrom::Planner,
        PlanAuthor::Rules => CodeFrom::Rules,
        PlanAuthor::Kind | PlanAuthor::File => CodeFrom::Builtin,
    }
}

/// The structured plan behind kept code.
pub(crate) fn declared(plan: &CachedPlan) -> Value {
    plan.declared.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The parts of a check's record that its code follows from, as components of the fingerprint; of a rule in words also the
/// columns that hold the values which it names.
pub(crate) fn rule_of(check: &Check, tables: &Tables) -> Components {
    let parts = change::rule_of(check).into_iter();
    let mut rule: Components = parts.map(|(name, value)| (name, hash(&value.to_string()))).collect();
    if check.is_words() {
        let known = tables_of(check).into_iter().filter_map(|name| tables.ready(&name));
        let columns: Vec<(String, &[Value])> = known.flat_map(TableFacts::values).collect();
        let columns = columns.iter().map(|(name, values)| (name.as_str(), *values));
        let named = ordain_planner::reader::mentioned(&check.rule(), columns);
        rule.extend(named.into_iter().map(|(value, columns)| {
            (columns_with(&value), columns.into_iter().collect::<Vec<_>>().join(", "))
        }));
        let known = tables_of(check).into_iter().filter_map(|name| tables.schema().table(&name));
        let all = known.flat_map(|table| table.columns.iter().map(|column| column.name.as_str()));
        let said: Vec<&str> = ordain_planner::reader::named(&check.rule(), all).into_iter().collect();
        rule.insert(NAMED_COLUMNS.to_owned(), said.join(", "));
    }
    rule
}

/// The tables that checks want as frames, and those that others only read by calls to the store. Frames need pandas; calls
/// do not.
pub(crate) fn wanted_tables(checks: &[&Check]) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut wanted = [BTreeSet::new(), BTreeSet::new()];
    for check in checks {
        wanted[usize::from(!needs_frames(check))].extend(tables_of(check));
    }
    wanted.into()
}

/// Whether a check looks at tables as frames, for which pandas has to be there. Code of its owner's that only reads tables
/// of the store by calls does not.
pub fn needs_frames(check: &Check) -> bool {
    if check.kind != Kind::Python {
        return true;
    }
    let code = check.params.get("code").and_then(Value::as_str).unwrap_or_default();
    let verdict = verify(code, &Policy::for_contract(Contract::Check), &named_tables(code));
    // Code that cannot be read is refused later; until then it may want anything.
    !verdict.effects.uses_store() || verdict.effects.uses_frames()
}

/// Tables of the names that code may call, so that the verifier takes them for tables before the store was looked at.
fn named_tables(code: &str) -> Schema {
    let names = glance(code).map(|seen| seen.tables).unwrap_or_default();
    Schema { tables: names.into_iter().map(|name| Table { name, ..Table::default() }).collect() }
}

/// The tables that a check names anywhere in its record.
pub(crate) fn tables_of(check: &Check) -> BTreeSet<String> {
    let mut tables: BTreeSet<String> = check.target_table.iter().cloned().collect();
    for name in ["references", "reference", "left", "right", "same_as"] {
        let Some(value) = check.params.get(name) else { continue };
        let is_table = name != "left" && name != "right"
            || matches!(check.kind, Kind::ReconcileTotals | Kind::ReconcileRows);
        let text = value.as_str().filter(|_| is_table && name != "reference" && name != "references");
        tables.extend(text.or_else(|| value.get("table")?.as_str()).map(str::to_owned));
    }
    tables
}

fn unusable_table(check: &Check, tables: &Tables) -> Option<Readiness> {
    let wanted = tables_of(check);
    let name = wanted.iter().find(|name| tables.ready(name).is_none())?;
    Some(missing_table(name, tables))
}

fn missing_table(name: &str, tables: &Tables) -> Readiness {
    if let Some(TableState::Broken { reason }) = tables.states.get(name) {
        return Readiness::Broken(reason.clone());
    }
    let near = nearest(name, tables.states.keys().map(String::as_str));
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Readiness::Skipped(SkipReason::MissingTable, format!("there is no table `{name}`{hint}"))
}

/// Whether kept code of the same rule fits a table but for the types of its columns, which has no rows to show them.
fn has_no_rows(check: &Check, plan: &CachedPlan, inputs: FingerprintInputs<'_>, tables: &Tables) -> bool {
    let facts = check.target_table.first().and_then(|name| tables.ready(name));
    let is_judged =
        declared(plan).get("judges_empty").is_some() || matches!(check.kind, Kind::Python | Kind::Transform);
    facts.is_some_and(|facts| facts.rows == 0)
        && !is_judged
        && plan.request == check.rule()
        && !inputs.has_lost_column(&plan.components)
        && Checks::admit(check, plan, inputs, &tables.judged_by.policy).is_ok()
}

/// Why a check is not run that names a column of which its file has two.
fn doubled_column(
    effects: &Effects,
    code: &str,
    used: &BTreeSet<String>,
    tables: &Tables,
) -> Option<Readiness> {
    let has_sql = effects.provided.contains("sql");
    let words: BTreeSet<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    used.iter().find_map(|table| {
        let doubled = tables.ready(table)?.columns.iter().filter(|column| column.reading["doubled"] == true);
        let is_read = |name: &str| effects.reads.get(table).is_some_and(|read| read.named.contains(name));
        let is_named = |name: &str| is_read(name) || has_sql && words.contains(name);
        let name = doubled.map(|column| column.name.as_str()).find(|name| is_named(name))?;
        let words = format!(
            "the file of `{table}` has two columns that are called `{name}`, and which one is meant is not known; give one of them another name"
        );
        Some(Readiness::Skipped(SkipReason::NotCompiled, words))
    })
}

/// Why rows that are to be made from words cannot be: values of a column that the code uses do not fit it, and would be
/// left out of what is written.
fn unreadable_values(check: &Check, verdict: &Verdict, tables: &Tables) -> Option<Readiness> {
    if check.kind != Kind::Transform || !check.is_words() {
        return None;
    }
    let found = verdict.effects.reads.iter().find_map(|(table, read)| {
        let facts = tables.ready(table)?;
        let is_used = |name: &String| read.whole || read.columns.contains(name) || read.named.contains(name);
        facts.columns.iter().filter(|column| is_used(&column.name)).find_map(|column| {
            let note = column.reading.get("misfits").and(column.reading.pointer("/notes/0"))?;
            Some(format!("{table}.{}: {}", column.name, note.as_str()?))
        })
    })?;
    Some(Readiness::Broken(format!("{found}; correct the values, or declare the type of the column")))
}

fn of_compile_error(error: &CompileError, why: Option<&str>) -> Readiness {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    let because = why.map(|why| format!(" ({why})")).unwrap_or_default();
    let reason = format!("{error}{hint}{because}");
    match error {
        CompileError::MissingTable { .. } => Readiness::Skipped(SkipReason::MissingTable, reason),
        _ => Readiness::Broken(reason),
    }
}

/// The tables that code looks at.
fn looked_at(check: &Check, verdict: &Verdict) -> BTreeSet<String> {
    let tables: BTreeSet<String> = verdict.effects.reads.keys().cloned().collect();
    if tables.is_empty() { check.target_table.iter().cloned().collect() } else { tables }
}

fn first(verdict: &Verdict) -> String {
    let error = verdict.findings.iter().find(|finding| finding.severity == Severity::Error);
    error.map_or_else(String::new, |finding| {
        format!("line {}: {} [{}]", finding.line, finding.message, finding.code.as_str())
    })
}
