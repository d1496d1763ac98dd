//! Where paths part and meet: conditions, loops, exceptions, cases.

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::expressions::target_names;
use super::state::{Reach, Snapshot};
use super::value::Value;
use super::{Flow, Loop};

impl<'a> Flow<'a, '_, '_, '_> {
    /// Walks a branch and takes it back; where it ended, if it goes on.
    fn branch(&mut self, walk: impl FnOnce(&mut Self) -> Reach) -> Option<Snapshot<'a>> {
        let mark = self.state.mark();
        let reach = walk(self);
        let path = (reach == Reach::Next && !self.state.is_dead).then(|| self.state.snapshot(mark));
        self.state.roll_back(mark);
        self.state.is_dead = false;
        path
    }

    pub(super) fn if_statement(&mut self, statement: &'a ast::StmtIf) -> Reach {
        let mut paths = Vec::new();
        let mut clauses: Vec<(Option<&'a Expr>, &'a [Stmt])> = vec![(Some(&statement.test), &statement.body)];
        clauses.extend(
            statement.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), &clause.body[..])),
        );
        let mut is_complete = false;
        for (test, body) in clauses {
            let always = test.and_then(|test| {
                let _ = self.eval(test);
                Self::constant(test)
            });
            if always != Some(false) {
                paths.extend(self.branch(|flow| flow.body(body)));
            }
            if test.is_none() || always == Some(true) {
                is_complete = true;
                break;
            }
        }
        if !is_complete {
            paths.extend(self.branch(|_| Reach::Next));
        }
        self.state.meet(&paths)
    }

    /// The value of a condition that is known before the program runs.
    fn constant(test: &Expr) -> Option<bool> {
        match test {
            Expr::BooleanLiteral(literal) => Some(literal.value),
            Expr::NumberLiteral(literal) => match &literal.value {
                ast::Number::Int(number) => number.as_u8().map(|number| number != 0),
                _ => None,
            },
            // A plan is the main program.
            Expr::Compare(compare) => {
                let is_main = matches!(&*compare.left, Expr::Name(name) if name.id.as_str() == "__name__")
                    && matches!(compare.comparators.first(), Some(Expr::StringLiteral(literal)) if literal.value.to_str() == "__main__");
                is_main.then_some(compare.ops[0] == ast::CmpOp::Eq)
            }
            _ => None,
        }
    }

    /// How often the body of a loop is walked: twice, so that what one turn leaves reaches the next.
    fn turns(&self) -> usize {
        if self.loops.len() < 2 && self.may_repeat() { 2 } else { 1 }
    }

    pub(super) fn for_statement(&mut self, statement: &'a ast::StmtFor) -> Reach {
        let values = self.eval(&statement.iter);
        let element = self.element(&values);
        let is_never_empty = match &*statement.iter {
            Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                !elts.is_empty()
            }
            _ => false,
        };
        let targets = &target_names(&statement.target);
        self.run_loop(statement.range(), targets, is_never_empty, &statement.orelse, |flow| {
            flow.assign(&statement.target, element.clone());
            flow.body(&statement.body)
        })
    }

    pub(super) fn while_statement(&mut self, statement: &'a ast::StmtWhile) -> Reach {
        let _ = self.eval(&statement.test);
        let is_endless = Self::constant(&statement.test) == Some(true);
        self.run_loop(statement.range(), &[], is_endless, &statement.orelse, |flow| {
            let reach = flow.body(&statement.body);
            if reach == Reach::Next {
                let _ = flow.eval(&statement.test);
            }
            // An endless loop is left by `break` alone.
            if is_endless && reach == Reach::Next { flow.leave_turn(false) } else { reach }
        })
    }

    /// Walks a loop: its body, the turn that never happens, and what follows.
    fn run_loop(
        &mut self,
        range: TextRange,
        targets: &[&'a str],
        is_never_empty: bool,
        orelse: &'a [Stmt],
        mut turn: impl FnMut(&mut Self) -> Reach,
    ) -> Reach {
        let is_endless_while = is_never_empty && targets.is_empty();
        let mut turns = self.turns();
        loop {
            turns -= 1;
            let start = self.state.mark();
            let active =
                Loop { range, targets: targets.to_vec(), start, breaks: Vec::new(), continues: Vec::new() };
            self.loops.push(active);
            let reach = turn(self);
            let mut ended = Vec::new();
            if reach == Reach::Next && !self.state.is_dead {
                ended.push(self.state.snapshot(start));
            }
            let Some(active) = self.loops.pop() else { return Reach::Stop };
            ended.extend(active.continues);
            self.state.roll_back(start);
            self.state.is_dead = false;
            if turns > 0 {
                for path in &ended {
                    self.state.may_have(path);
                }
                continue;
            }
            return self.after_loop(ended, active.breaks, (is_never_empty, is_endless_while), orelse);
        }
    }

    fn after_loop(
        &mut self,
        mut ended: Vec<Snapshot<'a>>,
        mut breaks: Vec<Snapshot<'a>>,
        (is_never_empty, is_endless): (bool, bool),
        orelse: &'a [Stmt],
    ) -> Reach {
        if !is_endless {
            if !is_never_empty {
                // The loop may run no time at all.
                ended.push(self.state.snapshot(self.state.mark()));
            }
            let path = self.branch(|flow| {
                if flow.state.meet(&ended) == Reach::Stop { Reach::Stop } else { flow.body(orelse) }
            });
            breaks.extend(path);
        }
        self.state.meet(&breaks)
    }

    /// `break` or `continue`
    pub(super) fn leave_turn(&mut self, is_break: bool) -> Reach {
        if let Some(start) = self.loops.last().map(|active| active.start) {
            let path = self.state.snapshot(start);
            if let Some(active) = self.loops.last_mut() {
                let paths = if is_break { &mut active.breaks } else { &mut active.continues };
                paths.push(path);
            }
        }
        Reach::Stop
    }

    pub(super) fn try_statement(&mut self, statement: &'a ast::StmtTry) -> Reach {
        let start = self.state.mark();
        let reach = self.body(&statement.body);
        let after_body = self.state.snapshot(start);
        let goes_on = reach == Reach::Next && !self.state.is_dead;
        self.state.roll_back(start);
        self.state.is_dead = false;
        let mut paths = Vec::new();
        if goes_on {
            paths.extend(self.branch(|flow| {
                let _ = flow.state.meet(std::slice::from_ref(&after_body));
                flow.body(&statement.orelse)
            }));
        }
        for handler in &statement.handlers {
            let ast::ExceptHandler::ExceptHandler(handler) = handler;
            paths.extend(self.branch(|flow| {
                // The exception may have come at any point of the body.
                flow.state.may_have(&after_body);
                if let Some(name) = &handler.name {
                    flow.set_variable(name.as_str(), Value::Unknown);
                }
                flow.body(&handler.body)
            }));
        }
        let reach = self.state.meet(&paths);
        if reach == Reach::Stop {
            // What `finally` does still happens, but nothing follows it.
            let _ = self.branch(|flow| flow.body(&statement.finalbody));
            return Reach::Stop;
        }
        self.body(&statement.finalbody)
    }

    pub(super) fn match_statement(&mut self, statement: &'a ast::StmtMatch) -> Reach {
        let subject = self.eval(&statement.subject);
        self.consume(&subject);
        let mut paths = Vec::new();
        let mut is_complete = false;
        for case in &statement.cases {
            paths.extend(self.branch(|flow| {
                for name in pattern_names(&case.pattern) {
                    flow.set_variable(name, Value::Unknown);
                }
                if let Some(guard) = &case.guard {
                    let _ = flow.eval(guard);
                }
                flow.body(&case.body)
            }));
            is_complete |= case.guard.is_none() && case.pattern.is_irrefutable();
        }
        if !is_complete {
            paths.extend(self.branch(|_| Reach::Next));
        }
        self.state.meet(&paths)
    }
}

/// The names that a pattern binds.
fn pattern_names(pattern: &ast::Pattern) -> Vec<&str> {
    struct Names<'a>(Vec<&'a str>);
    impl<'a> ast::visitor::Visitor<'a> for Names<'a> {
        fn visit_pattern(&mut self, pattern: &'a ast::Pattern) {
            let name = match pattern {
                ast::Pattern::MatchAs(inner) => inner.name.as_ref(),
                ast::Pattern::MatchStar(inner) => inner.name.as_ref(),
                ast::Pattern::MatchMapping(inner) => inner.rest.as_ref(),
                _ => None,
            };
            self.0.extend(name.map(ast::Identifier::as_str));
            ast::visitor::walk_pattern(self, pattern);
        }
    }
    let mut names = Names(Vec::new());
    ast::visitor::Visitor::visit_pattern(&mut names, pattern);
    names.0
}
