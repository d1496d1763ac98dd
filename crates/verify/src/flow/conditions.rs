//! `Query()` objects, the conditions they build, and what happens when a condition meets a table.

use std::rc::Rc;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{self as ast, CmpOp, Expr};
use ruff_text_size::{Ranged, TextRange};

use super::Flow;
use super::calls::Args;
use super::functions::Definition;
use super::value::{Capture, ColumnUse, Condition, Literal, Path, Text, Value};
use crate::finding::Edit;
use crate::finding_code::FindingCode;
use crate::report::{Draft, replacement};
use crate::suggest::suggest;

/// What a column of a query can do.
const METHODS: &[&str] =
    &["exists", "matches", "search", "test", "any", "all", "one_of", "fragment", "noop", "map"];

impl<'a> Flow<'a, '_, '_, '_> {
    /// A column of a condition: `Item.price`, `Item["price"]`, `where("price")`.
    pub(super) fn path(&mut self, column: Text<'a>) -> Value<'a> {
        for &name in column.known().unwrap_or_default() {
            if !self.resolved.contains(&name.range) {
                self.pending.push(name);
            }
        }
        Value::Path(Rc::new(Path { column, is_nested: false }))
    }

    pub(super) fn nested_path(path: &Path<'a>) -> Value<'a> {
        Value::Path(Rc::new(Path { column: path.column.clone(), is_nested: true }))
    }

    /// A condition on a column, which may be compared with a value.
    fn condition(path: &Path<'a>, compared: Option<(Value<'a>, TextRange)>) -> Condition<'a> {
        let compared = compared.filter(|_| !path.is_nested);
        let uses = match path.column.known() {
            Some(names) => names
                .iter()
                .map(|&name| ColumnUse { column: Some(name), compared: compared.clone() })
                .collect(),
            None => vec![ColumnUse { column: None, compared: None }],
        };
        Condition { uses, captures: Vec::new() }
    }

    /// A method of a query or of one of its columns.
    pub(super) fn query_call(
        &mut self,
        path: Option<&Path<'a>>,
        method: &ast::Identifier,
        args: &Args<'a>,
    ) -> Value<'a> {
        let name = method.as_str();
        if !METHODS.contains(&name) {
            self.unknown_query_method(path, method);
            args.consume(self);
            return Value::Unknown;
        }
        let nothing = Path { column: Text::Any, is_nested: true };
        let mut condition = match path {
            Some(path) => Self::condition(path, None),
            // `Item.fragment({...})` names its columns in the dict.
            None => Condition { uses: Self::fragment_uses(args), captures: Vec::new() },
        };
        match name {
            "map" => {
                args.consume(self);
                return Value::Path(Rc::new(Path {
                    column: path.map_or(nothing.column, |path| path.column.clone()),
                    is_nested: true,
                }));
            }
            "one_of" => self.one_of(&mut condition, path, args),
            "test" => self.test(&mut condition, args),
            "any" | "all" => {
                // The inner condition is about the elements of the column, not about the table.
                for value in args.values() {
                    self.forget_condition(value);
                }
            }
            _ => args.consume(self),
        }
        Value::Condition(Rc::new(condition))
    }

    fn one_of(&mut self, condition: &mut Condition<'a>, path: Option<&Path<'a>>, args: &Args<'a>) {
        let Some((range, value)) = args.get("items", 0) else { return };
        let element = self.element(value);
        self.consume(value);
        if path.is_some_and(|path| !path.is_nested) {
            for column in &mut condition.uses {
                column.compared = Some((element.clone(), range));
            }
        }
    }

    /// `.test(function, *arguments)`.
    fn test(&mut self, condition: &mut Condition<'a>, args: &Args<'a>) {
        for (index, value) in args.values().enumerate() {
            match value {
                Value::Function(function) if index == 0 => {
                    condition.captures.extend(self.captures(*function));
                    self.call_with_unknown(*function);
                }
                _ => self.consume(value),
            }
        }
    }

    fn fragment_uses(args: &Args<'a>) -> Vec<ColumnUse<'a>> {
        let mut uses = Vec::new();
        for value in args.values() {
            if let Value::Record(record) = value {
                let entries = record.entries.iter();
                uses.extend(entries.map(|entry| ColumnUse {
                    column: Some(entry.key),
                    compared: Some((entry.value.clone(), entry.value_range)),
                }));
            }
        }
        uses
    }

    /// A condition that speaks about nested values: its columns belong to no table.
    fn forget_condition(&mut self, value: &Value<'a>) {
        for alternative in value.alternatives() {
            if let Value::Condition(condition) = alternative {
                let names = condition.uses.iter().filter_map(|column| column.column);
                self.resolved.extend(names.map(|name| name.range));
            }
        }
    }

    fn unknown_query_method(&mut self, path: Option<&Path<'a>>, method: &ast::Identifier) {
        let name = method.as_str();
        let instead = match name {
            "contains" | "icontains" | "like" | "ilike" | "startswith" | "endswith" | "lower" | "upper"
            | "strip" => "use `.test(lambda value: …)` or `.search(pattern)`".to_owned(),
            "in_" | "isin" | "is_in" => "use `.one_of([…])`".to_owned(),
            "between" => "use `(column >= low) & (column <= high)`".to_owned(),
            "eq" | "equals" => "use `==`".to_owned(),
            _ => match suggest(name, METHODS.iter().copied()) {
                Some(found) if found.is_near => format!("did you mean `{}`?", found.name),
                _ => format!("a column of a query has: {}", METHODS.join(", ")),
            },
        };
        let what = if path.is_some() { "a column of a query" } else { "a query" };
        let draft =
            Draft::new(FindingCode::UnknownMethod, method.range(), format!("{what} has no method `{name}`"));
        self.report.add(draft.hint(instead));
    }

    /// Compares values; a column on one side makes it a condition.
    pub(super) fn compare(&mut self, compare: &'a ast::ExprCompare) -> Value<'a> {
        let mut sides = vec![(&*compare.left, self.eval(&compare.left))];
        for comparator in &compare.comparators {
            let value = self.eval(comparator);
            sides.push((comparator, value));
        }
        let is_query = |value: &Value<'a>| matches!(value, Value::Path(_) | Value::Condition(_));
        if sides.iter().any(|(_, value)| is_query(value)) {
            return self.compare_column(compare, &sides);
        }
        // It may be a mask of a data frame.
        if sides.iter().any(|(_, value)| matches!(value, Value::Unknown)) {
            return Value::Unknown;
        }
        Value::Boolean(None)
    }

    fn compare_column(&mut self, compare: &ast::ExprCompare, sides: &[(&'a Expr, Value<'a>)]) -> Value<'a> {
        let op = compare.ops[0];
        if compare.ops.len() > 1 {
            let message = "a chained comparison of a column keeps only its last part";
            self.condition_logic(compare.range(), message, "write `(low <= column) & (column <= high)`");
        } else if matches!(op, CmpOp::In | CmpOp::NotIn) && matches!(sides[0].1, Value::Path(_)) {
            self.condition_logic(
                compare.range(),
                "`in` does not make a condition of a column",
                "use `.one_of([…])`",
            );
        } else if matches!(op, CmpOp::In | CmpOp::NotIn) && matches!(sides[1].1, Value::Path(_)) {
            let hint = "use `.test(lambda value: … in value)` or `.search(pattern)`";
            self.condition_logic(compare.range(), "`in` does not make a condition of a column", hint);
        } else if matches!(op, CmpOp::Is | CmpOp::IsNot)
            && sides.iter().any(|(_, value)| matches!(value, Value::Path(_)))
        {
            self.condition_logic(
                compare.range(),
                "`is` does not make a condition of a column",
                "use `== None`",
            );
        }
        let mut merged = Condition::default();
        for (index, (_, value)) in sides.iter().enumerate() {
            match value {
                Value::Path(path) => {
                    let other = if index == 0 { sides.get(1) } else { sides.get(index - 1) };
                    let compared = other.filter(|_| !matches!(op, CmpOp::In | CmpOp::NotIn));
                    let compared = compared.map(|(expr, value)| (value.clone(), expr.range()));
                    merged = merged.merge(&Self::condition(path, compared));
                }
                Value::Condition(condition) => merged = merged.merge(condition),
                _ => self.consume(value),
            }
        }
        Value::Condition(Rc::new(merged))
    }

    pub(super) fn condition_logic(&mut self, range: TextRange, message: &str, hint: &str) {
        self.report.add(Draft::new(FindingCode::ConditionLogic, range, message).hint(hint));
    }

    /// A condition meets a table: its columns must be the table's.
    pub(super) fn apply_condition(&mut self, table: Option<usize>, value: &Value<'a>) {
        for alternative in value.alternatives() {
            match alternative {
                Value::Condition(condition) => self.apply(table, condition),
                // `search(Item.name)` tests nothing; the store will say so. Its column still counts.
                Value::Path(path) => self.apply(table, &Self::condition(path, None)),
                Value::Function(function) => self.call_with_unknown(*function),
                Value::List(element) => self.apply_condition(table, element),
                _ => {
                    // A condition that came from elsewhere may look at anything.
                    if !matches!(alternative, Value::None | Value::Query | Value::Never)
                        && let Some(table) = table
                    {
                        self.usage.read_whole(table);
                    }
                }
            }
        }
    }

    fn apply(&mut self, table: Option<usize>, condition: &Condition<'a>) {
        for capture in &condition.captures {
            if !self.loops.iter().any(|active| active.range == capture.of_loop) {
                self.captured(capture);
            }
        }
        for column in &condition.uses {
            if let Some(name) = column.column {
                self.resolved.insert(name.range);
            }
            let Some(table) = table else { continue };
            let Some(name) = column.column else {
                self.usage.read_whole(table);
                continue;
            };
            if let Some(index) = self.table_column(table, name) {
                self.usage.read_column(table, index);
                if let Some((value, range)) = &column.compared {
                    self.check_compared(table, index, value, *range);
                }
            }
        }
    }

    /// The loop variables that a function will look up when it runs.
    fn captures(&self, function: usize) -> Vec<Capture<'a>> {
        let info = &self.functions[function];
        if info.loops.is_empty() {
            return Vec::new();
        }
        let mut reads = Reads { names: Vec::new() };
        let parameters = match info.definition {
            Definition::Lambda(lambda) => {
                reads.visit_expr(&lambda.body);
                lambda.parameters.as_deref()
            }
            Definition::Function(function) => {
                reads.visit_body(&function.body);
                Some(&*function.parameters)
            }
        };
        let is_parameter = |name: &str| {
            parameters.is_some_and(|parameters| {
                parameters.iter().any(|parameter| parameter.name().as_str() == name)
            })
        };
        let mut captures: Vec<Capture<'a>> = Vec::new();
        for (name, range) in reads.names {
            let owner = info.loops.iter().find(|(_, targets)| targets.contains(&name));
            if let Some((of_loop, _)) = owner
                && !is_parameter(name)
                && captures.iter().all(|known| known.name != name)
            {
                captures.push(Capture { name, of_loop: *of_loop, function, range });
            }
        }
        captures
    }

    fn captured(&mut self, capture: &Capture<'a>) {
        let name = capture.name;
        let message = format!(
            "`{name}` is looked up when the test runs: by then the loop has moved on to its last value"
        );
        let edit = match self.functions[capture.function].definition {
            Definition::Lambda(lambda) => lambda.parameters.as_deref().filter(|parameters| {
                parameters.vararg.is_none() && parameters.kwarg.is_none() && parameters.kwonlyargs.is_empty()
            }),
            Definition::Function(_) => None,
        };
        let edit = edit.map(|parameters| Edit {
            title: format!("bind `{name}` when the lambda is made"),
            replacements: vec![replacement(
                TextRange::empty(parameters.range.end()),
                format!(", {name}={name}"),
            )],
        });
        let draft = Draft::new(FindingCode::CapturedVariable, capture.range, message);
        self.report.add(
            draft
                .hint(format!("bind it when the function is made: `lambda value, {name}={name}: …`"))
                .edit(edit),
        );
    }

    /// The text of a literal argument, as the name of a column.
    pub(super) fn text_of(value: &Value<'a>) -> Text<'a> {
        match value {
            Value::Text(text) => text.clone(),
            Value::Union(values) => {
                let mut literals: Vec<Literal<'a>> = Vec::new();
                for value in values.iter() {
                    match value {
                        Value::Text(text) => literals.extend(text.known().unwrap_or_default()),
                        _ => return Text::Any,
                    }
                }
                Text::Several(literals.into())
            }
            _ => Text::Any,
        }
    }
}

/// Every name that a function reads.
struct Reads<'a> {
    names: Vec<(&'a str, TextRange)>,
}

impl<'a> Visitor<'a> for Reads<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr {
            self.names.push((name.id.as_str(), name.range()));
        }
        visitor::walk_expr(self, expr);
    }
}
