//! What the ledger keeps of a run besides its record.

use std::sync::atomic::Ordering;

use ordain_planner::Exchange;
use ordain_store::EntryNote;
use serde_json::{Value, json};

use crate::trial::RunTrial;

impl RunTrial<'_> {
    /// The note for the run's entry.
    pub(crate) fn note(&self, exchange: &Exchange) -> EntryNote {
        let order = &self.terms.order;
        let mut detail = self.terms.detail.clone();
        if !detail["files"].is_null() {
            let files = self.prepared.files.iter().map(|file| self.file_note(&file.name));
            detail["files"] = files.collect();
        }
        if !self.prepared.refused.is_empty() {
            detail["files_refused"] = json!(self.prepared.refused);
        }
        detail["limits"] = json!(self.engine.store.limits());
        detail["plan"] = json!(order.plan.map(|plan| &plan.name));
        detail["brief_sha256"] = json!(self.brief_hash);
        if !exchange.messages.is_empty() {
            detail["exchange"] = json!(exchange.messages);
        }
        if let Value::Object(fields) = &mut detail {
            fields.retain(|_, value| !value.is_null());
        }
        EntryNote {
            detail,
            claim: order.origin.idempotency_key.clone(),
            plan: self.plan_id.clone(),
            has_progress: self.has_progress.load(Ordering::Relaxed),
            ..EntryNote::by(&order.origin.who, &order.origin.through)
        }
    }

    /// What the ledger keeps of a file: enough to tell whether another one is the same.
    fn file_note(&self, name: &str) -> Value {
        let mut note = json!({ "name": name, "sha256": self.prepared.hashes.get(name) });
        // Files that are typed about were not looked into.
        if let Some(brief) = self.prepared.briefs.iter().find(|brief| brief.name == name) {
            note["bytes"] = json!(brief.bytes);
            note["kind"] = json!(brief.kind);
        }
        note
    }
}
