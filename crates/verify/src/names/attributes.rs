//! Judges attributes that lead into the interpreter's own objects.

use ruff_python_ast::{Expr, ExprAttribute, ExprList, ExprTuple};
use ruff_text_size::{Ranged, TextRange};

use super::Names;
use super::scopes::text_of;
use crate::data::{dunders, foreign};
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
    let Some(reason) = dunders::reason(attr, names.policy.contract) else { return };
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
            if part.starts_with("__") && dunders::reason(part, names.policy.contract).is_some() {
                attribute_name(names, part, range);
                return;
            }
        }
    }
}

/// Judges an attribute that is named by a text, or by a pattern, of an unknown object.
pub(super) fn attribute_of_anything(names: &mut Names<'_, '_, '_>, attr: &str, range: TextRange) {
    attribute_name(names, attr, range);
    if foreign::opens_the_system(attr) {
        let message = format!("`{attr}` may not be reached through another object: it may be the module");
        let draft = Draft::new(FindingCode::BlockedCall, range, message);
        names.report.add(draft.hint("write a plain `import` statement"));
    }
}

/// Judges `__match_args__ = …`: the attributes that a pattern such as `case Point(x, y)` looks at.
pub(super) fn match_arguments(names: &mut Names<'_, '_, '_>, value: &Expr) {
    let (Expr::Tuple(ExprTuple { elts, .. }) | Expr::List(ExprList { elts, .. })) = value else {
        return computed_match_arguments(names, value.range());
    };
    for element in elts {
        match text_of(element) {
            Some(text) => attribute_of_anything(names, text, element.range()),
            None => computed_match_arguments(names, element.range()),
        }
    }
}

fn computed_match_arguments(names: &mut Names<'_, '_, '_>, range: TextRange) {
    let message = "`__match_args__` may not be computed: which attributes patterns reach cannot be known";
    let draft = Draft::new(FindingCode::DunderAccess, range, message);
    names.report.add(draft.hint("write a tuple of texts, or name the attributes in the pattern"));
}
