//! Judges attributes that lead into the interpreter's own objects.

use ruff_python_ast::{Expr, ExprAttribute};
use ruff_text_size::{Ranged, TextRange};

use super::Names;
use crate::data::dunders;
use crate::finding_code::FindingCode;
use crate::report::Draft;

pub(super) fn judge(names: &mut Names<'_, '_, '_>, attribute: &ExprAttribute) {
    let attr = attribute.attr.as_str();
    if matches!(attr, "__name__" | "__qualname__")
        && let Expr::Attribute(inner) = &*attribute.value
        && &inner.attr == "__class__"
    {
        // `error.__class__.__name__` reads a name and nothing else.
        names.allowed_class = Some(inner.range());
    }
    let is_own_class = attr == "__class__"
        && (names.allowed_class == Some(attribute.range())
            || matches!(&*attribute.value, Expr::Name(name) if matches!(name.id.as_str(), "self" | "cls" | "other")));
    if !is_own_class {
        attribute_name(names, attr, attribute.attr.range());
    }
}

/// Judges an attribute by its name, wherever the name is written.
pub(super) fn attribute_name(names: &mut Names<'_, '_, '_>, attr: &str, range: TextRange) {
    let Some(reason) = dunders::reason(attr) else { return };
    if dunders::PLANS_ONLY.contains(&attr) && !names.policy.contract.is_plan() {
        return;
    }
    let instead = match attr {
        "__class__" => "use `type(x)` or `isinstance`",
        "__dict__" => "name the attributes that you need",
        _ => "use the public way: `type(x)`, `isinstance`, a plain attribute",
    };
    let draft = Draft::new(FindingCode::DunderAccess, range, format!("`{attr}` may not be used: {reason}"));
    names.report.add(draft.hint(instead));
}

/// Judges a text that `format` reads as code: `"{0.__class__}"`.
pub(super) fn format_text(names: &mut Names<'_, '_, '_>, text: &str, range: TextRange) {
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        rest = &rest[open + 1..];
        let field = &rest[..rest.find('}').unwrap_or(rest.len())];
        for part in field.split(['.', '[', ']', ':', '!']) {
            if part.starts_with("__") && dunders::reason(part).is_some() {
                attribute_name(names, part, range);
                return;
            }
        }
    }
}
