//! Source as an interactive Python would run it.

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;

use crate::contract::Contract;
use crate::policy::Policy;
use crate::read;
use crate::report::Report;

/// The source with the value of its last expression printed, as an interactive Python prints it. A source that does not
/// end in an expression, or is not Python, is given back as it is.
///
/// ```
/// let echoed = ordain_verify::echoing("x = 3\nx * 2  # six\n");
/// assert_eq!(echoed, "x = 3\n_ = (x * 2)  # six\nif _ is not None:\n    print(repr(_))\n");
/// assert_eq!(ordain_verify::echoing("x = 3\n"), "x = 3\n");
/// ```
pub fn echoing(source: &str) -> String {
    let policy = Policy::for_contract(Contract::Open);
    let mut report = Report::new(source, policy.limits.findings_max);
    let Some((parsed, stack)) = read(source, &policy, &mut report) else { return source.to_owned() };
    stacker::maybe_grow(stack, stack, || {
        // Dropped here, where the stack is large enough.
        let parsed = parsed;
        match parsed.suite().last() {
            Some(Stmt::Expr(last)) if parsed.errors().is_empty() => {
                let range = last.value.range();
                let (before, rest) = source.split_at(range.start().to_usize());
                let (value, after) = rest.split_at(range.len().to_usize());
                format!("{before}_ = ({value}){}\nif _ is not None:\n    print(repr(_))\n", after.trim_end())
            }
            _ => source.to_owned(),
        }
    })
}
