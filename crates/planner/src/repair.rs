//! Tells a model what was wrong with its last reply: the class, the place, the hint, the smallest context.

use std::fmt::Write as _;

use ordain_types::{Diff, ErrorClass, Trouble};

use crate::exchange::{Exchange, Message, Speaker};
use crate::prompt::{self, text};
use crate::reply::{TRUNCATED, TRUNCATED_AGAIN};

const TEXTS: &str = include_str!("../prompts/repair.md");
const MESSAGE_CHARS_MAX: usize = 3000;
const EARLIER_CHARS_MAX: usize = 200;
/// What a planner is shown of what a program printed.
const SHOWN_CHARS_MAX: usize = 8_000;

/// Adds the message about a trouble to the exchange. The trouble is already among the exchange's troubles.
pub(crate) fn tell(exchange: &mut Exchange, trouble: &Trouble) {
    let text = match trouble.code.as_str() {
        TRUNCATED => section("truncated").to_owned(),
        TRUNCATED_AGAIN => section("truncated_again").to_owned(),
        _ => described(exchange, trouble),
    };
    exchange.told.push(format!("[{}] {}", trouble.code, text::line(&trouble.message, EARLIER_CHARS_MAX)));
    exchange.messages.push(Message { speaker: Speaker::Ordain, text });
}

fn described(exchange: &Exchange, trouble: &Trouble) -> String {
    let (head, advice) = section(class_name(trouble.class)).split_once('\n').unwrap_or_default();
    let line = trouble.line.map(|line| format!(" line {line}")).unwrap_or_default();
    let code = text::line(&trouble.code, 80);
    let mut message = format!("{head} [{code}]{line}: {}", text::data(&trouble.message, MESSAGE_CHARS_MAX));
    if !message.ends_with(['.', '?', '!']) {
        message.push('.');
    }
    if let Some(hint) = &trouble.hint {
        let _ = write!(message, " Hint: {}", text::line(hint, MESSAGE_CHARS_MAX));
    }
    if let Some(context) = trouble.line.and_then(|line| context(exchange.code.as_deref()?, line)) {
        let _ = write!(message, "\n{context}");
    }
    let _ = write!(message, "\n{}", advice.trim());
    if !exchange.told.is_empty() {
        let _ = write!(message, "\n{}", section("second"));
        for earlier in &exchange.told {
            let _ = write!(message, "\n- {earlier}");
        }
    }
    if exchange.told.len() >= 2 {
        let _ = write!(message, "\n{}", section("third"));
    }
    if trouble.class != ErrorClass::Reply {
        let _ = write!(message, "\n{}", section("again"));
    }
    message
}

/// Asks for the sentence of a run alone. The run is done, and nothing of it is taken back.
pub(crate) fn ask_sentence(exchange: &mut Exchange, answer: &str, trouble: &Trouble, changes: Option<&Diff>) {
    let (head, advice) = section("sentence").split_once('\n').unwrap_or_default();
    let problem = text::data(&trouble.message, MESSAGE_CHARS_MAX);
    let answer = text::data(answer, MESSAGE_CHARS_MAX);
    let mut message = format!(
        "{head} [{}]: {problem}.\n<sentence>\n{answer}\n</sentence>\n",
        text::line(&trouble.code, 80)
    );
    if let Some(changes) = changes {
        let _ = writeln!(message, "{}", prompt::changes(changes).trim_end());
    }
    message.push_str(advice.trim());
    exchange.messages.push(Message { speaker: Speaker::Ordain, text: message });
}

/// Adds what a look or a step printed, or why it was not run. It is data, and it is cut.
pub(crate) fn show(exchange: &mut Exchange, printed: &str, what_now: &str) {
    let printed = text::data(printed, SHOWN_CHARS_MAX);
    let printed = if printed.trim().is_empty() { "(nothing was printed)" } else { printed.trim_end() };
    let text = format!("<data untrusted=\"true\">\n{printed}\n</data>\n{what_now}");
    exchange.messages.push(Message { speaker: Speaker::Ordain, text });
}

/// The line and its neighbours.
fn context(code: &str, line: u64) -> Option<String> {
    const LINE_CHARS_MAX: usize = 160;
    let line = usize::try_from(line).ok()?.checked_sub(1)?;
    let lines: Vec<&str> = code.lines().collect();
    lines.get(line)?;
    let shown = (line.saturating_sub(1)..=line + 1).filter_map(|at| Some((at, lines.get(at)?)));
    let shown = shown
        .map(|(at, text)| format!("  {:>3} | {}", at + 1, text::cut(&text::harmless(text), LINE_CHARS_MAX)));
    Some(shown.collect::<Vec<_>>().join("\n"))
}

fn class_name(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Reply => "reply",
        ErrorClass::Verify => "verify",
        ErrorClass::Review => "review",
        ErrorClass::Limit => "limit",
        ErrorClass::Contract => "contract",
        ErrorClass::Invariant => "invariant",
        ErrorClass::Claim => "claim",
        ErrorClass::Criterion => "criterion",
        ErrorClass::Conflict => "conflict",
        // Those but the first end a run without another round.
        ErrorClass::Runtime
        | ErrorClass::Planner
        | ErrorClass::Files
        | ErrorClass::Budget
        | ErrorClass::Cancelled
        | ErrorClass::Internal => "runtime",
    }
}

/// The text under a heading of the file.
fn section(name: &str) -> &'static str {
    let under = TEXTS.split("## ").find_map(|part| part.strip_prefix(name)?.strip_prefix('\n'));
    under.unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(class: ErrorClass, message: &str) -> Trouble {
        Trouble {
            class,
            code: "unknown-column".to_owned(),
            message: message.to_owned(),
            line: Some(2),
            hint: Some("did you mean `quantity_in_stock`?".to_owned()),
        }
    }

    #[test]
    fn every_class_has_its_own_words() {
        let classes = [
            ErrorClass::Reply,
            ErrorClass::Verify,
            ErrorClass::Review,
            ErrorClass::Runtime,
            ErrorClass::Limit,
            ErrorClass::Contract,
            ErrorClass::Invariant,
            ErrorClass::Claim,
            ErrorClass::Criterion,
            ErrorClass::Conflict,
        ];
        let mut heads: Vec<_> =
            classes.iter().map(|class| section(class_name(*class)).lines().next().unwrap()).collect();
        heads.sort_unstable();
        heads.dedup();
        assert_eq!(heads.len(), classes.len());
        for name in ["truncated", "truncated_again", "again", "second", "third"] {
            assert!(!section(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn a_message_names_class_line_hint_and_context_and_grows_sterner() {
        let mut exchange =
            Exchange { code: Some("one\ntwo\nthree\nfour\n".to_owned()), ..Exchange::default() };
        tell(&mut exchange, &trouble(ErrorClass::Verify, "table inventory has no column 'stock'"));
        tell(&mut exchange, &trouble(ErrorClass::Runtime, "KeyError: 'x'"));
        tell(&mut exchange, &trouble(ErrorClass::Claim, "3 is nowhere"));
        let texts: Vec<_> = exchange.messages.iter().map(|message| message.text.as_str()).collect();
        assert!(
            texts[0].starts_with("VERIFY FAILED [unknown-column] line 2: table inventory"),
            "{}",
            texts[0]
        );
        assert!(texts[0].contains("  2 | two\n") && !texts[0].contains("four"), "{}", texts[0]);
        assert!(!texts[0].contains("earlier"));
        assert!(texts[1].contains("earlier") && texts[1].contains("no column 'stock'"), "{}", texts[1]);
        assert!(!texts[1].contains("different"));
        assert!(texts[2].contains("different"), "{}", texts[2]);
    }
}
