//! Other ways of answering that models know from elsewhere, rewritten into ours.

use ordain_verify::glance;

/// Rewrites `final_answer(x)` and `result = {"type": …, "value": …}`, where the code does not set `answer_text`.
pub(super) fn resolved(code: String, modifications: &mut Vec<String>) -> String {
    let Some(seen) = glance(&code).filter(|seen| !seen.assigned.contains("answer_text")) else { return code };
    let status = if seen.assigned.contains("STATUS") { "" } else { "; STATUS = \"success\"" };
    let calls: Vec<_> = seen.calls.iter().filter(|call| call.name == "final_answer").collect();
    if !calls.is_empty() {
        let mut code = code;
        // From the end, so that earlier places stay where they are.
        for call in calls.iter().rev() {
            let argument = &code[call.argument.clone()];
            let better = format!("answer_text = str({argument}){status}");
            code.replace_range(call.statement.clone(), &better);
        }
        modifications.push("`final_answer(…)` was taken as `answer_text`".to_owned());
        return code;
    }
    if seen.result_keys.contains("type") && seen.result_keys.contains("value") {
        modifications.push("`result[\"value\"]` was taken as `answer_text`".to_owned());
        return format!("{}\nanswer_text = str(result[\"value\"]){status}\n", code.trim_end());
    }
    code
}
