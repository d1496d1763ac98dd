//! Judges patterns that open an object by position: `case Point(x, y)`.
//!
//! Which attributes such a pattern reaches is written in the class (`__match_args__`). So a plan may use it with classes
//! whose text can be read: builtin ones, imported ones, and those that a plain `class` statement of the program makes.

use ruff_python_ast::{Decorator, Expr, PatternMatchClass, StmtClassDef};
use ruff_text_size::Ranged;

use super::Names;
use super::scopes::Meaning;
use crate::finding_code::FindingCode;
use crate::report::Draft;

/// Classes that derive from one another in one program.
const ANCESTORS_MAX: usize = 8;

/// Judges a pattern of a class.
pub(super) fn class(names: &mut Names<'_, '_, '_>, pattern: &PatternMatchClass) {
    if pattern.arguments.patterns.is_empty()
        || !names.policy.contract.is_plan()
        || is_readable(names, &pattern.cls, ANCESTORS_MAX)
    {
        return;
    }
    let message = "which attributes this pattern reaches by position cannot be read from the code";
    let draft = Draft::new(FindingCode::DunderAccess, pattern.cls.range(), message);
    names.report.add(draft.hint("name the attributes: `case Point(x=x, y=y)`"));
}

fn is_readable(names: &Names<'_, '_, '_>, class: &Expr, ancestors: usize) -> bool {
    let Expr::Name(name) = class else { return names.path(class).is_some() };
    match names.scopes.meaning(name.id.as_str(), names.scope) {
        Meaning::Free => !names.is_provided(name.id.as_str()),
        Meaning::Bound(binding) if binding.is_variable => {
            ancestors > 0 && binding.class.is_some_and(|class| is_plain(names, class, ancestors - 1))
        }
        Meaning::Bound(binding) => binding.import.is_some(),
    }
}

/// Whether a class is what its statement says: no metaclass, no decorator that may put another one in its place.
fn is_plain(names: &Names<'_, '_, '_>, class: &StmtClassDef, ancestors: usize) -> bool {
    let bases = class.arguments.as_ref();
    bases.is_none_or(|bases| {
        bases.keywords.is_empty() && bases.args.iter().all(|base| is_readable(names, base, ancestors))
    }) && class.decorator_list.iter().all(|decorator| is_dataclass(names, decorator))
}

fn is_dataclass(names: &Names<'_, '_, '_>, decorator: &Decorator) -> bool {
    let function = match &decorator.expression {
        Expr::Call(call) => &call.func,
        other => other,
    };
    names.path(function).as_deref() == Some("dataclasses.dataclass")
}
