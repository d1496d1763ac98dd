//! Reads the values that a plan says it took from the request, and holds them against the request's words.

use ordain_types::{BoundParam, ErrorClass, Trouble};
use serde_json::Value;

use crate::prompt::text;

const PARAMS_MAX: usize = 40;
const SHOWN_CHARS_MAX: usize = 80;

/// The params of a declaration.
pub(super) fn of(
    declared: Option<&Value>,
    request: &str,
    modifications: &mut Vec<String>,
) -> Result<Vec<BoundParam>, Trouble> {
    let given = match declared.and_then(|declared| declared.get("params")) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(given)) => given,
        Some(_) => return Err(wrong("`params` is no object of names".to_owned())),
    };
    if given.len() > PARAMS_MAX {
        return Err(wrong(format!("there are {} params, at most {PARAMS_MAX} are read", given.len())));
    }
    let mut params = Vec::new();
    for (name, param) in given {
        let name = text::line(name, SHOWN_CHARS_MAX);
        if param.get("value").is_none_or(Value::is_null) {
            modifications.push(format!("the param `{name}` has no value and was left out"));
            continue;
        }
        params.push(one(&name, param, request)?);
    }
    Ok(params)
}

fn one(name: &str, param: &Value, request: &str) -> Result<BoundParam, Trouble> {
    let is_plain = |value: &Value| !value.is_object() && !value.is_array() && !value.is_null();
    let value = &param["value"];
    let is_list = value.as_array().is_some_and(|items| items.iter().all(is_plain));
    if !is_plain(value) && !is_list {
        return Err(wrong(format!(
            "the value of the param `{name}` is no text, number, yes or no, or list of those"
        )));
    }
    let Some(said) = param["said"].as_str().map(str::trim).filter(|said| !said.is_empty()) else {
        return Err(wrong(format!("the param `{name}` does not quote its words of the request in `said`")));
    };
    if !plain(request).contains(&plain(said)) {
        let said = text::line(said, SHOWN_CHARS_MAX);
        return Err(wrong(format!(
            "`said` of the param `{name}` is \"{said}\", which does not stand in the request"
        )));
    }
    let at = request.to_ascii_lowercase().find(&said.to_ascii_lowercase());
    let at = at.map(|start| (start, start + said.len()));
    Ok(BoundParam { name: name.to_owned(), value: value.clone(), said: said.to_owned(), at })
}

/// A text without regard to case and kinds of space.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn wrong(message: String) -> Trouble {
    let hint = "quote the request letter for letter, as in {\"value\": 3, \"said\": \"3 pairs\"}; \
                what is found in rows is no param";
    Trouble {
        class: ErrorClass::Reply,
        code: "bad-params".to_owned(),
        message,
        line: None,
        hint: Some(hint.to_owned()),
    }
}
