//! Writes Python: literals, and lines that belong together.

/// A text as a Python literal. JSON's escapes all mean the same in Python.
pub(super) fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

/// Texts as a Python list.
pub(super) fn list<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| text(value.as_ref())).collect();
    format!("[{}]", values.join(", "))
}

/// A number as a Python literal, without a fraction where it has none.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value}") }
}

/// A text inside an f-string.
pub(super) fn in_f(value: &str) -> String {
    let quoted = text(value);
    quoted[1..quoted.len() - 1].replace('{', "{{").replace('}', "}}")
}

/// A comment of one line, whatever the text holds.
pub(super) fn comment(value: &str) -> String {
    let plain: String =
        value.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect::<String>();
    format!("# {}", plain.trim())
}

/// The lines of a program.
#[derive(Debug, Default)]
pub(super) struct Code {
    imports: Vec<String>,
    lines: Vec<String>,
    /// Functions that stand before the lines.
    functions: Vec<&'static str>,
}

impl Code {
    /// A program that answers a request.
    pub(super) fn new(request: &str) -> Self {
        let mut code = Self::default();
        code.lines.push(comment(&format!("Question: {request}")));
        code
    }

    /// Imports a module, once.
    pub(super) fn import(&mut self, statement: &str) -> &mut Self {
        if !self.imports.iter().any(|known| known == statement) {
            self.imports.push(statement.to_owned());
        }
        self
    }

    /// Adds lines.
    pub(super) fn add(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.lines.extend(text.as_ref().lines().map(str::to_owned));
        self
    }

    /// Adds lines, each inside one more block.
    pub(super) fn indented(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.lines.extend(
            text.as_ref().lines().map(
                |line| {
                    if line.is_empty() { String::new() } else { format!("    {line}") }
                },
            ),
        );
        self
    }

    /// Gives the program `shown(value)`, which writes a number for people.
    pub(super) fn with_shown(&mut self) -> &mut Self {
        self.define(SHOWN)
    }

    /// Gives the program a function, once.
    pub(super) fn define(&mut self, function: &'static str) -> &mut Self {
        if !self.functions.contains(&function) {
            self.functions.push(function);
        }
        self
    }

    /// The program.
    pub(super) fn finish(mut self) -> String {
        let mut lines = vec![self.lines.remove(0)];
        self.imports.sort();
        lines.append(&mut self.imports);
        for function in self.functions {
            lines.push(format!("\n\n{}\n", function.trim()));
        }
        lines.push(String::new());
        lines.append(&mut self.lines);
        lines.join("\n") + "\n"
    }
}

const SHOWN: &str = "\
def shown(value):
    \"\"\"A number for people: thousands set apart, at most two decimals; anything else as it is.\"\"\"
    if hasattr(value, \"item\"):
        value = value.item()
    if hasattr(value, \"strftime\"):
        return value.isoformat()[:10] if str(value).endswith(\"00:00:00\") else value.isoformat(\" \")
    if isinstance(value, float):
        return f\"{value:,.2f}\".rstrip(\"0\").rstrip(\".\")
    return f\"{value:,}\" if isinstance(value, int) else str(value)
";
