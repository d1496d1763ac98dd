//! The stages of a run as one bar: plan → verify → run → rules → approve → commit.

use maud::{Markup, html};
use ordain_types::{RunRecord, RunState};

/// How far a stage came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Done,
    Failed,
    Waits,
    NotReached,
    NotNeeded,
}

impl Stage {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Done => ("done", "done"),
            Self::Failed => ("failed", "stopped here"),
            Self::Waits => ("waits", "waits"),
            Self::NotReached => ("idle", "not reached"),
            Self::NotNeeded => ("idle", "not needed"),
        }
    }
}

/// The bar.
pub(super) fn bar(record: &RunRecord, is_approved: bool) -> Markup {
    let stages = stages(record, is_approved);
    html! {
        ol.stages aria-label="Stages" {
            @for (name, stage) in stages {
                @let (class, words) = stage.words();
                li class=(class) { span.dot aria-hidden="true" {} strong { (name) } span.muted { (words) } }
            }
        }
    }
}

fn stages(record: &RunRecord, is_approved: bool) -> [(&'static str, Stage); 6] {
    use Stage::{Done, Failed, NotNeeded, NotReached, Waits};
    let has_plan = !record.plan.steps.is_empty();
    let is_accepted = record.verdict.accepted && has_plan;
    let has_run = is_accepted && record.outcome.error.is_none();
    let breaks = record.invariants.iter().any(|invariant| !invariant.holds);
    let is_refused = has_run && record.state == RunState::RolledBack && record.error.is_some();
    let after = |reached: bool, stage: Stage| if reached { stage } else { NotReached };
    let approve = match record.state {
        RunState::Held | RunState::Waiting => Waits,
        RunState::Rejected if has_run => Failed,
        RunState::Conflicted => Failed,
        _ => after(has_run, if is_approved { Done } else { NotNeeded }),
    };
    let commit = match record.state {
        RunState::Committed | RunState::Undone => Done,
        RunState::Answered | RunState::Declined => NotNeeded,
        _ => NotReached,
    };
    let rules =
        if breaks || is_refused { Failed } else { after(has_run && record.state != RunState::Failed, Done) };
    [
        (
            "Plan",
            if has_plan {
                Done
            } else if record.error.is_some() {
                Failed
            } else {
                NotNeeded
            },
        ),
        ("Verify", after(has_plan, if record.verdict.accepted { Done } else { Failed })),
        ("Run", after(is_accepted, if record.outcome.error.is_none() { Done } else { Failed })),
        ("Rules", rules),
        ("Approve", approve),
        ("Commit", commit),
    ]
}

#[cfg(test)]
mod tests {
    use ordain_types::{Cause, CodeError, RunId, RunKind, StepRecord, StepState};

    use super::*;

    fn shown(change: impl FnOnce(&mut RunRecord)) -> String {
        bar_of(change, false)
    }

    fn bar_of(change: impl FnOnce(&mut RunRecord), is_approved: bool) -> String {
        let mut record = RunRecord::new(RunId("r".to_owned()), RunKind::Ask, "buy");
        record.plan.steps.push(StepRecord {
            id: "1".to_owned(),
            state: StepState::Done,
            ..StepRecord::default()
        });
        record.verdict.accepted = true;
        change(&mut record);
        stages(&record, is_approved).map(|(_, stage)| stage.words().0).join(" ")
    }

    fn failed() -> CodeError {
        CodeError { cause: Cause::Error, kind: None, message: None, line: None }
    }

    #[test]
    fn an_approval_that_was_given_is_not_called_needless() {
        let shown = bar_of(|record| record.state = RunState::Committed, true);
        assert_eq!(shown, "done done done done done done");
    }

    #[test]
    fn the_bar_says_where_a_run_stopped() {
        assert_eq!(shown(|record| record.state = RunState::Committed), "done done done done idle done");
        assert_eq!(shown(|record| record.state = RunState::Held), "done done done done waits idle");
        assert_eq!(shown(|record| record.verdict.accepted = false), "done failed idle idle idle idle");
        assert_eq!(shown(|record| record.outcome.error = Some(failed())), "done done failed idle idle idle");
        assert_eq!(shown(|record| record.state = RunState::Rejected), "done done done done failed idle");
    }
}
