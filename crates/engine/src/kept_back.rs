//! What is kept back of a run while a reviewer looks at its change, or while its sentence is written anew. No transaction
//! is open meanwhile, and what is committed then is what was looked at.

use ordain_planner::{Did, Exchange};
use ordain_store::{Intent, Pending, StoreError, Transaction};
use ordain_types::{Diff, HeldBy, RunRecord, Trouble};
use ordain_verify::claims::{self, Evidence};

use crate::error::EngineError;
use crate::outcome::{broken_rules, violated};
use crate::rounds::{Accepted, Kept, Tried, Try};
use crate::story::{Attempt, Story};
use crate::terms::Reach;
use crate::trial::{RunTrial, roll_back};

/// What code did, until it is settled.
#[derive(Debug, Default)]
pub(crate) struct KeptBack {
    pub(crate) pending: Pending,
    pub(crate) attempt: Attempt,
    pub(crate) evidence: Evidence,
    /// What is wrong with its answer.
    pub(crate) wording: Option<Trouble>,
    /// The rule by which it waits for a person.
    pub(crate) held_by: Option<HeldBy>,
    /// The version of the rows when the code began.
    pub(crate) version: u64,
    /// Whether a reviewer sees the change.
    pub(crate) reviews: bool,
}

impl KeptBack {
    /// What others are shown of it.
    pub(crate) fn shown(&self) -> Kept<RunRecord> {
        let attempt = &self.attempt;
        let answer = attempt.answer.text.clone().unwrap_or_default();
        Kept::Back {
            did: self.has_changes().then(|| {
                Box::new(Did {
                    diff: attempt.diff.clone(),
                    calls: attempt.calls.clone(),
                    status: attempt.status.clone(),
                    answer: attempt.answer.text.clone(),
                })
            }),
            wording: self.wording.clone().map(|trouble| (answer, trouble)),
        }
    }

    fn has_changes(&self) -> bool {
        !self.pending.is_empty() || self.attempt.has_later_calls()
    }
}

impl RunTrial<'_> {
    /// Whether something can be kept back. To a table in place anybody may write without our knowing, so its rows cannot
    /// be compared later.
    pub(crate) async fn can_keep_back(&mut self, accepted: &Accepted) -> Result<bool, EngineError> {
        self.reviewed = None;
        let has_changes = self.terms.reach == Reach::Writes;
        Ok(has_changes && !(accepted.effects.may_write && self.has_tables_in_place().await?))
    }

    /// Keeps what was done, if the change keeps the rules.
    pub(crate) async fn keep(
        &mut self,
        transaction: Option<Transaction>,
        mut kept: KeptBack,
    ) -> Result<Option<Tried<RunRecord>>, EngineError> {
        if let Some(mut open) = transaction {
            let review = open.review().await?;
            kept.pending = open.pending();
            roll_back(Some(open)).await?;
            if !review.violations.is_empty() {
                kept.attempt.invariants = broken_rules(&review.violations);
                return Ok(Some(violated(&review.violations, kept.attempt)));
            }
            kept.attempt.diff = review.diff;
        }
        self.kept = Some(kept);
        Ok(None)
    }

    /// Settles what was kept back; `None` if rows were changed since the code ran, or the database went away, so that it
    /// has to run again.
    pub(crate) async fn settle_back(
        &mut self,
        Try { accepted, exchange, .. }: Try<'_>,
        story: &mut Story,
        sentence: Option<String>,
    ) -> Result<Option<Tried<RunRecord>>, EngineError> {
        let Some(mut kept) = self.kept.take() else { return Ok(None) };
        self.reviewed = kept.reviews.then(|| kept.attempt.diff.clone());
        if let Some(trouble) = kept.wording.take() {
            self.reword(&mut kept, &trouble, sentence, accepted, story);
        }
        match self.lay_kept(kept, story, exchange).await {
            Err(EngineError::Store(
                StoreError::Conflict | StoreError::RowsConflict { .. } | StoreError::Unreachable { .. },
            )) => Ok(None),
            settled => settled,
        }
    }

    /// Takes a better sentence, or a plain one where the better one is not shown by the rows either.
    fn reword(
        &self,
        kept: &mut KeptBack,
        trouble: &Trouble,
        sentence: Option<String>,
        accepted: &Accepted,
        story: &mut Story,
    ) {
        let KeptBack { attempt, evidence, .. } = kept;
        let diff = attempt.diff.clone();
        let said = std::mem::replace(&mut attempt.answer.text, sentence);
        let is_wrong = attempt.answer.text.is_none()
            || self.unsupported(attempt, &diff, evidence, accepted).is_some()
            || self
                .told(attempt, &diff, accepted)
                .is_some_and(|told| claims::unsupported_in_text(told, evidence).is_some());
        if !is_wrong {
            return story.reworded(said, trouble);
        }
        attempt.answer.text = Some(claims::plain_answer(&diff, &attempt.actions_said));
        story.replaced(said, trouble);
    }

    async fn lay_kept(
        &self,
        kept: KeptBack,
        story: &mut Story,
        exchange: &Exchange,
    ) -> Result<Option<Tried<RunRecord>>, EngineError> {
        if !kept.has_changes() {
            return self.settle(story, kept.attempt, None, exchange, None).await.map(Some);
        }
        if self.engine.store.data_version().await? != kept.version {
            return Ok(None);
        }
        let mut transaction = self.begin_over(&kept.pending, Intent::Write).await?;
        for call in &kept.attempt.calls {
            transaction.note_call(call.clone());
        }
        self.settle(story, kept.attempt, Some(transaction), exchange, kept.held_by).await.map(Some)
    }

    /// Whether the code, which had to run again, makes another change than the one that was reviewed. It then waits for a
    /// person.
    pub(crate) fn differs_from_review(&self, diff: &Diff, story: &mut Story) -> bool {
        let differs =
            self.reviewed.as_ref().is_some_and(|reviewed| !self.are_derived(&reviewed.differences(diff)));
        if differs {
            let message = "rows were changed by others during the review, and the change is another one now";
            story.warned("changed-since-review", message, "it waits for a person to approve it");
        }
        differs
    }
}
