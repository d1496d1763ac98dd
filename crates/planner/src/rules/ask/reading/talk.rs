//! Greetings, other languages, and verbs that no shop knows.

use super::{Reader, first_word};
use crate::rules::ask::intent::{Intent, Say};
use crate::rules::ask::lexicon::{BUY, CHANGE, DETERMINERS, FOREIGN, RESTOCK, RETURN, UNABLE};
use crate::rules::ask::tokens::{Mark, lexicon_has};

impl Reader<'_> {
    /// Greetings, other languages, and what is said not to be done.
    pub(super) fn plain_talk(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let foreign = tokens.list.iter().filter(|token| FOREIGN.contains(&token.word.as_str())).count();
        let letters = tokens.source.chars().filter(|character| character.is_alphabetic());
        let (latin, all) =
            letters.fold((0, 0), |(latin, all), letter| (latin + usize::from(letter < '\u{250}'), all + 1));
        if foreign >= 2 || latin * 2 < all {
            return Some(Intent::Say(Say::Foreign));
        }
        let changes = [BUY, RETURN, RESTOCK, CHANGE].concat();
        let negated = ["dont", "never", "not"].iter().any(|no| {
            changes.iter().any(|verb| {
                tokens.has(&format!("{no} {verb}")) || tokens.has(&format!("{no} want to {verb}"))
            })
        });
        if negated && !tokens.has("why dont you") {
            return Some(Intent::Say(Say::Negated));
        }
        if tokens.has_any(&[
            "what can you do",
            "what can i ask",
            "who are you",
            "how do you work",
            "how can you help",
        ]) {
            return Some(Intent::Say(Say::Capabilities));
        }
        let is_greeting = |word: &str| {
            matches!(
                word,
                "hi" | "hello"
                    | "hey"
                    | "good"
                    | "morning"
                    | "afternoon"
                    | "evening"
                    | "day"
                    | "thank"
                    | "thanks"
            ) || matches!(
                word,
                "you" | "bye" | "goodbye" | "there" | "very" | "much" | "so" | "dear" | "help" | "greeting"
            )
        };
        tokens.list.iter().all(|token| is_greeting(&token.word)).then_some(Intent::Say(Say::Greeting))
    }

    /// Something else than a shop does: the verb is none that is known.
    pub(super) fn unknown_verb(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let first = first_word(tokens);
        // A change that none of the rules before took is none that they know.
        let is_change = CHANGE.contains(&tokens.word(first)) && !self.is_question;
        if self.commands(UNABLE) || is_change && !tokens.any(|mark| matches!(mark, Mark::Name(_))) {
            return Some(Intent::Say(Say::Unsupported));
        }
        let is_strange = |at: usize| {
            tokens.list.get(at).is_some_and(|token| token.mark == Mark::Unknown && !lexicon_has(&token.word))
        };
        let lead = [
            "can you",
            "could you",
            "would you",
            "will you",
            "do you",
            "please",
            "to",
            "help me",
            "you please",
        ];
        for at in 0..tokens.list.len() {
            let before = |phrase: &str| {
                let words: Vec<&str> = phrase.split(' ').collect();
                at >= words.len()
                    && words
                        .iter()
                        .enumerate()
                        .all(|(index, word)| tokens.word(at - words.len() + index) == *word)
            };
            let next = tokens.list.get(at + 1);
            let has_object = next
                .is_some_and(|next| DETERMINERS.contains(&next.word.as_str()) || next.mark == Mark::Number);
            let is_verb = if before("to") || before("please") || at == 0 {
                has_object
            } else {
                lead.iter().any(|lead| before(lead))
            };
            if is_strange(at) && is_verb {
                return Some(Intent::Say(Say::Unsupported));
            }
        }
        None
    }
}
