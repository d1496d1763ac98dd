//! The replies of a model that sells in steps, by what it is asked, as one gives them that knows nothing of processes.

use serde_json::json;

/// Takes two Classic out of stock.
pub const SELL: &str = "row = inventory_tbl.get(where('name') == 'Classic')\n\
    inventory_tbl.update({'quantity_in_stock': row['quantity_in_stock'] - 2}, where('name') == 'Classic')\n\
    result = row['quantity_in_stock'] - 2\n";
/// Tells how many are left.
pub const TELL: &str = "left = inventory_tbl.get(where('name') == 'Classic')['quantity_in_stock']\n\
    ACTION, SHOULD_MUTATE = 'mutate', True\n\
    answer_text, STATUS = f'{left} are left.', 'success'\nresult = left";

/// Code as a reply has it.
pub fn program(code: &str) -> String {
    format!("<execute_python>\n{code}\n</execute_python>")
}

/// The reply to a prompt. `sold` is what a step has printed when it has sold.
pub fn reply(asked: &str, sold: &str) -> String {
    let has = |words: &str| asked.contains(words);
    if has("program of step `sell`") {
        program(SELL)
    } else if has("program of step `count`") {
        program("result = len(inventory_tbl)")
    } else if has("program of step `report`") || has(sold) {
        program(TELL)
    } else if has("Wayfarer") && has("Write the next step") {
        program(&format!("{SELL}print('sold', len(names))"))
    } else if has("Work in small steps") {
        program("names = sorted(row['name'] for row in inventory_tbl)\nprint(names)")
    } else {
        let outline = json!({ "goal": "sell and report", "steps": [
            { "id": "sell", "title": "take two Classic out of stock", "check": "result >= 0" },
            { "id": "count", "title": "count the rows" },
            { "id": "report", "title": "tell what is left", "needs": ["sell", "count"] },
        ]});
        format!("<outline>{outline}</outline>")
    }
}
