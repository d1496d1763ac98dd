//! Attributes that lead into the interpreter's own objects.

use crate::contract::Contract;

/// Why an attribute may not be used, if it may not. A plan may use those of Python's own attributes that are known to
/// be harmless; a general program may not use those that are known to open the interpreter.
pub(crate) fn reason(attribute: &str, contract: Contract) -> Option<&'static str> {
    let listed = LIST.iter().find(|(name, _)| *name == attribute).map(|&(_, reason)| reason);
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

const CLASSES: &str = "it walks from any object to every class";
const FUNCTION: &str = "it opens a function's code and variables";
const FRAME: &str = "it opens a running frame's variables";
const IMPORT: &str = "it reaches the import machinery";
const ATTRIBUTES: &str = "it reaches attributes by computed names";
const PICKLE: &str = "it makes objects that run code when they are loaded";

const LIST: &[(&str, &str)] = &[
    ("__class__", CLASSES),
    ("__bases__", CLASSES),
    ("__base__", CLASSES),
    ("__mro__", CLASSES),
    ("__subclasses__", CLASSES),
    ("__subclasshook__", CLASSES),
    ("__instancecheck__", CLASSES),
    ("__subclasscheck__", CLASSES),
    ("__objclass__", CLASSES),
    ("__thisclass__", CLASSES),
    ("__self_class__", CLASSES),
    ("__match_args__", ATTRIBUTES),
    ("__globals__", FUNCTION),
    ("__closure__", FUNCTION),
    ("__code__", FUNCTION),
    ("__func__", FUNCTION),
    ("__self__", FUNCTION),
    ("__wrapped__", FUNCTION),
    ("__builtins__", "it reaches every builtin, blocked ones too"),
    ("__import__", IMPORT),
    ("__loader__", IMPORT),
    ("__spec__", IMPORT),
    ("__dict__", ATTRIBUTES),
    ("__getattribute__", ATTRIBUTES),
    ("__setattr__", ATTRIBUTES),
    ("__delattr__", ATTRIBUTES),
    ("__reduce__", PICKLE),
    ("__reduce_ex__", PICKLE),
    ("__setstate__", PICKLE),
    ("tb_frame", FRAME),
    ("f_back", FRAME),
    ("f_globals", FRAME),
    ("f_locals", FRAME),
    ("f_builtins", FRAME),
    ("gi_frame", FRAME),
    ("cr_frame", FRAME),
    ("ag_frame", FRAME),
    ("gi_code", FRAME),
    ("cr_code", FRAME),
    ("ag_code", FRAME),
    ("f_code", FRAME),
    ("func_globals", FUNCTION),
    ("func_code", FUNCTION),
];
