//! Steps that run for every item of a list, or of lists within lists.

use ordain_planner::StepBrief;
use ordain_types::{ITEM, Trouble};
use serde_json::{Map, Value};

use crate::outcome::broken;

/// Runs of one step, all lists together.
const TURNS_MAX: usize = 100;

/// The runs of one step.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// What the program finds in `inputs`, run by run.
    pub(crate) inputs: Vec<Map<String, Value>>,
    /// The lists that were gone through, with the number of a run in place of each item.
    shape: Value,
}

impl Turns {
    /// The runs of a step: one, or one for each item.
    pub(crate) fn of(step: &StepBrief) -> Result<Self, Trouble> {
        let mut turns = Self::default();
        turns.shape = turns.within(step, &mut Vec::new())?;
        Ok(turns)
    }

    /// Adds the runs below the items that are chosen already, the outermost first.
    fn within<'s>(
        &mut self,
        step: &'s StepBrief,
        chosen: &mut Vec<(usize, &'s Value)>,
    ) -> Result<Value, Trouble> {
        if chosen.len() == step.step.each.len() {
            if self.inputs.len() == TURNS_MAX {
                let message = format!("the step would run for more than {TURNS_MAX} items");
                return Err(broken("too-many-items", message, "give a shorter list in an earlier step"));
            }
            self.inputs.push(inputs(step, chosen));
            return Ok(Value::from(self.inputs.len() - 1));
        }
        let mut shape = Vec::new();
        for (place, item) in list(step, chosen)?.iter().enumerate() {
            chosen.push((place, item));
            shape.push(self.within(step, chosen)?);
            chosen.pop();
        }
        Ok(Value::Array(shape))
    }

    /// What the runs gave, in lists like those that they went through.
    pub(crate) fn together(self, results: &mut [Value]) -> Value {
        filled(self.shape, results)
    }
}

fn filled(shape: Value, results: &mut [Value]) -> Value {
    match shape {
        Value::Array(list) => list.into_iter().map(|shape| filled(shape, results)).collect(),
        shape => {
            let run = shape.as_u64().and_then(|run| usize::try_from(run).ok());
            run.and_then(|run| results.get_mut(run)).map(Value::take).unwrap_or_default()
        }
    }
}

/// The list that comes next. If its step ran for each of the items that are chosen, that is the part which belongs to them.
fn list<'s>(step: &'s StepBrief, chosen: &[(usize, &Value)]) -> Result<&'s Vec<Value>, Trouble> {
    let names = &step.step.each;
    let name = &names[chosen.len()];
    let mut list = step.inputs.get(name);
    if step.outline.step(name).is_some_and(|giver| giver.each == names[..chosen.len()]) {
        for (place, _) in chosen {
            list = list.and_then(|list| list.get(*place));
        }
    }
    list.and_then(Value::as_array).ok_or_else(|| {
        let message = format!("the step runs for each item of what `{name}` gave, which is no list");
        broken("each-not-a-list", message, "give a list in that step")
    })
}

fn inputs(step: &StepBrief, chosen: &[(usize, &Value)]) -> Map<String, Value> {
    let mut inputs = step.inputs.clone();
    let item = match chosen {
        [] => return inputs,
        [(_, one)] => (*one).clone(),
        several => {
            step.step.each.iter().cloned().zip(several.iter().map(|(_, item)| (*item).clone())).collect()
        }
    };
    inputs.insert(ITEM.to_owned(), item);
    inputs
}

#[cfg(test)]
mod tests {
    use ordain_types::Outline;
    use serde_json::json;

    use super::*;

    /// A step for each order of each customer; `orders` is what the step of that name gave.
    fn step(each: &Value, orders: &Value) -> StepBrief {
        let outline = json!({ "goal": "g", "steps": [
            { "id": "customers", "title": "t" },
            { "id": "orders", "title": "t", "each": "customers" },
            { "id": "months", "title": "t" },
            { "id": "mail", "title": "t", "each": each },
        ]});
        let outline = Outline::read(outline).unwrap();
        let step = outline.step("mail").unwrap().clone();
        let inputs = json!({ "customers": ["Ada", "Ben"], "orders": orders, "months": [1, 2] });
        StepBrief { outline, step, inputs: inputs.as_object().unwrap().clone(), is_last: false }
    }

    fn items(turns: &Turns) -> Vec<Value> {
        turns.inputs.iter().map(|inputs| inputs[ITEM].clone()).collect()
    }

    #[test]
    fn lists_within_lists_are_gone_through_and_give_lists_within_lists() {
        let turns = Turns::of(&step(&json!("customers"), &json!([]))).unwrap();
        assert_eq!(items(&turns), [json!("Ada"), json!("Ben")]);
        // Ada has two orders, Ben has none.
        let turns = Turns::of(&step(&json!(["customers", "orders"]), &json!([[7, 8], []]))).unwrap();
        let ada = |order: u64| json!({ "customers": "Ada", "orders": order });
        assert_eq!(items(&turns), [ada(7), ada(8)]);
        assert_eq!(turns.together(&mut [json!("x"), json!("y")]), json!([["x", "y"], []]));
        // A list that belongs to nobody is gone through for everybody.
        let turns = Turns::of(&step(&json!(["customers", "months"]), &json!([]))).unwrap();
        assert_eq!(turns.inputs.len(), 4);
        assert_eq!(turns.together(&mut [1, 2, 3, 4].map(Value::from)), json!([[1, 2], [3, 4]]));
    }

    #[test]
    fn too_many_items_and_what_is_no_list_are_refused() {
        let refused = |each: Value, orders: Value| Turns::of(&step(&each, &orders)).unwrap_err().code;
        let fifty_one: Vec<u64> = (0..51).collect();
        assert_eq!(refused(json!(["customers", "orders"]), json!([fifty_one, fifty_one])), "too-many-items");
        assert_eq!(refused(json!(["customers", "orders"]), json!([[], 3])), "each-not-a-list");
        assert_eq!(refused(json!("orders"), json!({ "a": 1 })), "each-not-a-list");
    }
}
