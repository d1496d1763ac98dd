//! Where paths part and meet: conditions, loops, exceptions, cases.

use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::expressions::target_names;
use super::paths::{Declared, Facts, KnownCondition, Point, PointKind, Test, known};
use super::state::{Reach, Snapshot};
use super::value::Value;
use super::{Flow, Loop};

/// The marks of the names that were missing when a branch was entered.
type Marks<'a> = [Rc<[Point<'a>]>; 2];

impl<'a> Flow<'a, '_, '_, '_> {
    /// Walks a branch and takes it back; where it ended, if it goes on.
    fn branch(&mut self, walk: impl FnOnce(&mut Self) -> Reach) -> Option<Snapshot<'a>> {
        let facts = self.state.facts.clone();
        let mark = self.state.mark();
        let reach = walk(self);
        let path = (reach == Reach::Next && !self.state.is_dead).then(|| self.state.snapshot(mark));
        self.state.roll_back(mark);
        self.state.facts = facts;
        self.state.is_dead = false;
        path
    }

    /// Enters a branch on which conditions are known.
    fn enter(&mut self, kind: PointKind, range: TextRange, conditions: &[KnownCondition<'a>]) -> Marks<'a> {
        for condition in conditions {
            self.learn(condition);
        }
        self.state.facts.enter(kind, range, conditions)
    }

    /// What a condition says about the answer and the declared action themselves.
    fn learn(&mut self, condition: &KnownCondition<'a>) {
        let is_none_test = condition.test == Test::Is && condition.right == "None";
        if let Some(tracked) = self.tracked(condition.left) {
            let is_set =
                (condition.test == Test::Truth && condition.holds) || (is_none_test && !condition.holds);
            if is_set {
                self.state.facts.set(tracked);
            }
        }
        let says = match (condition.left, condition.test, condition.right.trim_matches(['"', '\''])) {
            ("SHOULD_MUTATE", Test::Truth, _) | ("ACTION", Test::Equal, "mutate") => Some(condition.holds),
            ("ACTION", Test::Equal, "read") => Some(!condition.holds),
            _ => None,
        };
        if let Some(writes) = says {
            self.state.facts.declared = if writes { Declared::WRITE } else { Declared::READ };
        }
    }

    /// Goes on where branches meet. Where no branch set what was missing, it is missing as before.
    fn meet(&mut self, before: &Facts<'a>, branches: Vec<(Marks<'a>, Option<Snapshot<'a>>)>) -> Reach {
        let branches: Vec<(Marks<'a>, Snapshot<'a>)> =
            branches.into_iter().filter_map(|(marks, path)| path.map(|path| (marks, path))).collect();
        let untouched = |tracked: usize| {
            branches.iter().all(|(marks, path)| Rc::ptr_eq(&marks[tracked], &path.facts.missing[tracked]))
        };
        let untouched = [untouched(0), untouched(1)];
        let paths: Vec<Snapshot<'a>> = branches.into_iter().map(|(_, path)| path).collect();
        let reach = self.state.meet(&paths);
        for (tracked, is_untouched) in untouched.into_iter().enumerate() {
            if is_untouched && reach == Reach::Next {
                self.state.facts.missing[tracked] = before.missing[tracked].clone();
            }
        }
        reach
    }

    pub(super) fn if_statement(&mut self, statement: &'a ast::StmtIf) -> Reach {
        let before = self.state.facts.clone();
        let mut branches = Vec::new();
        let mut failed: Vec<KnownCondition<'a>> = Vec::new();
        let mut last_test = &*statement.test;
        let mut clauses: Vec<(Option<&'a Expr>, &'a [Stmt])> = vec![(Some(&statement.test), &statement.body)];
        clauses.extend(
            statement.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), &clause.body[..])),
        );
        let mut is_complete = false;
        for (test, body) in clauses {
            let (kind, conditions) = match test {
                Some(test) => {
                    let _ = self.eval(test);
                    last_test = test;
                    let mut conditions = failed.clone();
                    conditions.extend(known(test, true, self.source));
                    (PointKind::Holds, conditions)
                }
                None => (PointKind::Fails, failed.clone()),
            };
            let always = test.map(Self::constant);
            if always != Some(Some(false)) {
                let mut marks = None;
                let path = self.branch(|flow| {
                    marks = Some(flow.enter(kind, last_test.range(), &conditions));
                    flow.body(body)
                });
                branches.extend(marks.map(|marks| (marks, path)));
            }
            if test.is_none() || always == Some(Some(true)) {
                is_complete = true;
                break;
            }
            failed.extend(test.map(|test| known(test, false, self.source)).unwrap_or_default());
            failed.truncate(16);
        }
        if !is_complete {
            let mut marks = None;
            let path = self.branch(|flow| {
                marks = Some(flow.enter(PointKind::Fails, last_test.range(), &failed));
                Reach::Next
            });
            branches.extend(marks.map(|marks| (marks, path)));
        }
        self.meet(&before, branches)
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
        self.run_loop(
            statement.range(),
            statement.iter.range(),
            targets,
            is_never_empty,
            &statement.orelse,
            |flow| {
                flow.assign(&statement.target, element.clone());
                flow.body(&statement.body)
            },
        )
    }

    pub(super) fn while_statement(&mut self, statement: &'a ast::StmtWhile) -> Reach {
        let _ = self.eval(&statement.test);
        let is_endless = Self::constant(&statement.test) == Some(true);
        self.run_loop(statement.range(), statement.test.range(), &[], is_endless, &statement.orelse, |flow| {
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
        head: TextRange,
        targets: &[&'a str],
        is_never_empty: bool,
        orelse: &'a [Stmt],
        mut turn: impl FnMut(&mut Self) -> Reach,
    ) -> Reach {
        let before = self.state.facts.clone();
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
            self.state.facts = before.clone();
            self.state.is_dead = false;
            if turns > 0 {
                for path in &ended {
                    self.state.may_have(path);
                }
                continue;
            }
            return self.after_loop(
                &before,
                head,
                ended,
                active.breaks,
                (is_never_empty, is_endless_while),
                orelse,
            );
        }
    }

    fn after_loop(
        &mut self,
        before: &Facts<'a>,
        head: TextRange,
        ended: Vec<Snapshot<'a>>,
        mut breaks: Vec<Snapshot<'a>>,
        (is_never_empty, is_endless): (bool, bool),
        orelse: &'a [Stmt],
    ) -> Reach {
        let sets = |tracked: usize| {
            ended
                .iter()
                .chain(&breaks)
                .any(|path| !Rc::ptr_eq(&path.facts.missing[tracked], &before.missing[tracked]))
        };
        let sets = [sets(0), sets(1)];
        let start = self.state.mark();
        if !is_endless {
            let mut normal = ended;
            if !is_never_empty {
                // The loop may run no time at all.
                let mut skipped = self.state.snapshot(start);
                let marks = skipped.facts.enter(PointKind::NoTurn, head, &[]);
                for tracked in 0..2 {
                    skipped.facts.missing[tracked] =
                        if sets[tracked] { marks[tracked].clone() } else { before.missing[tracked].clone() };
                }
                normal.push(skipped);
            }
            let path = self.branch(|flow| {
                if flow.state.meet(&normal) == Reach::Stop { Reach::Stop } else { flow.body(orelse) }
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
        let before = self.state.facts.clone();
        let start = self.state.mark();
        let reach = self.body(&statement.body);
        let after_body = self.state.snapshot(start);
        let goes_on = reach == Reach::Next && !self.state.is_dead;
        self.state.roll_back(start);
        self.state.facts = before.clone();
        self.state.is_dead = false;
        let marks = before.missing.clone();
        let mut branches = Vec::new();
        if goes_on {
            let path = self.branch(|flow| {
                let _ = flow.state.meet(std::slice::from_ref(&after_body));
                flow.body(&statement.orelse)
            });
            branches.push((marks, path));
        }
        for handler in &statement.handlers {
            let ast::ExceptHandler::ExceptHandler(handler) = handler;
            let mut marks = None;
            let path = self.branch(|flow| {
                // The exception may have come at any point of the body.
                flow.state.may_have(&after_body);
                let head = handler.type_.as_ref().map_or(handler.range(), |caught| caught.range());
                marks = Some(flow.enter(PointKind::Caught, head, &[]));
                if let Some(name) = &handler.name {
                    flow.set_variable(name.as_str(), Value::Unknown, name.range());
                }
                flow.body(&handler.body)
            });
            branches.extend(marks.map(|marks| (marks, path)));
        }
        let reach = self.meet(&before, branches);
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
        let before = self.state.facts.clone();
        let mut branches = Vec::new();
        let mut is_complete = false;
        for case in &statement.cases {
            let mut marks = None;
            let path = self.branch(|flow| {
                for name in pattern_names(&case.pattern) {
                    flow.set_variable(name, Value::Unknown, case.pattern.range());
                }
                if let Some(guard) = &case.guard {
                    let _ = flow.eval(guard);
                }
                marks = Some(flow.enter(PointKind::Case, case.pattern.range(), &[]));
                flow.body(&case.body)
            });
            branches.extend(marks.map(|marks| (marks, path)));
            is_complete |= case.guard.is_none() && case.pattern.is_irrefutable();
        }
        if !is_complete {
            let mut marks = None;
            let path = self.branch(|flow| {
                marks = Some(flow.enter(PointKind::NoCase, statement.subject.range(), &[]));
                Reach::Next
            });
            branches.extend(marks.map(|marks| (marks, path)));
        }
        self.meet(&before, branches)
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
