//! The texts that stand in a piece of code, without running or even judging it.

use ruff_python_ast::token::TokenKind;
use ruff_text_size::Ranged;

use crate::contract::Contract;
use crate::policy::Policy;
use crate::read;
use crate::report::Report;

/// The texts of all strings in the code, f-strings without what they fill in and how it is formatted. Code that is no
/// Python has none.
///
/// ```
/// let code = "name = 'Classic'  # 'not this'\ntext = f'We have {price:,.2f} of 10 left'\n";
/// assert_eq!(ordain_verify::string_literals(code), ["'Classic'", "We have ", " of 10 left"]);
/// ```
pub fn string_literals(code: &str) -> Vec<String> {
    let policy = Policy::for_contract(Contract::Open);
    let mut report = Report::new(code, policy.limits.findings_max);
    let Some((parsed, stack)) = read(code, &policy, &mut report) else { return Vec::new() };
    stacker::maybe_grow(stack, stack, || {
        // Dropped here, where the stack is large enough.
        let parsed = parsed;
        // How many braces are open in each f-string that is open.
        let mut braces: Vec<usize> = Vec::new();
        let mut is_text = |kind: TokenKind| {
            match (kind, braces.last_mut()) {
                (TokenKind::FStringStart, _) => braces.push(0),
                (TokenKind::FStringEnd, _) => drop(braces.pop()),
                (TokenKind::Lbrace, Some(open)) => *open += 1,
                (TokenKind::Rbrace, Some(open)) => *open = open.saturating_sub(1),
                // Between braces the text is a format, such as `,.2f`.
                (TokenKind::FStringMiddle, Some(open)) => return *open == 0,
                (TokenKind::String, _) => return true,
                _ => {}
            }
            false
        };
        let texts = parsed.tokens().iter().filter(|token| is_text(token.kind()));
        texts.map(|token| code[token.range()].to_owned()).collect()
    })
}
