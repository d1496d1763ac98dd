//! The texts that stand in a piece of code, without running or even judging it.

use ruff_python_ast::token::TokenKind;
use ruff_text_size::Ranged;

use crate::contract::Contract;
use crate::policy::Policy;
use crate::read;
use crate::report::Report;

/// The texts of all strings in the code, f-strings without what they fill in. Code that is no Python has none.
///
/// ```
/// let code = "name = 'Classic'  # 'not this'\ntext = f'We have {count} of 10 left'\n";
/// assert_eq!(ordain_verify::string_literals(code), ["'Classic'", "We have ", " of 10 left"]);
/// ```
pub fn string_literals(code: &str) -> Vec<String> {
    let policy = Policy::for_contract(Contract::Open);
    let mut report = Report::new(code, policy.limits.findings_max);
    let Some((parsed, stack)) = read(code, &policy, &mut report) else { return Vec::new() };
    stacker::maybe_grow(stack, stack, || {
        // Dropped here, where the stack is large enough.
        let parsed = parsed;
        let texts = parsed
            .tokens()
            .iter()
            .filter(|token| matches!(token.kind(), TokenKind::String | TokenKind::FStringMiddle));
        texts.map(|token| code[token.range()].to_owned()).collect()
    })
}
