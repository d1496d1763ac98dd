//! Functions and lambdas of the program: walked where they are called, with what they are given.

use ruff_python_ast::{ExprLambda, Parameters, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged as _, TextRange};

use super::calls::Args;
use super::state::Reach;
use super::value::Value;
use super::{Flow, Frame};
use crate::names::scopes::{MODULE, ScopeId};

/// A function of the program.
pub(super) struct Function<'a> {
    pub(super) definition: Definition<'a>,
    scope: ScopeId,
    /// The frame in which it was defined, by id.
    outer: u32,
    /// The loops that were running when it was made, with their variables.
    pub(super) loops: Vec<(TextRange, Vec<&'a str>)>,
    defaults: Vec<(&'a str, Value<'a>)>,
    pub(super) was_called: bool,
    /// Of a class: that it is called is not seen.
    pub(super) is_method: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Definition<'a> {
    Function(&'a StmtFunctionDef),
    Lambda(&'a ExprLambda),
}

/// Calls inside calls; deeper ones are walked on their own.
const CALLS_MAX: usize = 8;

/// What one call may need of the stack, beyond what is left for its own expressions.
const STACK_RED_ZONE: usize = 256 * 1024;
const STACK_SEGMENT: usize = 4 * 1024 * 1024;

impl<'a> Flow<'a, '_, '_, '_> {
    /// A function or lambda is made.
    pub(super) fn define(&mut self, definition: Definition<'a>, range: TextRange) -> Value<'a> {
        let parameters = match definition {
            Definition::Function(function) => Some(&*function.parameters),
            Definition::Lambda(lambda) => lambda.parameters.as_deref(),
        };
        let mut defaults = Vec::new();
        for parameter in parameters.into_iter().flat_map(Parameters::iter) {
            if let Some(default) = parameter.default() {
                let value = self.eval(default);
                defaults.push((parameter.name().as_str(), value));
            }
        }
        let loops = self.loops.iter().map(|active| (active.range, active.targets.clone())).collect();
        let outer = self.frames.last().map_or(0, |frame| frame.id);
        if let Some(&known) = self.function_index.get(&range) {
            let function = &mut self.functions[known];
            (function.outer, function.loops, function.defaults) = (outer, loops, defaults);
            return Value::Function(known);
        }
        let scope = self.scopes.at(range).unwrap_or(MODULE);
        let function =
            Function { definition, scope, outer, loops, defaults, was_called: false, is_method: false };
        self.functions.push(function);
        self.function_index.insert(range, self.functions.len() - 1);
        Value::Function(self.functions.len() - 1)
    }

    /// A class: its methods are walked as functions that nobody calls, and what it holds goes out of sight.
    pub(super) fn class(&mut self, definition: &'a StmtClassDef) -> Reach {
        for base in definition.arguments.iter().flat_map(|arguments| &arguments.args) {
            let value = self.eval(base);
            self.consume(&value);
        }
        let scope = self.scopes.at(definition.range()).unwrap_or_default();
        let (id, outer, mark) = (self.next_frame, self.frames.len() - 1, self.state.mark());
        self.next_frame += 1;
        self.frames.push(Frame { id, scope, outer, start: None, returns: Vec::new(), yields: None });
        let reach = self.body(&definition.body);
        self.frames.pop();
        for value in self.state.snapshot(mark).of_frame(id) {
            match value {
                Value::Function(index) => self.functions[index].is_method = true,
                other => self.consume(&other),
            }
        }
        let value = self.decorated(&definition.decorator_list, Value::Unknown);
        self.set_variable(definition.name.as_str(), value);
        reach
    }

    /// Walks a function with the arguments of one call.
    pub(super) fn call_function(&mut self, index: usize, args: &Args<'a>) -> Value<'a> {
        let is_first = !std::mem::replace(&mut self.functions[index].was_called, true);
        let is_possible = self.calls.len() < CALLS_MAX && !self.calls.contains(&index);
        if !is_possible || !(is_first || self.may_repeat()) {
            args.consume(self);
            return Value::Unknown;
        }
        stacker::maybe_grow(STACK_RED_ZONE, STACK_SEGMENT, || self.enter_function(index, args))
    }

    /// Walks a function as if anything might be given to it, for callbacks and for functions that are never
    /// called. What it does to variables may have happened or not.
    pub(super) fn call_with_unknown(&mut self, index: usize) {
        let is_dead = self.state.is_dead;
        let mark = self.state.mark();
        let _ = self.call_function(index, &Args::unknown());
        let path = self.state.snapshot(mark);
        self.state.roll_back(mark);
        self.state.may_have(&path);
        self.state.is_dead = is_dead;
    }

    fn enter_function(&mut self, index: usize, args: &Args<'a>) -> Value<'a> {
        let Function { definition, scope, outer, .. } = self.functions[index];
        let outer = self.frames.iter().position(|frame| frame.id == outer).unwrap_or_default();
        let id = self.next_frame;
        self.next_frame += 1;
        let start = self.state.mark();
        let frame = Frame { id, scope, outer, start: Some(start), returns: Vec::new(), yields: None };
        self.calls.push(index);
        self.frames.push(frame);
        // A loop outside does not go on inside: `break` cannot cross, and neither does a captured variable.
        let loops = std::mem::take(&mut self.loops);
        let result = match definition {
            Definition::Lambda(lambda) => {
                self.bind_parameters(index, lambda.parameters.as_deref(), args);
                self.eval(&lambda.body)
            }
            Definition::Function(function) => {
                self.bind_parameters(index, Some(&function.parameters), args);
                self.function_body(function)
            }
        };
        self.loops = loops;
        self.frames.pop();
        self.calls.pop();
        result
    }

    fn function_body(&mut self, function: &'a StmtFunctionDef) -> Value<'a> {
        let reach = self.body(&function.body);
        let Some(frame) = self.frames.last_mut() else { return Value::Unknown };
        let (returns, yields) = (std::mem::take(&mut frame.returns), frame.yields.take());
        let Some(start) = frame.start else { return Value::Unknown };
        let mut value = Value::Never;
        let mut paths = Vec::new();
        if reach == Reach::Next {
            paths.push(self.state.snapshot(start));
            value = Value::None;
        }
        for (returned, path) in returns {
            value = value.join(returned);
            paths.push(path);
        }
        self.state.roll_back(start);
        if self.state.meet(&paths) == Reach::Stop {
            self.state.is_dead = true;
        }
        match yields {
            Some(element) => Value::list(element),
            None => value,
        }
    }

    fn bind_parameters(&mut self, index: usize, parameters: Option<&'a Parameters>, args: &Args<'a>) {
        let Some(parameters) = parameters else { return };
        let id = self.frames.last().map_or(0, |frame| frame.id);
        let mut position = 0;
        for parameter in parameters.posonlyargs.iter().chain(&parameters.args) {
            let name = parameter.parameter.name.as_str();
            let given = args.get(name, position).map(|(_, value)| value.clone());
            position += 1;
            self.bind_parameter(index, id, name, given);
        }
        for parameter in &parameters.kwonlyargs {
            let name = parameter.parameter.name.as_str();
            let given = args.named(name).map(|(_, value)| value.clone());
            self.bind_parameter(index, id, name, given);
        }
        if let Some(rest) = &parameters.vararg {
            let values = args.positional.iter().skip(position).map(|(_, value)| value.clone());
            let element = values.reduce(Value::join).unwrap_or(Value::Unknown);
            self.state.set(self.state.slot(id, rest.name.as_str()), Value::list(element));
        }
        if let Some(rest) = &parameters.kwarg {
            let is_free = |name: &str| parameters.find(name).is_none();
            let values =
                args.named.iter().filter(|(name, ..)| is_free(name)).map(|(_, _, value)| value.clone());
            let element = values.reduce(Value::join).unwrap_or(Value::Unknown);
            self.state.set(self.state.slot(id, rest.name.as_str()), Value::map(element));
        }
    }

    fn bind_parameter(&mut self, index: usize, frame: u32, name: &'a str, given: Option<Value<'a>>) {
        let default = || {
            let defaults = &self.functions[index].defaults;
            defaults.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
        };
        let value = given.or_else(default).unwrap_or(Value::Unknown);
        self.state.set(self.state.slot(frame, name), value);
    }
}
