//! Assignments: to names, to keys, to columns.

use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

use super::Flow;
use super::shape::Shape;
use super::state::Reach;
use super::value::{Entry, Literal, Value};

impl<'a> Flow<'a, '_, '_, '_> {
    /// Gives a target a value.
    pub(super) fn assign(&mut self, target: &'a Expr, value: Value<'a>) {
        match target {
            Expr::Name(name) => self.set_variable(name.id.as_str(), value, name.range()),
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                self.unpack(elts, &value);
            }
            Expr::Starred(starred) => self.assign(&starred.value, Value::list(value)),
            Expr::Subscript(subscript) => self.store(subscript, value),
            Expr::Attribute(attribute) => {
                let owner = self.eval(&attribute.value);
                if let Value::Instance(class) | Value::Class(class) = owner {
                    self.set_attribute(class, attribute.attr.as_str(), value);
                    return;
                }
                if let Value::Frame(shape) = owner {
                    // `frame.columns = […]` renames everything.
                    self.consume(&Value::Frame(shape));
                    self.set_receiver(&attribute.value, Value::Frame(Rc::new(Shape::unknown())));
                }
                self.consume(&value);
            }
            _ => self.consume(&value),
        }
    }

    fn unpack(&mut self, targets: &'a [Expr], value: &Value<'a>) {
        let has_star = targets.iter().any(Expr::is_starred_expr);
        match value {
            Value::Tuple(values) if values.len() == targets.len() && !has_star => {
                for (target, value) in targets.iter().zip(values.clone().iter()) {
                    self.assign(target, value.clone());
                }
            }
            _ => {
                let element = self.element(value);
                for target in targets {
                    self.assign(target, element.clone());
                }
            }
        }
    }

    /// `owner[key] = value`
    fn store(&mut self, subscript: &'a ast::ExprSubscript, value: Value<'a>) {
        let owner = self.eval(&subscript.value);
        let key = self.eval(&subscript.slice);
        if let (Value::Union(owners), Expr::Name(name)) = (&owner, &*subscript.value) {
            // Each of several owners changes in its own way.
            let Some(slot) = self.slot(name.id.as_str()) else { return };
            let mut changed = Value::Never;
            for owner in owners.iter() {
                self.state.set(slot, owner.clone());
                self.store_in(subscript, owner, &key, value.clone());
                changed = changed.join(self.state.get(slot).cloned().unwrap_or(Value::Unknown));
            }
            self.state.set(slot, changed);
            return;
        }
        self.store_in(subscript, &owner, &key, value);
    }

    fn store_in(
        &mut self,
        subscript: &'a ast::ExprSubscript,
        owner: &Value<'a>,
        key: &Value<'a>,
        value: Value<'a>,
    ) {
        let names = Self::text_of(key).known().map(<[Literal<'a>]>::to_vec).unwrap_or_default();
        let entry =
            |name: &Literal<'a>| Entry { key: *name, value: value.clone(), value_range: subscript.range() };
        match owner {
            Value::Record(record) => {
                let mut changed = (**record).clone();
                for name in &names {
                    changed = changed.with(entry(name));
                    self.result_key(&subscript.value, name.text, &value);
                }
                if names.is_empty() {
                    changed.is_open = true;
                    changed.spread.push(Value::map(value.clone()));
                    changed.spread.truncate(16);
                }
                self.set_receiver(&subscript.value, Value::Record(Rc::new(changed)));
            }
            Value::Row(shape) => {
                let mut changed = (**shape).clone();
                for name in &names {
                    self.set_row_key(shape, &entry(name));
                    changed = changed.with(*name);
                }
                if names.is_empty() {
                    self.write_live(shape);
                    changed.is_open = true;
                }
                self.set_receiver(&subscript.value, Value::Row(Rc::new(changed)));
                self.consume(&value);
            }
            Value::Frame(shape) => {
                let changed = match key {
                    Value::Text(text) if text.known().is_some() => {
                        names.iter().fold((**shape).clone(), |shape, name| shape.with(*name))
                    }
                    _ => shape.open(),
                };
                self.consume(&value);
                self.set_receiver(&subscript.value, Value::Frame(Rc::new(changed)));
            }
            Value::Indexer(shape) => self.store_at(subscript, shape, key, &value),
            Value::Map(element) => {
                let joined = (**element).clone().join(value);
                self.set_receiver(&subscript.value, Value::map(joined));
            }
            Value::List(element) => {
                let joined = (**element).clone().join(value);
                self.set_receiver(&subscript.value, Value::list(joined));
            }
            _ => self.consume(&value),
        }
    }

    /// `frame.loc[rows, "column"] = value`
    fn store_at(
        &mut self,
        subscript: &'a ast::ExprSubscript,
        shape: &Rc<Shape<'a>>,
        key: &Value<'a>,
        value: &Value<'a>,
    ) {
        self.consume(value);
        let changed = match key {
            Value::Tuple(parts) => match parts
                .last()
                .map(Self::text_of)
                .as_ref()
                .and_then(|text| text.known().map(<[Literal<'a>]>::to_vec))
            {
                Some(names) => names.iter().fold((**shape).clone(), |shape, name| shape.with(*name)),
                None => shape.open(),
            },
            _ => shape.open(),
        };
        if let Expr::Attribute(attribute) = &*subscript.value {
            self.set_receiver(&attribute.value, Value::Frame(Rc::new(changed)));
        }
    }

    fn result_key(&mut self, owner: &Expr, key: &str, value: &Value<'a>) {
        let is_result = matches!(owner, Expr::Name(name) if name.id.as_str() == "result");
        if is_result && self.policy.contract == crate::Contract::Check {
            self.check_result_key(key, value);
        }
    }

    pub(super) fn augmented(&mut self, statement: &'a ast::StmtAugAssign) -> Reach {
        let right = self.eval(&statement.value);
        if let Expr::Name(name) = &*statement.target {
            let left = self.eval(&statement.target);
            let value = self.combine(left, statement.op, right);
            self.set_variable(name.id.as_str(), value, name.range());
        } else {
            let left = self.eval(&statement.target);
            let value = self.combine(left, statement.op, right);
            self.assign(&statement.target, value);
        }
        Reach::Next
    }
}
