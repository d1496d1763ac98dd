//! Judges a plan's code before it may run.
//!
//! [`verify`] reads the code as a syntax tree and compares what it imports, calls, reads and writes with the
//! [`Policy`] and the [`Schema`]. It never runs the code, does no IO and reads no clock, so the same input
//! always gives the same [`Verdict`]. Any bytes are welcome ([`verify_bytes`]): whatever is wrong with them is a
//! [`Finding`], never a panic.
//!
//! The jail is the boundary, not this crate: what the verifier catches is caught early, with the line, the
//! reason and the remedy, so that a model or a person can put it right in one go.
//!
//! Invariant: [`VerifiedCode`] has no public constructor. Holding one is the proof that its code was accepted,
//! and a cell takes nothing else.
//!
//! ```
//! use ordain_verify::{Contract, Policy, Schema, verify};
//!
//! let policy = Policy::for_contract(Contract::Exec);
//! let verdict = verify("import subproces", &policy, &Schema::default());
//! assert!(verdict.verified().is_none());
//! assert_eq!(verdict.findings[0].code.as_str(), "unknown-import");
//! ```

pub mod claims;
mod contract;
mod data;
mod echo;
mod edits;
mod effects;
mod finding;
mod finding_code;
mod flow;
mod glance;
mod helpers;
mod lines;
mod literals;
mod modules;
mod names;
mod policy;
mod refusal;
mod report;
mod scan;
mod suggest;
mod syntax;
mod verdict;
mod verdicts;
mod workspace_helpers;

pub use ordain_types::Schema;

pub use contract::{Contract, UnknownContract};
pub use data::profiles::{CORE as CORE_IMPORTS, DATA as DATA_IMPORTS, FULL as FULL_IMPORTS};
pub use data::stdlib::stdlib_modules;
pub use echo::echoing;
pub use edits::{Fixed, Modification, apply_edits, fixed};
pub use effects::{Effects, TableRead, TableWrite};
pub use finding::{Edit, Finding, Replacement, Severity};
pub use finding_code::FindingCode;
pub use glance::{Glance, PlainCall, glance};
pub use helpers::{helper_source, helpers_of};
pub use literals::string_literals;
pub use modules::{LoadedModules, load_modules, module_name};
pub use policy::{CodeLimits, Helper, Policy, PythonVersion, UnknownPython};
pub use refusal::refusal;
pub use verdict::{Verdict, VerifiedCode};
pub use verdicts::Verdicts;
pub use workspace_helpers::{Helpers, RestsOn};

use ordain_types::format_bytes;
use ruff_python_ast::ModModule;
use ruff_python_parser::Parsed;
use ruff_text_size::{TextRange, TextSize};

use names::scopes::Scopes;
use report::{Draft, Report};
use scan::TooDeep;

/// The version of these rules. It is part of every plan's fingerprint: a kept plan is judged again when it
/// changes.
pub const VERIFIER_VERSION: u32 = 3;

/// Judges code that is text.
pub fn verify(code: &str, policy: &Policy, schema: &Schema) -> Verdict {
    let mut report = Report::new(code, policy.limits.findings_max);
    let Some((parsed, stack)) = read(code, policy, &mut report) else {
        return give(code, policy, report, Effects::default());
    };
    stacker::maybe_grow(stack, stack + STACK_BASE, || {
        // The tree is dropped in here too: that recurses like any walk over it.
        let parsed = parsed;
        judge(code, &parsed, policy, schema, report)
    })
}

/// What the walks over a tree need of the stack, whatever the tree.
const STACK_BASE: usize = 192 * 1024;
/// What each level of a tree costs the walks over it. The measured need in a debug build is below 4 KiB; a release
/// build needs a tenth.
const STACK_PER_LEVEL: usize = 12 * 1024;
/// What each level costs when a tree is only dropped.
const STACK_PER_LEVEL_DROPPED: usize = 2 * 1024;

/// Judges code as it came: any bytes.
pub fn verify_bytes(code: &[u8], policy: &Policy, schema: &Schema) -> Verdict {
    if code.len() > policy.limits.bytes_max {
        // The size decides before anything looks at the bytes.
        return Verdict::rejected(at_start(too_long(code.len(), policy)));
    }
    match std::str::from_utf8(code) {
        Ok(text) => verify(text, policy, schema),
        Err(error) => {
            let message = format!("byte {} of the source is not UTF-8", error.valid_up_to());
            let draft = Draft::new(FindingCode::NotUtf8, TextRange::default(), message);
            let valid = std::str::from_utf8(&code[..error.valid_up_to()]).unwrap_or_default();
            Verdict::rejected(at_end_of(valid, draft.hint("save the file as UTF-8")))
        }
    }
}

/// Parses the source and says how much stack its tree needs. `None` if a limit is passed before that; a limit that
/// shows only afterwards is in the report.
fn read(code: &str, policy: &Policy, report: &mut Report<'_>) -> Option<(Parsed<ModModule>, usize)> {
    if code.len() > policy.limits.bytes_max {
        report.add(too_long(code.len(), policy));
        return None;
    }
    if let Some(at) = code.bytes().position(|byte| byte == 0) {
        let draft = Draft::new(FindingCode::NullByte, span(at, at + 1), "the source holds a NUL byte");
        report.add(draft.hint("remove it; inside a string write `\\0`"));
        return None;
    }
    if code.len() > scan::SHORT_MAX
        && let Err((limit, at)) = scan::check(code, &policy.limits)
    {
        let end = code.ceil_char_boundary(at + 1);
        report.add(too_deep(limit, span(at, end), &policy.limits));
        return None;
    }
    let parsed = syntax::parse(code, policy.python)?;
    let stack = match scan::depth(parsed.tokens(), &policy.limits) {
        Ok(depth) => STACK_BASE + depth * STACK_PER_LEVEL,
        Err((limit, range)) => {
            report.add(too_deep(limit, range, &policy.limits));
            STACK_BASE + scan::SHORT_MAX * STACK_PER_LEVEL_DROPPED
        }
    };
    Some((parsed, stack))
}

fn judge(
    code: &str,
    parsed: &Parsed<ModModule>,
    policy: &Policy,
    schema: &Schema,
    mut report: Report<'_>,
) -> Verdict {
    if !report.has_errors() {
        syntax::judge(code, parsed, policy.python, &mut report);
    }
    if report.has_errors() || policy.contract == Contract::Open {
        return give(code, policy, report, Effects::default());
    }
    let body = parsed.suite();
    let mut report = report;
    let mut effects = Effects { deterministic: true, ..Effects::default() };
    let scopes = Scopes::of(body);
    names::judge(body, &scopes, policy, schema, &mut report, &mut effects);
    // A general program without tables has nothing to follow.
    if policy.contract != Contract::Exec || !schema.tables.is_empty() {
        flow::judge(body, code, &scopes, policy, schema, &mut report, &mut effects);
    }
    names::judge_tables_of_tools(policy, &effects, &mut report);
    give(code, policy, report, effects)
}

fn give(code: &str, policy: &Policy, report: Report<'_>, effects: Effects) -> Verdict {
    let (findings, left_out) = report.finish();
    Verdict::new(code, policy.contract, findings, left_out, effects)
}

fn too_long(bytes: usize, policy: &Policy) -> Draft {
    let (is, max) = (format_bytes(bytes as u64), format_bytes(policy.limits.bytes_max as u64));
    let message = format!("the source is {is} long; the limit is {max}");
    Draft::new(FindingCode::TooLong, TextRange::default(), message)
        .hint("move data out of the code: give it as a file or a table")
}

fn too_deep(limit: TooDeep, range: TextRange, limits: &CodeLimits) -> Draft {
    let (what, max) = match limit {
        TooDeep::Brackets => ("brackets", limits.brackets_max),
        TooDeep::Blocks => ("blocks", limits.blocks_max),
        TooDeep::Expression => ("operators and calls", limits.depth_max),
    };
    Draft::new(FindingCode::TooDeep, range, format!("{what} are nested deeper than {max} levels here"))
        .hint("give parts of it a name, or use a loop")
}

fn at_start(draft: Draft) -> Finding {
    at_end_of("", draft)
}

/// The finding, placed where `text` ends.
fn at_end_of(text: &str, draft: Draft) -> Finding {
    let mut report = Report::new(text, 1);
    report.add(draft.at(span(text.len(), text.len())));
    let (mut findings, _) = report.finish();
    findings.remove(0)
}

fn span(start: usize, end: usize) -> TextRange {
    // Sources are limited to far less than 4 GiB before a place in them is named.
    let offset = |at: usize| TextSize::new(u32::try_from(at).unwrap_or(u32::MAX));
    TextRange::new(offset(start), offset(end))
}
