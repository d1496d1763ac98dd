//! What the JSON values of a column look like, taken together: keys, types, and the values that repeat.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// More members than these are keys that vary from row to row, such as ids.
const MEMBERS_MAX: usize = 12;
/// The name that replaces such keys in a shape.
const VARYING: &str = "<key>";
/// Texts that repeat are listed where they are this few and this short.
const TEXTS_MAX: usize = 6;
const TEXT_CHARS_MAX: usize = 24;
const DEPTH_MAX: usize = 5;
const SHAPE_CHARS_MAX: usize = 600;

/// The shape of JSON values: `[{item_id: text, price: number 3 to 90, color: "red"|"blue"}]`.
pub(super) fn json_shape<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let mut seen = Seen::default();
    values.into_iter().for_each(|value| seen.take(value, 0));
    seen.told().chars().take(SHAPE_CHARS_MAX).collect()
}

/// What was seen at one place of the values.
#[derive(Debug, Default)]
struct Seen {
    texts: BTreeSet<String>,
    text_count: usize,
    numbers: Option<(f64, f64)>,
    has_flags: bool,
    has_nothing: bool,
    items: Option<Box<Seen>>,
    members: BTreeMap<String, Seen>,
    objects: usize,
    count: usize,
}

impl Seen {
    fn take(&mut self, value: &Value, depth: usize) {
        self.count += 1;
        match value {
            Value::Null => self.has_nothing = true,
            Value::Bool(_) => self.has_flags = true,
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or_default();
                let (least, most) = self.numbers.unwrap_or((number, number));
                self.numbers = Some((least.min(number), most.max(number)));
            }
            Value::String(text) => {
                self.text_count += 1;
                if self.texts.len() <= TEXTS_MAX {
                    self.texts.insert(text.chars().take(TEXT_CHARS_MAX + 1).collect());
                }
            }
            Value::Array(items) if depth < DEPTH_MAX => {
                let seen = self.items.get_or_insert_default();
                for item in items {
                    seen.take(item, depth + 1);
                }
            }
            Value::Object(members) if depth < DEPTH_MAX => {
                self.objects += 1;
                members.iter().for_each(|(name, value)| self.member(name).take(value, depth + 1));
            }
            Value::Array(_) | Value::Object(_) => {}
        }
    }

    fn member(&mut self, name: &str) -> &mut Self {
        if self.members.len() > MEMBERS_MAX {
            // Keys without end: one place stands for all of them.
            let mut all = Self::default();
            for seen in std::mem::take(&mut self.members).into_values() {
                all.merge(seen);
            }
            self.members.insert(VARYING.to_owned(), all);
        }
        let name = if self.members.contains_key(VARYING) { VARYING } else { name };
        self.members.entry(name.to_owned()).or_default()
    }

    fn merge(&mut self, other: Self) {
        self.texts.extend(other.texts);
        self.text_count += other.text_count;
        if let Some((least, most)) = other.numbers {
            let (own_least, own_most) = self.numbers.unwrap_or((least, most));
            self.numbers = Some((own_least.min(least), own_most.max(most)));
        }
        self.has_flags |= other.has_flags;
        self.has_nothing |= other.has_nothing;
        self.objects += other.objects;
        self.count += other.count;
        if let Some(items) = other.items {
            self.items.get_or_insert_default().merge(*items);
        }
        for (name, seen) in other.members {
            self.member(&name).merge(seen);
        }
    }

    fn told(&self) -> String {
        let mut kinds = Vec::new();
        if self.objects > 0 {
            kinds.push(self.object());
        }
        if let Some(items) = &self.items {
            kinds.push(format!("[{}]", items.told()));
        }
        if self.text_count > 0 {
            kinds.push(self.text());
        }
        if let Some((least, most)) = self.numbers {
            kinds.push(if least < most { format!("number {least} to {most}") } else { "number".to_owned() });
        }
        if self.has_flags {
            kinds.push("true|false".to_owned());
        }
        if self.has_nothing {
            kinds.push("null".to_owned());
        }
        if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(" or ") }
    }

    fn object(&self) -> String {
        if let Some(any) = self.members.get(VARYING) {
            return format!("{{{VARYING}: {}}}", any.told());
        }
        let member = |(name, seen): (&String, &Self)| {
            let may_lack = if seen.count < self.objects { "?" } else { "" };
            format!("{name}{may_lack}: {}", seen.told())
        };
        format!("{{{}}}", self.members.iter().map(member).collect::<Vec<_>>().join(", "))
    }

    fn text(&self) -> String {
        let is_short = self.texts.iter().all(|text| text.chars().count() <= TEXT_CHARS_MAX);
        if self.texts.len() <= TEXTS_MAX && is_short && self.text_count > self.texts.len() {
            let texts: Vec<String> = self.texts.iter().map(|text| format!("{text:?}")).collect();
            return texts.join("|");
        }
        "text".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_shape_tells_keys_types_and_the_values_that_repeat() {
        let values = [
            json!([{"id": "A1", "price": 3, "color": "red"}, {"id": "B2", "price": 9.5, "color": "blue"}]),
            json!([{"id": "C3", "price": 4, "color": "red", "note": null}]),
        ];
        let shape = r#"[{color: "blue"|"red", id: text, note?: null, price: number 3 to 9.5}]"#;
        assert_eq!(json_shape(&values), shape);
    }

    #[test]
    fn keys_that_vary_are_told_as_one() {
        let members = (0..40).map(|number| (format!("id{number}"), json!({"price": number})));
        let value = Value::Object(members.collect());
        assert_eq!(json_shape([&value]), "{<key>: {price: number 0 to 39}}");
    }
}
