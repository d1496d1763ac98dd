//! Attributes that lead into the interpreter's own objects.

/// Why an attribute may not be used, if it may not.
pub(crate) fn reason(attribute: &str) -> Option<&'static str> {
    LIST.iter().find(|(name, _)| *name == attribute).map(|&(_, reason)| reason)
}

/// Attributes that plans may not use, but general programs may: ordinary there, and blinding for effects.
pub(crate) const PLANS_ONLY: &[&str] = &["__dict__", "__setattr__", "__delattr__", "__getattribute__"];

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
    ("func_globals", FUNCTION),
    ("func_code", FUNCTION),
];
