//! Follows values through a plan: which table a row comes from, what is written, whether an answer is set at all.
//!
//! That every path sets it is seen when the plan runs: a run without an answer or a status is rolled back.
//!
//! The walk runs the program on *what is known about values* instead of values: both branches of a condition,
//! every loop body once or twice, functions where they are called. It is generous where it cannot know (an
//! unknown value breaks no rule) and careful where effects are concerned (a row that is handed on counts as read
//! whole).

mod branches;
mod calls;
mod columns;
mod conditions;
mod containers;
mod documents;
mod expressions;
mod functions;
mod modules;
mod outcome;
mod shape;
mod sql;
mod state;
mod statements;
mod stores;
mod tables;
mod usage;
mod value;

use ordain_types::Schema;
use ruff_python_ast::Stmt;
use ruff_text_size::TextRange;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::contract::Contract;
use crate::effects::Effects;
use crate::names::scopes::{MODULE, ScopeId, Scopes};
use crate::policy::Policy;
use crate::report::Report;
use functions::Function;
use outcome::{ANSWER, STATUS};
use state::{Mark, Reach, Slot, Snapshot, State};
use usage::{Usage, WriteKind};
use value::{Literal, Value};

/// Judges how the program uses tables and sets its answer, and records its effects.
pub(crate) fn judge<'a>(
    body: &'a [Stmt],
    source: &'a str,
    scopes: &Scopes<'a>,
    policy: &'a Policy,
    schema: &'a Schema,
    report: &mut Report<'_>,
    effects: &mut Effects,
) {
    let mut flow = Flow {
        source,
        scopes,
        policy,
        schema,
        report,
        state: State::new(),
        usage: Usage::new(schema),
        frames: vec![Frame::module()],
        next_frame: 1,
        functions: Vec::new(),
        function_index: FxHashMap::default(),
        calls: Vec::new(),
        loops: Vec::new(),
        steps: 0,
        pending: Vec::new(),
        resolved: FxHashSet::default(),
        is_set: [false; 2],
        has_end: false,
        helper_writes: false,
        escaped: Vec::new(),
        unknown_writes: Vec::new(),
    };
    flow.provide();
    let reach = flow.body(body);
    if reach == Reach::Next && !flow.state.is_dead {
        flow.end_of_program();
    }
    flow.uncalled_functions();
    flow.escaped_writes();
    flow.pending_columns();
    flow.report_outcome(body);
    let Flow { usage, helper_writes, .. } = flow;
    usage.finish(source, schema, effects);
    effects.may_write |= helper_writes;
}

/// The walk's state.
struct Flow<'a, 'r, 's, 't> {
    source: &'a str,
    scopes: &'s Scopes<'a>,
    policy: &'a Policy,
    schema: &'a Schema,
    report: &'r mut Report<'t>,
    state: State<'a>,
    usage: Usage,
    /// The functions that are being called, the module first.
    frames: Vec<Frame<'a>>,
    next_frame: u32,
    functions: Vec<Function<'a>>,
    function_index: FxHashMap<TextRange, usize>,
    /// Indices of the functions on the stack, against endless recursion.
    calls: Vec<usize>,
    loops: Vec<Loop<'a>>,
    /// How much work was done; see [`Flow::may_repeat`].
    steps: usize,
    /// Columns of conditions; those that never reach a table are checked against all.
    pending: Vec<Literal<'a>>,
    resolved: FxHashSet<TextRange>,
    /// Whether the answer, and the status, are set anywhere.
    is_set: [bool; 2],
    /// Whether the program may end without an exception.
    has_end: bool,
    helper_writes: bool,
    /// Tables that were handed to something that cannot be followed.
    escaped: Vec<usize>,
    /// Methods that write, called on something that cannot be followed.
    unknown_writes: Vec<WriteKind>,
}

/// One call of a function.
struct Frame<'a> {
    id: u32,
    scope: ScopeId,
    /// The frame in which the function was defined, by its place on the stack.
    outer: usize,
    start: Option<Mark>,
    returns: Vec<(Value<'a>, Snapshot<'a>)>,
    yields: Option<Value<'a>>,
}

impl Frame<'_> {
    const fn module() -> Self {
        Self { id: 0, scope: MODULE, outer: 0, start: None, returns: Vec::new(), yields: None }
    }
}

/// A loop that is being walked.
struct Loop<'a> {
    range: TextRange,
    targets: Vec<&'a str>,
    start: Mark,
    breaks: Vec<Snapshot<'a>>,
    continues: Vec<Snapshot<'a>>,
}

/// Work up to which loops are walked twice and functions at each call. Beyond it everything is walked once, so
/// that the work stays in proportion to the program.
const GENEROUS_STEPS: usize = 20_000;

impl<'a> Flow<'a, '_, '_, '_> {
    /// Defines what the cell defines.
    fn provide(&mut self) {
        for name in &self.policy.names {
            let value = match name.as_str() {
                "db" => Value::Database,
                "Query" => Value::Member("tinydb.Query".into()),
                "where" => Value::Member("tinydb.where".into()),
                "frame" => Value::Member("ordain.frame".into()),
                "sql" => Value::Member("ordain.sql".into()),
                "files" => Value::Files,
                "artifacts" => Value::WorkPath,
                "user_request" => Value::Text(value::Text::Any),
                _ => Value::Unknown,
            };
            self.state.set(self.state.slot(0, name), value);
        }
        // A request needs both; a check's status is inside its result; other code needs neither.
        if self.policy.contract != Contract::Ask {
            self.is_set[STATUS] = true;
        }
        if !self.policy.contract.is_plan() {
            self.is_set[ANSWER] = true;
        }
        for helper in &self.policy.helpers {
            self.state.set(self.state.slot(0, &helper.name), Value::Helper(&helper.name));
        }
    }

    /// Whether there is still room for walking something a second time.
    fn may_repeat(&self) -> bool {
        self.steps < GENEROUS_STEPS
    }

    /// The name that holds the answer, and the one that holds the status.
    fn tracked(&self, name: &str) -> Option<usize> {
        match (self.policy.contract, name) {
            (Contract::Ask, "answer_text") | (Contract::Check, "result") => Some(ANSWER),
            (Contract::Ask, "STATUS") => Some(STATUS),
            _ => None,
        }
    }

    /// Where a name lives, seen from the current frame. `None`: in a function that has returned.
    fn slot(&self, name: &'a str) -> Option<Slot> {
        let mut at = self.frames.len() - 1;
        let Some(owner) = self.scopes.binding_scope(name, self.frames[at].scope) else {
            // Comprehension variables and provided names.
            return Some(self.state.slot(0, name));
        };
        if owner == MODULE {
            return Some(self.state.slot(0, name));
        }
        loop {
            let frame = &self.frames[at];
            if frame.scope == owner {
                return Some(self.state.slot(frame.id, name));
            }
            if at == 0 {
                return None;
            }
            at = frame.outer;
        }
    }

    /// A table that went out of sight may be what an unknown object writes to.
    fn escaped_writes(&mut self) {
        for &table in &self.escaped {
            for &kind in &self.unknown_writes {
                self.usage.write(table, kind);
                self.usage.write_whole(table);
            }
        }
    }

    /// Walks functions that were never called, as if anything might be given to them.
    fn uncalled_functions(&mut self) {
        let mut index = 0;
        while index < self.functions.len() {
            if !self.functions[index].was_called {
                let (mark, is_set) = (self.state.mark(), self.is_set);
                self.state.is_dead = false;
                self.call_with_unknown(index);
                self.state.roll_back(mark);
                if !self.functions[index].is_method {
                    self.is_set = is_set;
                }
            }
            index += 1;
        }
    }
}
