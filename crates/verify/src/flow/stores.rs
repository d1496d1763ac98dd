//! Assignments: to names, to keys, to columns.

use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

use super::Flow;
use super::state::Reach;
use super::value::{Entry, Literal, Value};

impl<'a> Flow<'a, '_, '_, '_> {
    /// Gives a target a value.
    pub(super) fn assign(&mut self, target: &'a Expr, value: Value<'a>) {
        match target {
            Expr::Name(name) => self.set_variable(name.id.as_str(), value),
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                self.unpack(elts, &value);
            }
            Expr::Starred(starred) => self.assign(&starred.value, Value::list(value)),
            Expr::Subscript(subscript) => self.store(subscript, value),
            Expr::Attribute(attribute) => {
                let _ = self.eval(&attribute.value);
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

    pub(super) fn augmented(&mut self, statement: &'a ast::StmtAugAssign) -> Reach {
        let right = self.eval(&statement.value);
        if let Expr::Name(name) = &*statement.target {
            let left = self.eval(&statement.target);
            let value = self.combine(left, statement.op, right);
            self.set_variable(name.id.as_str(), value);
        } else {
            let left = self.eval(&statement.target);
            let value = self.combine(left, statement.op, right);
            self.assign(&statement.target, value);
        }
        Reach::Next
    }
}
