//! A program that does once what most plans of these rules do first.
//!
//! Python keeps compiled patterns. An executor that runs this before it forks its cells saves every one of them the time
//! to compile the patterns again, which is more than most plans take for all the rest.

use std::collections::BTreeSet;

use super::compose::{TEMPLATES, WORDS};
use super::template::Fill;

/// A request that makes the functions of plans use every pattern of theirs.
const REQUEST: &str = "Sell 2 of the Aviators under $50 for customer Ann Lee's and two more to Bo Berg";

/// What the functions are called with.
const CALLS: &str = "\
number_in(words_of(request))
number_after(\"under\")
spellings(request)
customer_in(request)
customer_in(request.split(\"customer\")[1])
";

/// The program. It needs nothing but the standard library and leaves nothing behind.
pub fn practice() -> String {
    let mut fill = Fill::default();
    for key in ["numbers", "number_after", "spellings", "customer_in"] {
        fill.flag(key, true);
    }
    let patterns: Vec<String> = patterns().into_iter().map(|pattern| format!("    {pattern},\n")).collect();
    format!(
        "user_request = {REQUEST:?}\n{}\n{CALLS}\nfor pattern in (\n{}):\n    re.compile(pattern)\n    \
         re.compile(pattern, re.I)\n",
        fill.render(WORDS),
        patterns.concat(),
    )
}

/// The patterns that stand in templates as they are, as Python writes them.
fn patterns() -> BTreeSet<&'static str> {
    let lines = TEMPLATES.iter().flat_map(|template| template.lines());
    lines
        .flat_map(|line| line.split("re.").skip(1).filter_map(pattern))
        .filter(|found| !found.contains('@'))
        .collect()
}

/// The raw text with which a call's arguments begin.
fn pattern(call: &str) -> Option<&str> {
    let (_, arguments) = call.split_once('(')?;
    let text = arguments.strip_prefix("r\"")?;
    let mut is_escaped = false;
    let end = text.find(|character| {
        let ends = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    })?;
    Some(&arguments[..end + 3])
}

#[cfg(test)]
mod tests {
    use ordain_types::Schema;
    use ordain_verify::{Contract, Policy, verify};

    use super::*;

    #[test]
    fn patterns_are_found_with_their_quotes_and_escapes() {
        assert_eq!(pattern("sub(r\"a\\\"b\", \"\", x)"), Some("r\"a\\\"b\""));
        assert_eq!(pattern("sub(rf\"{name}\", x)"), None);
        assert_eq!(pattern("I"), None);
        assert!(patterns().len() > 12, "{:?}", patterns());
    }

    #[test]
    fn the_program_is_python_that_the_verifier_takes() {
        let verdict = verify(&practice(), &Policy::for_contract(Contract::Code), &Schema::default());
        assert!(verdict.is_accepted(), "{:?}\n{}", verdict.findings, practice());
    }
}
