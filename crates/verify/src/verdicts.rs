//! Verdicts on kept plans, remembered while nothing changes that they rest on.
//!
//! A verdict follows from the code, the policy and the schema alone. A kept plan is judged again whenever one of them is
//! another than it was, and only then.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ordain_types::Schema;

use crate::{Policy, Verdict, verify};

/// Verdicts that are remembered; when there are more, all are forgotten.
const KNOWN_MAX: usize = 256;

/// The verdicts on the plans that were used lately.
#[derive(Debug, Default)]
pub struct Verdicts {
    known: Mutex<HashMap<String, Arc<KeptVerdict>>>,
}

#[derive(Debug)]
struct KeptVerdict {
    policy: Policy,
    schema: Schema,
    verdict: Verdict,
}

impl Verdicts {
    /// The verdict on code under a policy and a schema.
    pub fn on(&self, code: &str, policy: &Policy, schema: &Schema) -> Verdict {
        let found = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(code).cloned();
        if let Some(known) = found.filter(|known| known.policy == *policy && known.schema == *schema) {
            return known.verdict.clone();
        }
        let verdict = verify(code, policy, schema);
        let known = KeptVerdict { policy: policy.clone(), schema: schema.clone(), verdict: verdict.clone() };
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= KNOWN_MAX {
            all.clear();
        }
        all.insert(code.to_owned(), Arc::new(known));
        verdict
    }
}

#[cfg(test)]
mod tests {
    use ordain_types::{Column, ColumnType, Table};

    use super::*;
    use crate::Contract;

    const CODE: &str = "rows = items_tbl.all()\nSTATUS = 'success'\nanswer_text = str(rows[0]['name'])\n\
                        answer_rows = [dict(row) for row in rows]\n";

    fn schema(column: &str) -> Schema {
        let column =
            Column { name: column.to_owned(), column_type: ColumnType::Text, nullable: false, hidden: false };
        Schema { tables: vec![Table { name: "items".to_owned(), columns: vec![column], ..Table::default() }] }
    }

    #[test]
    fn a_remembered_verdict_does_not_outlive_the_schema_it_was_given_under() {
        let (verdicts, policy) = (Verdicts::default(), Policy::for_contract(Contract::Ask));
        for _ in 0..2 {
            assert!(verdicts.on(CODE, &policy, &schema("name")).is_accepted());
            assert!(!verdicts.on(CODE, &policy, &schema("title")).is_accepted());
        }
    }

    #[test]
    fn verdicts_are_forgotten_before_they_take_too_much_memory() {
        let (verdicts, policy) = (Verdicts::default(), Policy::for_contract(Contract::Ask));
        for number in 0..=KNOWN_MAX {
            verdicts.on(&format!("{CODE}# {number}\n"), &policy, &schema("name"));
        }
        assert_eq!(verdicts.known.lock().unwrap().len(), 1);
    }
}
