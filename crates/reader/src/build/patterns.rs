//! Texts and patterns in words: they judge the text of the source as it stands.

use std::collections::BTreeSet;

use super::predicates::{it, test};
use super::{Builder, one};
use crate::algebra::TextTest;
use crate::captures::Captures;
use crate::context::Context;
use crate::mention::escaped;
use crate::value::{Loose, Test, Texts, Value};

pub(super) const BUILDERS: &[(&str, Builder)] = &[
    ("size", size),
    ("tlength", length),
    ("tsized", sized_length),
    ("tlonger", longer),
    ("tlengthmatch", length_and_form),
    ("tdecimals", decimals),
    ("tmatch", matches),
    ("temail", email),
    ("ttype", of_type),
    ("tcase", case),
    ("tspaces", spaces),
    ("twords", words),
    ("tword", word),
    ("tonlyalnum", alphanumeric),
    ("tonly", only),
    ("tlacks", lacks),
    ("lquote", sure_text),
    ("lcode", sure_text),
    ("llit", literal),
    ("lval", known),
    ("texts", any_texts),
    ("textsnone", no_texts),
    ("textsall", all_texts),
    ("ttext", text),
    ("class", class),
    ("among", among),
    ("exactly", exactly),
    ("atleastof", at_least),
    ("run", run),
    ("tcontain", contains),
    ("tcontainno", contains_no),
    ("tcontainbut", contains_but),
    ("tstart", starts),
    ("tend", ends),
    ("charset", charset),
    ("piece", piece),
    ("piecetext", piece_text),
    ("sized", sized_piece),
    ("pattern", pattern),
    ("where", pattern_where),
];

fn text_is(test_of: TextTest) -> Loose {
    Loose::Text(it(), test_of)
}

fn form(pattern: String) -> Loose {
    text_is(TextTest::Matches(pattern))
}

/// At least and at most so many.
fn size(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let exact: Option<u32> = captures.maybe("e")?;
    let (least, more): (Option<u32>, Option<u32>) = (captures.maybe("a")?, captures.maybe("m")?);
    let (most, less): (Option<u32>, Option<u32>) = (captures.maybe("b")?, captures.maybe("l")?);
    let low = exact.or(least).or(more.map(|more| more.saturating_add(1)));
    let high = match less {
        Some(less) => Some(less.checked_sub(1)?),
        None => exact.or(most),
    };
    let is_ordered = low.zip(high).is_none_or(|(low, high)| low <= high);
    is_ordered.then(|| vec![Value::Size(low, high)])
}

type Size = (Option<u32>, Option<u32>);

fn size_of(captures: &mut Captures, name: &str) -> Option<Size> {
    match captures.take(name)? {
        Value::Size(low, high) => Some((low, high)),
        _ => None,
    }
}

/// A size as the end of a piece of a pattern.
fn times((low, high): Size) -> String {
    match (low, high) {
        (Some(low), Some(high)) if low == high => format!("{{{low}}}"),
        (low, high) => {
            format!("{{{},{}}}", low.unwrap_or(0), high.map(|high| high.to_string()).unwrap_or_default())
        }
    }
}

fn length(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (low, high) = size_of(captures, "l")?;
    test(text_is(TextTest::Length(low, high)))
}

fn sized_length(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(text_is(TextTest::Length(captures.maybe("a")?, captures.maybe("b")?)))
}

fn longer(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let low = captures.maybe::<u32>("a")?.map(|low| low.saturating_add(1));
    let high = match captures.maybe::<u32>("b")? {
        Some(high) => Some(high.checked_sub(1)?),
        None => None,
    };
    test(text_is(TextTest::Length(low, high)))
}

fn length_and_form(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (low, high) = size_of(captures, "l")?;
    test(Loose::All(vec![text_is(TextTest::Length(low, high)), form(captures.take("p")?)]))
}

fn decimals(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let size = size_of(captures, "l")?;
    if let (None | Some(0), Some(most)) = size {
        return test(Loose::Decimals(it(), most));
    }
    test(form(format!("[^.]*\\.[0-9]{}", times(size))))
}

fn matches(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(form(captures.take(if captures.has("p") { "p" } else { "q" })?))
}

fn email(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    test(form("[^@\\s]+@[^@\\s]+\\.[^@\\s.]+".to_owned()))
}

fn of_type(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(text_is(match captures.take::<String>("is")?.as_str() {
        "number" => TextTest::Number,
        "integer" => TextTest::Whole,
        _ => TextTest::Date,
    }))
}

/// `is` says which letters may not be there.
fn case(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let letters = if captures.take::<String>("is")? == "upper" { "Lu" } else { "Ll" };
    test(form(format!("[^\\p{{{letters}}}]*")))
}

fn spaces(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let place: String = captures.take("where")?;
    let has = form(match place.as_str() {
        "before" => "\\s.*".to_owned(),
        "behind" => ".*\\s".to_owned(),
        _ => "\\s.*|.*\\s".to_owned(),
    });
    test(if captures.flag("no") { has.denied() } else { has })
}

fn words(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let more = captures.take::<u32>("k")?.checked_sub(1)?;
    test(form(format!("\\S+(\\s+\\S+){{{more},}}")))
}

fn word(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(text_is(TextTest::Word(captures.take("q")?)))
}

fn alphanumeric(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    test(form("[\\p{L}0-9]+".to_owned()))
}

fn only(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let set: String = captures.take("p")?;
    test(form(format!("[{set}]+")))
}

fn sure_text(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    match captures.only()? {
        Value::Quote(text) | Value::Code(text) | Value::Sign(text) => one(Value::Text(text, true)),
        _ => None,
    }
}

fn literal(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let Value::Literal(text, is_sure) = captures.take("t")? else { return None };
    one(Value::Text(text, is_sure))
}

fn known(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let Value::Values(values) = captures.take("v")? else { return None };
    one(Value::Text(values.written, false))
}

/// Texts of which one at least is certainly meant as a text.
fn listed(captures: &mut Captures) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    let mut has_sure = false;
    while captures.has("t") {
        let Value::Text(text, is_sure) = captures.take("t")? else { return None };
        has_sure |= is_sure;
        texts.push(text);
    }
    has_sure.then_some(texts)
}

fn any_texts(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Texts(Texts::Any(listed(captures)?)))
}

fn no_texts(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Texts(Texts::None(listed(captures)?)))
}

fn all_texts(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Texts(Texts::All(listed(captures)?)))
}

fn text(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let how: fn(String) -> TextTest = match captures.take::<String>("op")?.as_str() {
        "contains" => TextTest::Contains,
        "starts" => TextTest::Starts,
        _ => TextTest::Ends,
    };
    let each = |texts: Vec<String>| texts.into_iter().map(|text| text_is(how(text))).collect();
    let (cond, is_joined) = match captures.take("t")? {
        Texts::Any(texts) => (Loose::Any(each(texts)), false),
        Texts::All(texts) => (Loose::All(each(texts)), true),
        Texts::None(texts) => (Loose::Any(each(texts)).denied(), false),
    };
    one(Value::Test(Test { cond, is_joined, is_denied: false }))
}

fn class(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let class: String = captures.take("is")?;
    one(Value::Pattern(class))
}

/// Classes of characters and single characters, written as the inside of a pattern's brackets.
fn characters(captures: &mut Captures, names: &[&str]) -> Option<String> {
    let mut set = BTreeSet::new();
    for name in names {
        while captures.has(name) {
            set.insert(match captures.take(name)? {
                Value::Pattern(class) => class,
                Value::Sign(sign) => escaped(&sign),
                _ => return None,
            });
        }
    }
    Some(set.into_iter().collect())
}

fn among(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let set = characters(captures, &["c", "c2"])?;
    one(Value::Pattern(format!(".*[{set}].*")))
}

fn exactly(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let Value::Text(text, _) = captures.take("t")? else { return None };
    let count: u32 = captures.take("k")?;
    let sign = escaped(&text);
    (text.chars().count() == 1 && count <= 20).then(|| {
        vec![Value::Piece(format!("[^{sign}]*{}", format!("{sign}[^{sign}]*").repeat(count as usize)), true)]
    })
}

fn at_least(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (count, class): (u32, String) = (captures.take("k")?, captures.take("c")?);
    one(Value::Piece(format!("([^{class}]*[{class}]){{{count}}}.*"), true))
}

fn run(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let count = captures.maybe::<u32>("k")?.unwrap_or(1);
    let class: String = captures.take("c")?;
    one(Value::Pattern(format!("[{class}]{{{count}}}")))
}

/// What a text has somewhere, as a pattern of all of it; whether it may be denied.
fn somewhere(captures: &mut Captures, name: &str) -> Option<(String, bool)> {
    match captures.take(name)? {
        Value::Pattern(pattern) => Some((pattern, true)),
        Value::Piece(pattern, _) => Some((pattern, false)),
        _ => None,
    }
}

fn contains(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(form(somewhere(captures, "p")?.0))
}

/// That none of some characters or texts is there.
fn nothing_of(captures: &mut Captures, texts: &str) -> Option<Loose> {
    if captures.has("p") {
        let (pattern, may_be_denied) = somewhere(captures, "p")?;
        return may_be_denied.then(|| form(pattern).denied());
    }
    let Texts::Any(texts) = captures.take(texts)? else { return None };
    Some(Loose::Any(texts.into_iter().map(|text| text_is(TextTest::Contains(text))).collect()).denied())
}

fn contains_no(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(nothing_of(captures, "t")?)
}

fn contains_but(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let each = |texts: Vec<String>| texts.into_iter().map(|text| text_is(TextTest::Contains(text))).collect();
    let first = match captures.take("t")? {
        Texts::Any(texts) => Loose::Any(each(texts)),
        Texts::All(texts) => Loose::All(each(texts)),
        Texts::None(_) => return None,
    };
    let cond = Loose::All(vec![first, nothing_of(captures, "t2")?]);
    one(Value::Test(Test { cond, is_joined: true, is_denied: false }))
}

fn lacks(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(nothing_of(captures, "t")?)
}

fn starts(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let pattern: String = captures.take("p")?;
    test(form(format!("{pattern}.*")))
}

fn ends(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let pattern: String = captures.take("p")?;
    test(form(format!(".*{pattern}")))
}

fn charset(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Pattern(characters(captures, &["c"])?))
}

fn piece(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let size = if captures.has("l") { size_of(captures, "l")? } else { (Some(1), Some(1)) };
    let set = characters(captures, &["c", "c2"])?;
    one(Value::Piece(format!("[{set}]{}", times(size)), true))
}

fn piece_text(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let text: String = captures.take(if captures.has("s") { "s" } else { "t" })?;
    one(Value::Piece(escaped(&text), false))
}

fn sized_piece(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let Value::Sized(count, class) = captures.take("s")? else { return None };
    one(Value::Piece(format!("{class}{{{count}}}"), true))
}

/// The pieces in this order. An example in front of them is of this form.
fn pattern(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let example = captures.maybe::<String>("w")?;
    let mut whole = String::new();
    let mut says_more = false;
    while captures.has("e") {
        let Value::Piece(piece, more) = captures.take("e")? else { return None };
        whole.push_str(&piece);
        says_more |= more;
    }
    let is_of_it = example.is_none_or(|example| fits(&example, &whole));
    (says_more && is_of_it).then(|| vec![Value::Pattern(whole)])
}

/// Whether a text is of a form that is made of pieces.
fn fits(text: &str, form: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let (mut ends, mut rest) = (BTreeSet::from([0]), form);
    while !rest.is_empty() {
        let Some((set, (low, high), after)) = first_piece(rest) else { return false };
        let run = |from: usize| letters[from..].iter().take_while(|letter| is_in(set, **letter)).count();
        ends =
            ends.iter().flat_map(|from| (low..=high.min(run(*from))).map(move |many| from + many)).collect();
        rest = after;
    }
    ends.contains(&letters.len())
}

/// The first piece of a form: its characters, how many of them at least and at most, and what follows.
fn first_piece(form: &str) -> Option<(&str, (usize, usize), &str)> {
    let (set, rest) = match form.strip_prefix('[') {
        Some(inner) => {
            let end = inner.char_indices().find(|(at, c)| *c == ']' && !inner[..*at].ends_with('\\'))?.0;
            (&inner[..end], &inner[end + 1..])
        }
        None => form.split_at(
            form.char_indices().nth(1 + usize::from(form.starts_with('\\'))).map_or(form.len(), |(at, _)| at),
        ),
    };
    let Some((sizes, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
        return Some((set, (1, 1), rest));
    };
    let (low, high) = sizes.split_once(',').unwrap_or((sizes, sizes));
    let high = if high.is_empty() { usize::MAX } else { high.parse().ok()? };
    Some((set, (low.parse().ok()?, high), after))
}

/// Whether a set of characters has one.
fn is_in(set: &str, letter: char) -> bool {
    type Kind = (&'static str, fn(char) -> bool);
    const KINDS: [Kind; 3] =
        [("\\p{Lu}", char::is_uppercase), ("\\p{Ll}", char::is_lowercase), ("\\p{L}", char::is_alphabetic)];
    let mut rest = set;
    while let Some(first) = rest.chars().next() {
        let next: Vec<char> = rest.chars().skip(1).take(2).collect();
        let kind = KINDS.iter().find(|(name, _)| rest.starts_with(name));
        let (has_it, letters) = match (kind, next.as_slice()) {
            (Some((name, is_so)), _) => (is_so(letter), name.len()),
            (None, [escaped, ..]) if first == '\\' => (letter == *escaped, 2),
            (None, ['-', last]) => ((first..=*last).contains(&letter), 3),
            _ => (letter == first || set == ".", 1),
        };
        if has_it {
            return true;
        }
        rest = rest.char_indices().nth(letters).map_or("", |(at, _)| &rest[at..]);
    }
    false
}

/// VET-NN where NN are two digits.
fn pattern_where(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (whole, part): (String, String) = (captures.take("w")?, captures.take("n")?);
    let (count, class): (u32, String) = (captures.take("k")?, captures.take("c")?);
    let is_one = whole.matches(&part).count() == 1 && part.chars().count() == count as usize;
    let pattern = escaped(&whole).replace(&escaped(&part), &format!("[{class}]{{{count}}}"));
    is_one.then(|| vec![Value::Pattern(pattern)])
}
