//! The contract as one page without scripts, made from the `OpenAPI` document.

use std::fmt::Write as _;

use serde_json::Value;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
     color:#1b1b1f;background:#fff}code{font:0.9em ui-monospace,monospace}h2{margin-top:2.5rem;border-top:1px solid \
     #ccc;padding-top:1rem}section{margin:1.5rem 0}table{border-collapse:collapse;width:100%}td,th{text-align:left;\
     padding:.25rem .75rem .25rem 0;vertical-align:top;border-bottom:1px solid #eee}.verb{font-weight:700}\
     @media(prefers-color-scheme:dark){body{background:#17171a;color:#e6e6ea}td,th{border-color:#333}\
     h2{border-color:#444}a{color:#9cf}}";

/// Writes the page.
pub(crate) fn write(document: &Value) -> String {
    let mut page = String::new();
    let info = &document["info"];
    // Writing to a string does not fail.
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>{0} API</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>{0} API {1}</h1>\n<p>{2}</p>\n<p><a href=\"/docs\">Try it</a> · <a href=\"/openapi.json\">OpenAPI \
         document</a></p>\n",
        text(&info["title"]),
        text(&info["version"]),
        text(&info["description"]),
    );
    for tag in list(&document["tags"]) {
        let _ = write!(
            page,
            "<h2 id=\"{0}\">{0}</h2>\n<p>{1}</p>\n",
            text(&tag["name"]),
            text(&tag["description"])
        );
        operations(&mut page, document, tag["name"].as_str().unwrap_or_default());
    }
    schemas(&mut page, document);
    page.push_str("</body>\n</html>\n");
    page
}

fn operations(page: &mut String, document: &Value, tag: &str) {
    for (path, item) in fields(&document["paths"]) {
        for (verb, operation) in fields(item) {
            if list(&operation["tags"]).any(|of| of == tag) {
                one(page, path, verb, operation);
            }
        }
    }
}

fn one(page: &mut String, path: &str, verb: &str, operation: &Value) {
    let _ = write!(
        page,
        "<section>\n<h3><code><span class=\"verb\">{}</span> {}</code></h3>\n<p><strong>{}</strong> {}</p>\n<table>\n",
        escaped(&verb.to_uppercase()),
        escaped(path),
        text(&operation["summary"]),
        text(&operation["description"]),
    );
    for parameter in list(&operation["parameters"]) {
        let (name, place) = (text(&parameter["name"]), text(&parameter["in"]));
        let _ = writeln!(
            page,
            "<tr><td><code>{name}</code></td><td>{place}</td><td>{}</td></tr>",
            text(&parameter["description"])
        );
    }
    for (kind, content) in fields(&operation["requestBody"]["content"]) {
        let _ = writeln!(
            page,
            "<tr><td>body</td><td>{}</td><td>{}</td></tr>",
            escaped(kind),
            shape(&content["schema"])
        );
    }
    for (status, response) in fields(&operation["responses"]) {
        let shapes: Vec<String> =
            fields(&response["content"]).map(|(_, content)| shape(&content["schema"])).collect();
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(status),
            text(&response["description"]),
            shapes.join(" or ")
        );
    }
    page.push_str("</table>\n</section>\n");
}

fn schemas(page: &mut String, document: &Value) {
    page.push_str("<h2 id=\"shapes\">shapes</h2>\n");
    for (name, schema) in fields(&document["components"]["schemas"]) {
        let _ = write!(
            page,
            "<section id=\"{0}\">\n<h3>{0}</h3>\n<p>{1}</p>\n<table>\n",
            escaped(name),
            text(&schema["description"])
        );
        for (field, part) in fields(&schema["properties"]) {
            let _ = writeln!(
                page,
                "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
                escaped(field),
                shape(part),
                text(&part["description"])
            );
        }
        for value in list(&schema["enum"]) {
            let _ = writeln!(page, "<tr><td><code>{}</code></td><td></td><td></td></tr>", text(value));
        }
        page.push_str("</table>\n</section>\n");
    }
}

/// A schema in a word or two, with a link where it has a name.
fn shape(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|link| link.rsplit('/').next()) {
        return format!("<a href=\"#{0}\">{0}</a>", escaped(name));
    }
    let several = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    if let Some(several) = several {
        return several.iter().map(shape).collect::<Vec<_>>().join(" or ");
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" => format!("list of {}", shape(&schema["items"])),
        Value::String(kind) => escaped(kind),
        Value::Array(kinds) => kinds.iter().map(text).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
