//! Single values that files hold: settings, the fields of a mail, the columns of a table with one row.

use std::fmt::Write as _;

use serde_json::Value;

use super::texts::Asking;
use crate::brief::FileBrief;
use crate::reader::code::quote;
use crate::reader::index::split_name;
use crate::reader::lexicon::singular;
use crate::reader::token::Kind;

/// One value of a file and the names that lead to it.
#[derive(Debug, Clone)]
struct Setting<'a> {
    file: &'a FileBrief,
    /// The table of one row that has it as a column.
    table: Option<&'a Value>,
    path: Vec<String>,
    /// `list`, `integer` or another type.
    kind: &'a str,
}

impl Asking<'_> {
    /// `what is the port`, `port of the server`, `how many hosts`, `who sent the mail and what is the subject`.
    pub(super) fn settings(&self, start: usize) -> Option<(String, String)> {
        let all: Vec<Setting> = self.files.iter().flat_map(|file| settings(file)).collect();
        let parser = &self.parser;
        if let Some(begin) = parser.one("how_many", start) {
            let (found, end) = self.setting(&all, begin)?;
            self.tail(self.files, end)?;
            // `replicas` says how many there are, `port` does not.
            let is_number = found.iter().all(|setting| {
                let last = setting.path.last().map(|name| split_name(name)).unwrap_or_default();
                setting.kind == "integer" && last.last().is_some_and(|word| singular(word) != *word)
            });
            let is_list = found.iter().all(|setting| setting.kind == "list");
            return (is_list || is_number).then(|| written(&found, is_list));
        }
        let (mut found, mut end) = self.setting(&all, start)?;
        while let Some(next) = parser.one("and", parser.sign(',', end).unwrap_or(end)) {
            let next = parser.one("what_is", next).unwrap_or(next);
            let (more, after) = self.setting(&all, next)?;
            found.extend(more);
            end = after;
        }
        self.tail(self.files, end)?;
        Some(written(&found, false))
    }

    /// The settings that are named at a place; several if several are called so.
    fn setting<'a>(&self, all: &[Setting<'a>], place: usize) -> Option<(Vec<Setting<'a>>, usize)> {
        if let Some((end, field)) = self.parser.meaning("fields", place) {
            let found: Vec<Setting> = all.iter().filter(|setting| setting.path == [field]).cloned().collect();
            let end = self.named(self.files, end).unwrap_or(end);
            return (!found.is_empty()).then_some((found, end));
        }
        let ends: Vec<(usize, &Setting)> =
            all.iter().filter_map(|setting| Some((self.named_by(&setting.path, place)?, setting))).collect();
        let longest = ends.iter().map(|(end, _)| *end).max()?;
        let fitting = ends.into_iter().filter(|(end, _)| *end == longest);
        Some((fitting.map(|(_, setting)| setting.clone()).collect(), longest))
    }

    /// Where the words for a setting end: `port`, `server port`, `port of the server`.
    fn named_by(&self, path: &[String], place: usize) -> Option<usize> {
        let words: Vec<Vec<String>> = path.iter().map(|name| split_name(name)).collect();
        (0..path.len()).find_map(|from| {
            let end = self.spelled(&words[from..].concat(), place)?;
            let of = self.parser.one("in", end).filter(|_| from > 0);
            let rest = of.and_then(|of| (0..from).find_map(|at| self.spelled(&words[at..from].concat(), of)));
            Some(rest.unwrap_or(end))
        })
    }

    fn spelled(&self, words: &[String], place: usize) -> Option<usize> {
        let mut at = self.parser.fill(place);
        for word in words {
            at = self.parser.sign('\'', at).unwrap_or(at);
            let token = self.parser.tokens.get(at).filter(|token| !matches!(token.kind, Kind::Quoted))?;
            if token.lower != *word && token.stem != singular(word) {
                return None;
            }
            at += 1;
        }
        (!words.is_empty()).then_some(at)
    }
}

fn settings(file: &FileBrief) -> Vec<Setting<'_>> {
    let list = |name: &str| file.facts.get(name).and_then(Value::as_array).into_iter().flatten();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let own = list("settings").filter_map(|facts| {
        let path: Option<Vec<String>> = facts.get("path")?.as_array()?.iter().map(text).collect();
        Some(Setting { file, table: None, path: path?, kind: kind(facts) })
    });
    let single = list("tables").filter(|table| table.get("rows").and_then(Value::as_u64) == Some(1));
    let columns = single.flat_map(|table| {
        let columns = table.get("columns").and_then(Value::as_array).into_iter().flatten();
        columns.filter_map(move |column| {
            let path = vec![text(column.get("name")?)?];
            Some(Setting { file, table: Some(table), path, kind: kind(column) })
        })
    });
    own.chain(columns).collect()
}

fn kind(facts: &Value) -> &str {
    facts.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// What is asked, and the program that looks it up.
fn written(found: &[Setting], counts: bool) -> (String, String) {
    let title = found.iter().map(|setting| setting.path.join(".")).collect::<Vec<_>>().join(" and ");
    let mut code = String::new();
    let mut loaded: Option<&Setting> = None;
    for setting in found {
        let is_loaded =
            loaded.is_some_and(|known| known.file.name == setting.file.name && known.table == setting.table);
        if !is_loaded {
            code.push_str(&load(setting));
        }
        loaded = Some(setting);
        let keys = setting.path.iter().map(|name| quote(name)).collect::<Vec<_>>().join("][");
        let value = if counts { format!("len(tree[{keys}])") } else { format!("tree[{keys}]") };
        let name = setting.path.join(".");
        let is_several = found.iter().any(|other| other.file.name != setting.file.name);
        let name = if is_several { format!("{name} of {}", setting.file.name) } else { name };
        let _ = writeln!(code, "found[{}] = {value}", quote(&name));
    }
    let (title, verb) = if counts {
        (format!("number of {title}"), "has {value} values")
    } else {
        (title, "is {said(value)}")
    };
    let code = format!(
        "# {}\nfound = {{}}\n{code}\n\ndef said(value):\n    \"\"\"A value for people.\"\"\"\n    if value is None or value != value:\n        return \"empty\"\n    return \", \".join(map(str, value)) if isinstance(value, list) else str(value)\n\n\n\
         answer_rows = [{{\"name\": name, \"value\": said(value)}} for name, value in found.items()]\n\
         answer_text = \"; \".join(f\"{{name}} {verb}\" for name, value in found.items()) + \".\"\nSTATUS = \"success\"\n",
        title.replace(['\n', '\r'], " ")
    );
    (title, code)
}

/// The lines that load the values of a file as `tree`.
fn load(setting: &Setting) -> String {
    let name = quote(&setting.file.name);
    if let Some(table) = setting.table {
        let table = table.get("name").and_then(Value::as_str);
        let table = table.map_or_else(String::new, |table| format!(", {}", quote(table)));
        return format!("tree = frame({name}{table}).iloc[0].to_dict()\n");
    }
    let text = format!("files[{name}].read_text(encoding=\"utf-8-sig\")");
    match setting.file.kind.as_str() {
        "yaml" | "yml" => format!("import yaml\n\ntree = yaml.safe_load({text})\n"),
        "toml" => format!("import tomllib\n\ntree = tomllib.loads({text})\n"),
        "ini" | "cfg" => format!(
            "import configparser\n\ntree = configparser.ConfigParser(interpolation=None)\ntree.read_string({text})\n"
        ),
        _ => format!("import json\n\ntree = json.loads({text})\n"),
    }
}
