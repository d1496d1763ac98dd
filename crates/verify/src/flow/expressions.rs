//! Expressions: what is known about the value of each.

use std::rc::Rc;

use ruff_python_ast::{self as ast, Comprehension, Expr, Operator, UnaryOp};
use ruff_text_size::{Ranged, TextRange};

use super::functions::Definition;
use super::shape::Column;
use super::value::{ENTRIES_MAX, Entry, Literal, Record, Text, Value};
use super::{Flow, Loop};
use crate::names::scopes::Meaning;

impl<'a> Flow<'a, '_, '_, '_> {
    /// Walks an expression and says what is known about its value.
    pub(super) fn eval(&mut self, expr: &'a Expr) -> Value<'a> {
        self.steps += 1;
        match expr {
            Expr::Name(name) => self.variable(name.id.as_str()),
            Expr::StringLiteral(literal) => Value::text(literal.value.to_str(), literal.range()),
            Expr::NumberLiteral(literal) => number(&literal.value),
            Expr::BooleanLiteral(literal) => Value::Boolean(Some(literal.value)),
            Expr::NoneLiteral(_) => Value::None,
            Expr::BytesLiteral(_) | Expr::EllipsisLiteral(_) | Expr::IpyEscapeCommand(_) => Value::Unknown,
            Expr::Attribute(attribute) => {
                let value = self.eval(&attribute.value);
                if let Value::Member(path) = &value {
                    self.judge_member(&format!("{path}.{}", attribute.attr), attribute.range());
                }
                self.attribute(&value, attribute.attr.as_str(), attribute.attr.range())
            }
            Expr::Subscript(subscript) => {
                let value = self.eval(&subscript.value);
                let key = self.eval(&subscript.slice);
                self.item(&value, &key, &subscript.slice)
            }
            Expr::Call(call) => self.call(call),
            Expr::Compare(compare) => self.compare(compare),
            Expr::BinOp(binary) => self.binary(binary),
            Expr::UnaryOp(unary) => self.unary(unary),
            Expr::BoolOp(boolean) => self.boolean(boolean),
            Expr::If(conditional) => {
                let _ = self.eval(&conditional.test);
                let holds = self.eval(&conditional.body);
                let fails = self.eval(&conditional.orelse);
                holds.join(fails)
            }
            Expr::Named(named) => {
                let value = self.eval(&named.value);
                self.assign(&named.target, value.clone());
                value
            }
            Expr::Lambda(lambda) => self.define(Definition::Lambda(lambda), lambda.range()),
            Expr::Dict(dict) => self.dict(dict),
            Expr::List(ast::ExprList { elts, .. }) | Expr::Set(ast::ExprSet { elts, .. }) => {
                let elements = self.elements(elts);
                // Tables in a list differ by their position.
                if elements.len() <= 8 && elements.iter().any(|element| matches!(element, Value::Table(_))) {
                    return Value::tuple(elements);
                }
                Value::list(elements.into_iter().reduce(Value::join).unwrap_or(Value::Never))
            }
            Expr::Tuple(tuple) => Value::tuple(self.elements(&tuple.elts)),
            Expr::ListComp(ast::ExprListComp { elt, generators, .. })
            | Expr::SetComp(ast::ExprSetComp { elt, generators, .. })
            | Expr::Generator(ast::ExprGenerator { elt, generators, .. }) => {
                let element = self.comprehension(expr.range(), generators, |flow| flow.eval(elt));
                Value::list(element)
            }
            Expr::DictComp(comp) => {
                let element = self.comprehension(comp.range(), &comp.generators, |flow| {
                    if let Some(key) = &comp.key {
                        let key = flow.eval(key);
                        flow.consume(&key);
                    }
                    flow.eval(&comp.value)
                });
                Value::map(element)
            }
            Expr::FString(string) => {
                for element in string.value.elements() {
                    self.interpolation(element);
                }
                Value::Text(Text::Any)
            }
            Expr::TString(string) => {
                for element in string.value.elements() {
                    self.interpolation(element);
                }
                Value::Unknown
            }
            Expr::Await(inner) => self.eval(&inner.value),
            Expr::Yield(inner) => {
                let value = inner.value.as_ref().map_or(Value::None, |value| self.eval(value));
                self.yielded(value);
                Value::Unknown
            }
            Expr::YieldFrom(inner) => {
                let value = self.eval(&inner.value);
                let element = self.element(&value);
                self.yielded(element);
                Value::Unknown
            }
            Expr::Starred(starred) => {
                let value = self.eval(&starred.value);
                self.element(&value)
            }
            Expr::Slice(slice) => {
                for part in [&slice.lower, &slice.upper, &slice.step].into_iter().flatten() {
                    let value = self.eval(part);
                    self.consume(&value);
                }
                Value::Unknown
            }
        }
    }

    fn variable(&mut self, name: &'a str) -> Value<'a> {
        let Some(slot) = self.slot(name) else { return Value::Unknown };
        if let Some(value) = self.state.get(slot) {
            return value.clone();
        }
        let scope = self.frames.last().map_or(0, |frame| frame.scope);
        match self.scopes.meaning(name, scope) {
            // A module that a function imports, or that is imported on a path not taken.
            Meaning::Bound(binding) => match &binding.import {
                Some(path) if !binding.is_variable => Value::Member(path.as_str().into()),
                _ => Value::Unknown,
            },
            Meaning::Free => {
                let table = name.strip_suffix("_tbl");
                let found =
                    table.and_then(|table| self.schema.tables.iter().position(|known| known.name == table));
                match found {
                    Some(table) => Value::Table(Some(table)),
                    None => Value::Builtin(name),
                }
            }
        }
    }

    pub(super) fn attribute(&mut self, value: &Value<'a>, name: &'a str, range: TextRange) -> Value<'a> {
        let literal = Literal { text: name, range };
        match value {
            // Python's own attributes are not columns.
            Value::Query if name.starts_with("__") => Value::Unknown,
            Value::Query => self.path(Text::One(literal)),
            Value::Path(path) => Self::nested_path(path),
            Value::Member(path) => Value::Member(format!("{path}.{name}").into()),
            Value::Table(table) => self.table_attribute(*table, name, range),
            Value::Row(shape) => {
                // `row.doc_id`, or a column.
                if let Column::Stored(_) = shape.column(self.schema, name) {
                    self.read_column(shape, literal);
                }
                Value::Unknown
            }
            Value::WorkPath => match name {
                "parent" => Value::WorkPath,
                _ => Value::Unknown,
            },
            Value::Union(values) => {
                let mut joined = Value::Never;
                for value in values.clone().iter() {
                    let result = self.attribute(value, name, range);
                    joined = joined.join(result);
                }
                joined
            }
            _ => Value::Unknown,
        }
    }

    fn elements(&mut self, elements: &'a [Expr]) -> Vec<Value<'a>> {
        elements.iter().map(|element| self.eval(element)).collect()
    }

    fn dict(&mut self, dict: &'a ast::ExprDict) -> Value<'a> {
        let mut record = Record::default();
        let mut others = Value::Never;
        for item in &dict.items {
            let Some(key) = &item.key else {
                let spread = self.eval(&item.value);
                record.spread.push(spread);
                continue;
            };
            let key_value = self.eval(key);
            let value = self.eval(&item.value);
            match Self::text_of(&key_value).known() {
                Some([literal]) if record.entries.len() < ENTRIES_MAX => {
                    record.entries.push(Entry { key: *literal, value, value_range: item.value.range() });
                }
                _ => {
                    self.consume(&key_value);
                    others = others.join(value);
                    record.is_open = true;
                }
            }
        }
        if record.is_open && record.entries.is_empty() && record.spread.is_empty() {
            return Value::map(others);
        }
        if record.is_open {
            record.spread.push(Value::map(others));
        }
        Value::Record(Rc::new(record))
    }

    fn binary(&mut self, binary: &'a ast::ExprBinOp) -> Value<'a> {
        let left = self.eval(&binary.left);
        let right = self.eval(&binary.right);
        self.combine(left, binary.op, right)
    }

    /// The value of an operator between two values.
    pub(super) fn combine(&mut self, left: Value<'a>, op: Operator, right: Value<'a>) -> Value<'a> {
        match (&left, op, &right) {
            (Value::Condition(one), Operator::BitAnd | Operator::BitOr, Value::Condition(other)) => {
                Value::Condition(Rc::new(one.merge(other)))
            }
            // `None & condition` stands for "no condition yet".
            (Value::Condition(_), Operator::BitAnd | Operator::BitOr, _) => left,
            (_, Operator::BitAnd | Operator::BitOr, Value::Condition(_)) => right,
            (Value::Union(values), Operator::BitAnd | Operator::BitOr, _)
                if values.iter().any(|value| matches!(value, Value::Condition(_))) =>
            {
                left.join(right)
            }
            (Value::WorkPath, Operator::Div, _) => Value::WorkPath,
            (Value::List(_), Operator::Add, Value::List(_)) => left.join(right),
            (Value::Record(one), Operator::BitOr, Value::Record(other)) => {
                let mut merged = (**one).clone();
                for entry in &other.entries {
                    merged = merged.with(entry.clone());
                }
                merged.is_open |= other.is_open;
                merged.spread.extend(other.spread.iter().cloned());
                Value::Record(Rc::new(merged))
            }
            (Value::Text(_), Operator::Add | Operator::Mod | Operator::Mult, _) => {
                self.consume(&right);
                Value::Text(Text::Any)
            }
            (
                Value::Integer,
                Operator::Add | Operator::Sub | Operator::Mult | Operator::FloorDiv,
                Value::Integer,
            ) => Value::Integer,
            _ => {
                self.consume(&left);
                self.consume(&right);
                Value::Unknown
            }
        }
    }

    fn unary(&mut self, unary: &'a ast::ExprUnaryOp) -> Value<'a> {
        let operand = self.eval(&unary.operand);
        match (unary.op, &operand) {
            (UnaryOp::Not, Value::Condition(_)) if !unary.operand.is_name_expr() => {
                self.condition_logic(unary.range(), "`not` does not turn a condition around", "use `~(…)`");
                operand
            }
            (UnaryOp::Not, _) => Value::Boolean(None),
            (UnaryOp::Invert, Value::Condition(_))
            | (UnaryOp::USub | UnaryOp::UAdd, Value::Integer | Value::Real(_)) => operand,
            _ => {
                self.consume(&operand);
                Value::Unknown
            }
        }
    }

    fn boolean(&mut self, boolean: &'a ast::ExprBoolOp) -> Value<'a> {
        let word = if boolean.op == ast::BoolOp::And { "and" } else { "or" };
        let mut joined = Value::Never;
        let last = boolean.values.len() - 1;
        for (index, operand) in boolean.values.iter().enumerate() {
            let value = self.eval(operand);
            // A name may hold None until a condition is built; what is written out is always a condition.
            if index < last && matches!(value, Value::Condition(_)) && !operand.is_name_expr() {
                let message = format!("`{word}` drops a condition: only one side of it is used");
                let instead = if word == "and" {
                    "join conditions with `&`, each in parentheses"
                } else {
                    "join conditions with `|`, each in parentheses"
                };
                self.condition_logic(boolean.range(), &message, instead);
            }
            joined = joined.join(value);
        }
        joined
    }

    fn interpolation(&mut self, element: &'a ast::InterpolatedStringElement) {
        let ast::InterpolatedStringElement::Interpolation(inner) = element else { return };
        let value = self.eval(&inner.expression);
        self.consume(&value);
        for nested in inner.format_spec.iter().flat_map(|spec| spec.elements.iter()) {
            self.interpolation(nested);
        }
    }

    fn yielded(&mut self, value: Value<'a>) {
        if let Some(frame) = self.frames.last_mut() {
            let known = frame.yields.take().unwrap_or(Value::Never);
            frame.yields = Some(known.join(value));
        }
    }

    fn comprehension(
        &mut self,
        range: TextRange,
        generators: &'a [Comprehension],
        element: impl FnOnce(&mut Self) -> Value<'a>,
    ) -> Value<'a> {
        let targets: Vec<&'a str> =
            generators.iter().flat_map(|generator| target_names(&generator.target)).collect();
        let before: Vec<_> = targets
            .iter()
            .filter_map(|name| self.slot(name))
            .map(|slot| (slot, self.state.get(slot).cloned()))
            .collect();
        let start = self.state.mark();
        let mut is_open = false;
        for generator in generators {
            let values = self.eval(&generator.iter);
            if !is_open {
                // Only the first iterable is evaluated outside the loop.
                let targets = targets.clone();
                self.loops.push(Loop { range, targets, start, breaks: Vec::new(), continues: Vec::new() });
                is_open = true;
            }
            let value = self.element(&values);
            self.assign(&generator.target, value);
            for condition in &generator.ifs {
                let _ = self.eval(condition);
            }
        }
        let value = element(self);
        self.loops.pop();
        for (slot, value) in before {
            self.state.restore(slot, value);
        }
        value
    }
}

fn number<'a>(number: &ast::Number) -> Value<'a> {
    match number {
        ast::Number::Int(_) => Value::Integer,
        ast::Number::Float(number) => Value::Real(number.fract() != 0.0),
        ast::Number::Complex { .. } => Value::Unknown,
    }
}

/// The plain names of an assignment's target.
pub(super) fn target_names(target: &Expr) -> Vec<&str> {
    match target {
        Expr::Name(name) => vec![name.id.as_str()],
        Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
            elts.iter().flat_map(target_names).collect()
        }
        Expr::Starred(starred) => target_names(&starred.value),
        _ => Vec::new(),
    }
}
