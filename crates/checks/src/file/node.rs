//! A document as a tree that knows its places.

use serde_json::{Map, Number, Value};

/// One value of a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// The line at which it begins, counted from one.
    pub(super) line: u32,
    /// Where it begins, in bytes. YAML knows no such places.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    pub(super) content: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Member>),
}

/// A named value of a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) line: u32,
    pub(super) value: Node,
}

impl Node {
    /// The value without its places. Of members with the same name the last one counts.
    pub(super) fn to_value(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Bool(value) => Value::Bool(*value),
            Content::Number(number) => Value::Number(number.clone()),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Content::Map(members) => {
                let members = members.iter().map(|member| (member.name.clone(), member.value.to_value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// What kind of value it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self.content {
            Content::Null => "null",
            Content::Bool(_) => "true or false",
            Content::Number(_) => "a number",
            Content::Text(_) => "a text",
            Content::List(_) => "a list",
            Content::Map(_) => "a record",
        }
    }
}
