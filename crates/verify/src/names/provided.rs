//! What code uses of what the cell gives it, and whether it looks at the clock.
//!
//! Both are read off every expression, however it is called later: a clock that is handed on under another name is a
//! clock still.

use ruff_python_ast::Expr;

use super::Names;
use super::scopes::Meaning;

/// Members that tell the time, whatever they are taken from.
const CLOCK_MEMBERS: [&str; 12] = [
    "ctime",
    "gmtime",
    "localtime",
    "monotonic",
    "monotonic_ns",
    "now",
    "perf_counter",
    "perf_counter_ns",
    "process_time",
    "time_ns",
    "today",
    "utcnow",
];
/// Words that parsers of times read as the present.
const CLOCK_WORDS: [&str; 2] = ["now", "today"];

pub(super) fn note(names: &mut Names<'_, '_, '_>, expr: &Expr) {
    match expr {
        Expr::Name(name) => {
            let is_free = matches!(names.scopes.meaning(name.id.as_str(), names.scope), Meaning::Free);
            if is_free && names.is_provided(name.id.as_str()) {
                names.effects.provided.insert(name.id.to_string());
                // A statement may ask the clock or take a number by chance.
                names.effects.deterministic &= name.id.as_str() != "sql";
            }
        }
        Expr::Attribute(attribute) if CLOCK_MEMBERS.contains(&attribute.attr.as_str()) => {
            names.effects.clock = true;
        }
        Expr::StringLiteral(literal) if CLOCK_WORDS.contains(&literal.value.to_str()) => {
            names.effects.clock = true;
        }
        _ => {}
    }
}
