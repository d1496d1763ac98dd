//! Keeps or renews a check's code, by the change matrix.

use std::collections::{BTreeMap, BTreeSet};

use ordain_checks::change::{self, CompiledAgainst, PLAN_API_VERSION, Staleness};
use ordain_checks::kinds::{self, CompileError, HINT};
use ordain_checks::{Check, CodeFrom, SkipReason};
use ordain_planner::{Planner, Progress, RULES_VERSION};
use ordain_types::{Schema, Table, nearest};
use ordain_verify::{
    Contract, Effects, FULL_IMPORTS, Finding, Policy, Severity, VERIFIER_VERSION, Verdict, VerifiedCode,
    verify,
};
use serde_json::{Value, json};

use super::Checks;
use super::state::KeptCheck;
use super::tables::{TableState, Tables};

/// Code that may run.
#[derive(Debug, Clone)]
pub struct Ready {
    /// The code, judged in this run.
    pub(super) code: VerifiedCode,
    /// What is kept of the check once it has run.
    pub(super) kept: KeptCheck,
    /// Where the code came from, in this run.
    pub(super) code_from: CodeFrom,
    /// Why it was made anew.
    pub(super) recompiled: Option<String>,
    /// What changed and does not matter.
    pub(super) notes: Vec<String>,
    /// The tables that it looks at.
    pub(super) tables: BTreeSet<String>,
    /// What it uses.
    pub(super) effects: Effects,
}

impl Ready {
    /// Whether the code is of our own making: a built-in kind's, or the reader's. It does what its parameters say
    /// and cannot be talked into anything else.
    pub(super) fn is_ours(&self, check: &Check) -> bool {
        is_ours(check, self.kept.code_from)
    }
}

/// Where a check stands before it runs.
#[derive(Debug, Clone)]
pub enum Standing {
    /// It can run.
    Ready(Box<Ready>),
    /// It is not run, and why.
    Skipped(SkipReason, String),
    /// It cannot be evaluated, and why.
    Broken(String),
    /// It needs compiling, which `--frozen` forbids; why.
    Frozen(String),
}

impl Checks {
    /// Says where a check stands, compiling it where that is needed and allowed.
    pub(super) async fn stand(
        &self,
        check: &Check,
        kept: Option<&KeptCheck>,
        tables: &Tables,
        planner: &Planner,
        is_frozen: bool,
        progress: &mut (dyn Progress + '_),
    ) -> Standing {
        if !check.enabled {
            return Standing::Skipped(SkipReason::Disabled, "it is turned off".to_owned());
        }
        if let Some(standing) = unusable_table(check, tables) {
            return standing;
        }
        let schema = tables.schema();
        let Some(kept) = kept else {
            return self.compile(check, None, tables, schema, planner, is_frozen, progress).await;
        };
        if let Some(standing) = read_otherwise(check, &kept.plan) {
            return standing;
        }
        let (staleness, notes) = change::staleness(check, &kept.against, schema, VERIFIER_VERSION);
        let why = match staleness {
            Staleness::Recompile(why) => why,
            // Better rules may read the same words better.
            _ if kept.code_from == CodeFrom::Rules && kept.rules != RULES_VERSION && !is_frozen => {
                format!("the rule planner is version {RULES_VERSION}, it was {}", kept.rules)
            }
            // Code is judged in every run: what the verifier now refuses is made anew.
            Staleness::Fresh | Staleness::VerifyAgain(_) => match self.admit(check, kept, schema, notes) {
                Ok(ready) => return Standing::Ready(ready),
                Err(finding) => format!("the verifier refuses the kept code: {finding}"),
            },
        };
        self.compile(check, Some(why), tables, schema, planner, is_frozen, progress).await
    }

    /// Judges kept code again.
    fn admit(
        &self,
        check: &Check,
        kept: &KeptCheck,
        schema: &Schema,
        notes: Vec<String>,
    ) -> Result<Box<Ready>, String> {
        let verdict = verify(&kept.code, &self.check_policy(), schema);
        let Some(code) = verdict.verified().cloned() else { return Err(first(&verdict)) };
        let mut kept = kept.clone();
        let (tables, uses) = looked_at(check, &verdict, schema, &kept.code, kept.code_from);
        kept.against = against(check, schema, &tables, uses);
        Ok(Box::new(Ready {
            code,
            kept,
            code_from: CodeFrom::Cache,
            recompiled: None,
            notes,
            tables,
            effects: verdict.effects,
        }))
    }

    #[expect(clippy::too_many_arguments, reason = "all of it is what a compilation depends on")]
    async fn compile(
        &self,
        check: &Check,
        why: Option<String>,
        tables: &Tables,
        schema: &Schema,
        planner: &Planner,
        is_frozen: bool,
        progress: &mut (dyn Progress + '_),
    ) -> Standing {
        let (code, plan, code_from) = if check.kind == HINT {
            if is_frozen {
                return Standing::Frozen(why.unwrap_or_else(|| "it was never compiled".to_owned()));
            }
            match self.plan(check, tables, planner, progress).await {
                Ok(written) => written,
                Err(reason) => return Standing::Skipped(SkipReason::NotCompiled, reason),
            }
        } else {
            match kinds::compile(check, schema) {
                Ok(compiled) => (compiled.code, json!(compiled.plan), CodeFrom::Builtin),
                Err(error) => return of_compile_error(&error, why.as_deref()),
            }
        };
        if let Some(standing) = read_otherwise(check, &plan) {
            return standing;
        }
        let verdict = verify(&code, &self.check_policy(), schema);
        let Some(verified) = verdict.verified().cloned() else {
            return Standing::Broken(format!("its code was refused: {}", first(&verdict)));
        };
        let (used_tables, uses) = looked_at(check, &verdict, schema, &code, code_from);
        if let Some(missing) = used_tables.iter().find(|name| tables.ready(name).is_none()) {
            return missing_table(missing, tables);
        }
        let kept = KeptCheck {
            check_name: check.check_name.clone(),
            plan,
            code,
            code_from,
            rules: RULES_VERSION,
            against: against(check, schema, &used_tables, uses),
            compiled_at: self.store.timestamp(),
            grading: Value::Null,
            last: None,
        };
        Standing::Ready(Box::new(Ready {
            code: verified,
            kept,
            code_from,
            recompiled: why,
            notes: Vec::new(),
            tables: used_tables,
            effects: verdict.effects,
        }))
    }

    pub(super) fn check_policy(&self) -> Policy {
        let mut policy = Policy::for_contract(Contract::Check).with_packages(FULL_IMPORTS.iter().copied());
        policy.helpers = ordain_verify::helpers_of(&self.workspace.helpers).unwrap_or_default();
        policy
    }
}

/// The tables that checks want as frames, and those that others only read by calls to the store. Frames need pandas; calls
/// do not.
pub(super) fn wanted_tables(checks: &[&Check]) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut wanted = [BTreeSet::new(), BTreeSet::new()];
    for check in checks {
        wanted[usize::from(!needs_frames(check))].extend(tables_of(check));
    }
    wanted.into()
}

/// Whether a check looks at tables as frames, for which pandas has to be there. Code of its owner's that only reads tables
/// of the store by calls does not.
pub fn needs_frames(check: &Check) -> bool {
    if check.kind != "python" {
        return true;
    }
    let code = check.params.get("code").and_then(Value::as_str).unwrap_or_default();
    let verdict = verify(code, &Policy::for_contract(Contract::Check), &named_tables(code));
    // Code that cannot be read is refused later; until then it may want anything.
    !verdict.effects.uses_store() || verdict.effects.uses_frames()
}

/// Tables of the names that code may call, so that the verifier takes them for tables before the store was looked at.
fn named_tables(code: &str) -> Schema {
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let names: BTreeSet<&str> = words.filter_map(|word| word.strip_suffix("_tbl")).collect();
    let table = |name: &&str| Table { name: (*name).to_owned(), ..Table::default() };
    Schema { tables: names.iter().map(table).collect() }
}

/// The tables that a check names anywhere in its record.
fn tables_of(check: &Check) -> BTreeSet<String> {
    let mut tables: BTreeSet<String> = check.target_table.iter().cloned().collect();
    for name in ["references", "reference", "left", "right", "same_as"] {
        let Some(value) = check.params.get(name) else { continue };
        let is_table = name != "left" && name != "right" || check.kind.starts_with("reconcile");
        let text = value.as_str().filter(|_| is_table && name != "reference" && name != "references");
        tables.extend(text.or_else(|| value.get("table")?.as_str()).map(str::to_owned));
    }
    tables
}

fn unusable_table(check: &Check, tables: &Tables) -> Option<Standing> {
    let wanted = tables_of(check);
    let name = wanted.iter().find(|name| tables.ready(name).is_none())?;
    Some(missing_table(name, tables))
}

fn missing_table(name: &str, tables: &Tables) -> Standing {
    if let Some(TableState::Broken { reason }) = tables.states.get(name) {
        return Standing::Broken(reason.clone());
    }
    let near = nearest(name, tables.states.keys().map(String::as_str));
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Standing::Skipped(SkipReason::MissingTable, format!("there is no table `{name}`{hint}"))
}

/// A rule that is read otherwise than a person accepted it is not run until somebody accepts it again.
fn read_otherwise(check: &Check, plan: &Value) -> Option<Standing> {
    let accepted = check.accepted_reading.as_ref()?;
    let now = check.understood(plan).unwrap_or_else(|| "nothing that can be restated".to_owned());
    (*accepted != now).then(|| {
        let words = format!(
            "it was accepted as \u{201c}{accepted}\u{201d} and is now read as \u{201c}{now}\u{201d}; correct the hint, or set `accepted_reading` to the new reading"
        );
        Standing::Skipped(SkipReason::NotCompiled, words)
    })
}

fn of_compile_error(error: &CompileError, why: Option<&str>) -> Standing {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    let because = why.map(|why| format!(" ({why})")).unwrap_or_default();
    let reason = format!("{error}{hint}{because}");
    match error {
        CompileError::MissingTable { .. } => Standing::Skipped(SkipReason::MissingTable, reason),
        _ => Standing::Broken(reason),
    }
}

/// The tables that code looks at, and which of their columns; `None` means all.
///
/// Compiled code ends with `rows[failing]`, which hands rows on as a whole though only some columns decide. It names each
/// of those, so every column whose name stands in it counts, and no other. Of code that somebody wrote, every column
/// counts when rows are handed on.
fn looked_at(
    check: &Check,
    verdict: &Verdict,
    schema: &Schema,
    code: &str,
    code_from: CodeFrom,
) -> (BTreeSet<String>, BTreeMap<String, Option<BTreeSet<String>>>) {
    let is_compiled = is_ours(check, code_from);
    let named = |table: &str| -> BTreeSet<String> {
        let columns = schema.table(table).into_iter().flat_map(|table| &table.columns);
        columns.map(|column| &column.name).filter(|name| stands_in(code, name)).cloned().collect()
    };
    let reads = &verdict.effects.reads;
    let mut uses = BTreeMap::new();
    for (table, read) in reads {
        let columns =
            if is_compiled { Some(named(table)) } else { (!read.whole).then(|| read.columns.clone()) };
        uses.insert(table.clone(), columns);
    }
    let mut tables: BTreeSet<String> = reads.keys().cloned().collect();
    if tables.is_empty() {
        tables = check.target_table.iter().cloned().collect();
    }
    (tables, uses)
}

/// Whether a name stands in code with no letter, digit or underscore right beside it.
fn stands_in(code: &str, name: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name)
        .any(|(at, _)| !code[..at].ends_with(is_inner) && !code[at + name.len()..].starts_with(is_inner))
}

fn against(
    check: &Check,
    schema: &Schema,
    tables: &BTreeSet<String>,
    uses: BTreeMap<String, Option<BTreeSet<String>>>,
) -> CompiledAgainst {
    CompiledAgainst {
        rule: change::rule_of(check),
        schema: change::columns_of(schema, tables),
        uses,
        verifier: VERIFIER_VERSION,
        plan_api: PLAN_API_VERSION,
    }
}

fn error_of(verdict: &Verdict) -> Option<&Finding> {
    verdict.findings.iter().find(|finding| finding.severity == Severity::Error)
}

fn first(verdict: &Verdict) -> String {
    error_of(verdict).map_or_else(String::new, |finding| {
        format!("line {}: {} [{}]", finding.line, finding.message, finding.code.as_str())
    })
}

fn is_ours(check: &Check, code_from: CodeFrom) -> bool {
    check.kind != "python" && matches!(code_from, CodeFrom::Builtin | CodeFrom::Rules)
}
