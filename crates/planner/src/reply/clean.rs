//! Strips what models put around and into code: reasoning, invisible characters, prompts, indents, wrong quotes.

use ordain_verify::glance;

/// Tags around a model's thoughts, which are never part of its reply.
const REASONING: [&str; 4] = ["think", "thinking", "reasoning", "thought"];

/// Cleans the whole reply: what is said here holds for prose and code alike.
pub(super) fn outside(reply: &str, modifications: &mut Vec<String>) -> String {
    let is_invisible = |character: char| matches!(character, '\u{feff}' | '\u{200b}' | '\u{2060}');
    let mut text = reply.replace("\r\n", "\n");
    if text.contains(is_invisible) {
        text.retain(|character| !is_invisible(character));
        modifications.push("invisible characters were removed".to_owned());
    }
    without_reasoning(&text)
}

/// Removes thoughts that stand before the code. A thought without an end swallows everything: there is no reply.
fn without_reasoning(text: &str) -> String {
    let mut text = text.to_owned();
    for tag in REASONING {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        loop {
            let lower = text.to_ascii_lowercase();
            let start = lower.find(&open);
            let end = lower.find(&close);
            let program = lower.find("<execute_python>").unwrap_or(usize::MAX);
            match (start, end) {
                // Some templates put the opening tag into the question. Everything up to the end is a thought, unless
                // the end stands in the program itself.
                (None, Some(end)) if end < program || lower[end..].contains("<execute_python>") => {
                    text.replace_range(..end + close.len(), "");
                }
                (Some(start), _) if start > program => break,
                (Some(start), Some(end)) if end > start => text.replace_range(start..end + close.len(), ""),
                (Some(_), Some(end)) => text.replace_range(..end + close.len(), ""),
                (Some(start), None) => text.truncate(start),
                (None, _) => break,
            }
        }
    }
    text
}

/// Cleans code that was found.
pub(super) fn inside(code: &str, modifications: &mut Vec<String>) -> String {
    let mut code = code.trim_matches('\n').trim_end().to_owned();
    let mut put_right = |better: Option<String>, what: &str| {
        if let Some(better) = better {
            code = better;
            modifications.push(what.to_owned());
        }
        code.clone()
    };
    let now = put_right(None, "");
    let now = put_right(unfenced(&now), "a fence inside the tags was removed");
    let now = put_right(unprompted(&now), "interpreter prompts were removed");
    let now = put_right(dedented(&now), "a common indent was removed");
    if glance(&now).is_none() {
        let straight = straightened(&now);
        let now = put_right(
            straight.filter(|better| glance(better).is_some()),
            "typographic quotes were made plain",
        );
        put_right(unescaped(&now).filter(|better| glance(better).is_some()), "HTML escapes were resolved");
    }
    code.trim_end().to_owned() + "\n"
}

/// The inside of a fence that wraps all of the code.
pub(super) fn unfenced(code: &str) -> Option<String> {
    let trimmed = code.trim();
    let (first, rest) = trimmed.split_once('\n')?;
    let mark = ["```", "~~~"].into_iter().find(|mark| first.starts_with(mark))?;
    let inner = rest.trim_end().strip_suffix(mark).unwrap_or(rest);
    Some(inner.trim_matches('\n').to_owned())
}

/// The input of an interpreter's protocol, without prompts and output.
fn unprompted(code: &str) -> Option<String> {
    let first = code.lines().find(|line| !line.trim().is_empty())?;
    if !first.trim_start().starts_with(">>>") {
        return None;
    }
    let input = |line: &str| {
        let line = line.trim_start();
        let rest = line.strip_prefix(">>>").or_else(|| line.strip_prefix("..."))?;
        Some(rest.strip_prefix(' ').unwrap_or(rest).to_owned())
    };
    Some(code.lines().filter_map(input).collect::<Vec<_>>().join("\n"))
}

/// The code without the indent that all of its lines share.
fn dedented(code: &str) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let full = || code.lines().filter(|line| !line.trim().is_empty());
    let common = full().map(indent).min().filter(|common| *common > 0)?;
    let first = &full().next()?[..common];
    if !full().all(|line| line.starts_with(first)) {
        return None;
    }
    Some(code.lines().map(|line| line.get(common..).unwrap_or("")).collect::<Vec<_>>().join("\n"))
}

/// Makes typographic quotes that stand for Python's own plain; those inside of strings stay.
fn straightened(code: &str) -> Option<String> {
    const DOUBLE: [char; 3] = ['“', '”', '„'];
    const SINGLE: [char; 3] = ['‘', '’', '‚'];
    let plain = |character: char| match character {
        c if DOUBLE.contains(&c) => Some('"'),
        c if SINGLE.contains(&c) => Some('\''),
        _ => None,
    };
    if !code.contains(|character| plain(character).is_some()) {
        return None;
    }
    let mut out = String::with_capacity(code.len());
    // The quote that ends the present string, and whether it is a typographic one.
    let mut string: Option<(char, bool)> = None;
    let mut is_comment = false;
    let mut characters = code.chars();
    while let Some(character) = characters.next() {
        match string {
            None if is_comment => is_comment = character != '\n',
            None if character == '#' => is_comment = true,
            None => {
                string = match (character, plain(character)) {
                    ('"' | '\'', _) => Some((character, false)),
                    (_, Some(quote)) => Some((quote, true)),
                    _ => None,
                }
            }
            Some(_) if character == '\\' => {
                out.push(character);
                out.extend(characters.next());
                continue;
            }
            Some((quote, true)) if plain(character) == Some(quote) => string = None,
            Some((quote, true)) if character == quote => out.push('\\'),
            Some((quote, false)) if character == quote || character == '\n' => string = None,
            Some(_) => {
                out.push(character);
                continue;
            }
        }
        let is_delimiter = !is_comment && plain(character).is_some();
        out.push(if is_delimiter { plain(character).unwrap_or(character) } else { character });
    }
    Some(out)
}

/// Resolves the escapes of HTML.
fn unescaped(code: &str) -> Option<String> {
    if !["&lt;", "&gt;", "&amp;", "&quot;", "&#39;"].iter().any(|escape| code.contains(escape)) {
        return None;
    }
    let code = code.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    Some(code.replace("&amp;", "&"))
}
