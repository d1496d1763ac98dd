//! Classes of the program: what their instances hold, and their methods.
//!
//! Attributes are joined over all instances and all places: a plan has few objects, and what one of them holds
//! may be held by any.

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;

use super::calls::Args;
use super::state::Reach;
use super::value::Value;
use super::{Flow, Frame};

/// A class of the program.
#[derive(Debug, Default)]
pub(super) struct Class<'a> {
    bases: Vec<usize>,
    methods: FxHashMap<&'a str, (Value<'a>, MethodKind)>,
    attributes: FxHashMap<&'a str, Value<'a>>,
    /// Annotated names, in order: the parameters of a dataclass.
    fields: Vec<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MethodKind {
    Plain,
    Static,
    Property,
}

/// More base classes than anybody reads.
const BASES_MAX: usize = 8;

impl<'a> Flow<'a, '_, '_, '_> {
    pub(super) fn class(&mut self, definition: &'a ast::StmtClassDef) -> Reach {
        let mut class = Class::default();
        for base in definition.arguments.iter().flat_map(|arguments| &arguments.args) {
            if let Value::Class(base) = self.eval(base) {
                class.bases.push(base);
            }
        }
        class.bases.truncate(BASES_MAX);
        let scope = self.scopes.at(definition.range()).unwrap_or_default();
        let outer = self.frames.len() - 1;
        let id = self.next_frame;
        self.next_frame += 1;
        self.frames.push(Frame { id, scope, outer, start: None, returns: Vec::new(), yields: None });
        let reach = self.body(&definition.body);
        self.frames.pop();
        for stmt in &definition.body {
            match stmt {
                Stmt::FunctionDef(function) => {
                    let name = function.name.as_str();
                    let value = self.state.get(self.state.slot(id, name)).cloned().unwrap_or(Value::Unknown);
                    class.methods.insert(name, (value, method_kind(function)));
                }
                Stmt::AnnAssign(assign) => {
                    if let Expr::Name(name) = &*assign.target {
                        class.fields.push(name.id.as_str());
                        self.class_attribute(&mut class, id, name.id.as_str());
                    }
                }
                Stmt::Assign(assign) => {
                    for name in assign.targets.iter().flat_map(super::expressions::target_names) {
                        self.class_attribute(&mut class, id, name);
                    }
                }
                _ => {}
            }
        }
        let index = *self.class_index.entry(definition.range()).or_insert(self.classes.len());
        if index == self.classes.len() {
            self.classes.push(class);
        }
        let value = Value::Class(index);
        let value = self.decorated(&definition.decorator_list, value);
        self.set_variable(definition.name.as_str(), value, definition.name.range());
        reach
    }

    fn class_attribute(&self, class: &mut Class<'a>, frame: u32, name: &'a str) {
        if let Some(value) = self.state.get(self.state.slot(frame, name)) {
            class.attributes.insert(name, value.clone());
        }
    }

    /// `Cart(rows)`
    pub(super) fn new_instance(&mut self, class: usize, args: &Args<'a>) -> Value<'a> {
        let instance = Value::Instance(class);
        if let Some((method, _)) = self.find_method(class, "__init__") {
            let _ = self.call_method(&method, Some(instance.clone()), args);
            return instance;
        }
        let fields = self.classes[class].fields.clone();
        for (index, (_, value)) in args.positional.iter().enumerate() {
            match fields.get(index) {
                Some(field) => self.set_attribute(class, field, value.clone()),
                None => self.consume(value),
            }
        }
        for (name, _, value) in &args.named {
            self.set_attribute(class, name, value.clone());
        }
        if let Some((method, _)) = self.find_method(class, "__post_init__") {
            let _ = self.call_method(&method, Some(instance.clone()), &Args::default());
        }
        instance
    }

    /// A method of an instance, or of the class itself.
    pub(super) fn class_call(
        &mut self,
        receiver: &Value<'a>,
        class: usize,
        name: &'a str,
        args: &Args<'a>,
    ) -> Value<'a> {
        let Some((method, kind)) = self.find_method(class, name) else {
            let value = self.attribute(receiver, name, TextRange::default());
            return self.invoke(&value, args, TextRange::default());
        };
        // `Class.method(instance)` gives the instance itself; a class method gets the class.
        let is_bound = matches!(receiver, Value::Instance(_)) && kind != MethodKind::Static;
        self.call_method(&method, is_bound.then(|| receiver.clone()), args)
    }

    fn call_method(&mut self, method: &Value<'a>, receiver: Option<Value<'a>>, args: &Args<'a>) -> Value<'a> {
        let mut bound = args.copy();
        if let Some(receiver) = receiver {
            bound.positional.insert(0, (TextRange::default(), receiver));
        }
        self.invoke(method, &bound, TextRange::default())
    }

    fn find_method(&self, class: usize, name: &str) -> Option<(Value<'a>, MethodKind)> {
        let mut waiting = vec![class];
        let mut seen = 0;
        while let Some(at) = waiting.pop() {
            if let Some(found) = self.classes[at].methods.get(name) {
                return Some(found.clone());
            }
            // A class may list the same base many times over; no real hierarchy is that large.
            seen += 1;
            if seen < BASES_MAX * BASES_MAX {
                waiting.extend(self.classes[at].bases.iter().rev());
            }
        }
        None
    }

    /// `instance.name`
    pub(super) fn instance_attribute(&mut self, receiver: &Value<'a>, class: usize, name: &str) -> Value<'a> {
        match self.find_method(class, name) {
            Some((method, MethodKind::Property)) => {
                self.call_method(&method, Some(receiver.clone()), &Args::default())
            }
            // A method that is handed on is called with what it is given later.
            Some((Value::Function(function), _)) => {
                self.call_with_unknown(function);
                Value::Unknown
            }
            Some(_) => Value::Unknown,
            None => self.classes[class].attributes.get(name).cloned().unwrap_or(Value::Unknown),
        }
    }

    /// `instance.name = value`
    pub(super) fn set_attribute(&mut self, class: usize, name: &'a str, value: Value<'a>) {
        let known = self.classes[class].attributes.remove(name).unwrap_or(Value::Never);
        self.classes[class].attributes.insert(name, known.join(value));
    }
}

fn method_kind(function: &ast::StmtFunctionDef) -> MethodKind {
    for decorator in &function.decorator_list {
        match &decorator.expression {
            Expr::Name(name) if name.id.as_str() == "staticmethod" => return MethodKind::Static,
            Expr::Name(name) if matches!(name.id.as_str(), "property" | "cached_property") => {
                return MethodKind::Property;
            }
            Expr::Attribute(attribute) if &attribute.attr == "cached_property" => {
                return MethodKind::Property;
            }
            _ => {}
        }
    }
    MethodKind::Plain
}
