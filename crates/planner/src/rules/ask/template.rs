//! Fills in the plans' templates: `@key@` is replaced, `%if key`, `%if !key`, `%else` and `%end` keep or drop lines.

use std::collections::BTreeMap;

/// What a template is filled with. A key that is absent is false.
#[derive(Debug, Clone, Default)]
pub(super) struct Fill(BTreeMap<&'static str, String>);

impl Fill {
    /// Gives a key its text.
    pub(super) fn set(&mut self, key: &'static str, text: impl Into<String>) {
        self.0.insert(key, text.into());
    }

    /// Gives a key its text where there is one.
    pub(super) fn set_some(&mut self, key: &'static str, text: Option<impl Into<String>>) {
        if let Some(text) = text {
            self.set(key, text);
        }
    }

    /// Makes a key true, where it should be.
    pub(super) fn flag(&mut self, key: &'static str, is_set: bool) {
        if is_set {
            self.set(key, "");
        }
    }

    /// The same without a key.
    pub(super) fn without(mut self, key: &'static str) -> Self {
        self.0.remove(key);
        self
    }

    /// Fills a template in.
    pub(super) fn render(&self, template: &str) -> String {
        let mut text = String::new();
        // One entry for each open `%if`: whether its lines are kept.
        let mut kept: Vec<bool> = Vec::new();
        for line in template.lines() {
            if let Some(condition) = line.strip_prefix("%if ") {
                let is_true = match condition.strip_prefix('!') {
                    Some(key) => !self.0.contains_key(key),
                    None => self.0.contains_key(condition),
                };
                kept.push(is_true);
            } else if line == "%else" {
                if let Some(last) = kept.last_mut() {
                    *last = !*last;
                }
            } else if line == "%end" {
                kept.pop();
            } else if kept.iter().all(|kept| *kept) {
                self.push_line(&mut text, line);
            }
        }
        text
    }

    fn push_line(&self, text: &mut String, line: &str) {
        let mut rest = line;
        let mut out = String::new();
        while let Some((before, after)) = rest.split_once('@') {
            out.push_str(before);
            let key = after.split_once('@').filter(|(key, _)| self.0.contains_key(key) || is_key(key));
            if let Some((key, after)) = key {
                out.push_str(self.0.get(key).map_or("", String::as_str));
                rest = after;
            } else {
                out.push('@');
                rest = after;
            }
        }
        out.push_str(rest);
        // A line that was only a key without a text leaves nothing behind.
        if !out.trim().is_empty() || line.trim().is_empty() {
            text.push_str(out.trim_end());
            text.push('\n');
        }
    }
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// A text as a Python string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            other if other.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_and_keys_replaced() {
        let mut fill = Fill::default();
        fill.set("table", "parts");
        fill.flag("on", true);
        let template = "a = @table@_tbl\n%if on\nb = 1\n%if off\nc = 1\n%else\nd = 1\n%end\n%end\n%if !on\ne = 1\n%end\n@nothing@\n";
        assert_eq!(fill.render(template), "a = parts_tbl\nb = 1\nd = 1\n");
    }

    #[test]
    fn a_text_becomes_one_python_string() {
        assert_eq!(quoted("a \"b\" \\ c\nd"), r#""a \"b\" \\ c\nd""#);
    }
}
