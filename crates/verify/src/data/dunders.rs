//! Attributes that lead into the interpreter's own objects.

use std::sync::LazyLock;

use super::{Blocked, blocked};
use crate::contract::Contract;

static LIST: LazyLock<Vec<Blocked>> = LazyLock::new(|| blocked(include_str!("inner_attributes.txt")));

/// Why an attribute may not be used, if it may not. A plan may use those of Python's own attributes that are known to
/// be harmless; a general program may not use those that are known to open the interpreter.
pub(crate) fn reason(attribute: &str, contract: Contract) -> Option<&'static str> {
    let listed = LIST.iter().find(|entry| entry.name == attribute).map(|entry| entry.reason);
    if contract.is_plan() {
        let is_known = || HARMLESS.contains(&attribute) || is_operator(attribute);
        return listed.or_else(|| (is_dunder(attribute) && !is_known()).then_some(INNER));
    }
    listed.filter(|_| !PLANS_ONLY.contains(&attribute))
}

fn is_dunder(attribute: &str) -> bool {
    attribute.len() > 4 && attribute.starts_with("__") && attribute.ends_with("__")
}

/// `__add__`, `__radd__`, `__iadd__` and the other operators.
fn is_operator(attribute: &str) -> bool {
    let bare = attribute.trim_matches('_');
    let turned = bare.strip_prefix(['r', 'i']).unwrap_or(bare);
    OPERATORS.contains(&bare) || OPERATORS.contains(&turned)
}

/// Attributes that plans may not use, but general programs may: ordinary there, and blinding for effects.
const PLANS_ONLY: &[&str] = &["__dict__", "__setattr__", "__delattr__", "__getattribute__", "__match_args__"];

const INNER: &str = "it belongs to the interpreter, and a plan has no use for it";

const OPERATORS: &[&str] = &[
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and",
    "or", "xor", "neg", "pos", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge",
];

/// Python's own attributes that show or do nothing but what plain code does too.
const HARMLESS: &[&str] = words!("dunders.txt");
