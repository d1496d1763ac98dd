//! The usual rules, each told by its words. The first one that fits is taken, so the narrow ones come first.

use serde_json::{Value, json};

use super::Understood;
use super::sentence::{Number, Sentence, find};
use crate::brief::TableBrief;

/// What a sentence asks for, if it is one of the usual rules.
pub(super) fn understand(sentence: &Sentence<'_>) -> Option<Understood> {
    let rules: [fn(&Sentence<'_>) -> Option<Understood>; 14] = [
        totals,
        missing_elsewhere,
        freshness,
        dependency,
        duplicates,
        row_count,
        shares,
        formats,
        nulls,
        order_of_columns,
        allowed_values,
        bounds,
        monotonic,
        length,
    ];
    rules.iter().find_map(|rule| rule(sentence))
}

/// "Flag events rows whose `user_id` is missing from users."
fn missing_elsewhere(sentence: &Sentence<'_>) -> Option<Understood> {
    let (at, _) = sentence.first(&[
        "missing from",
        "missing in",
        "not present in",
        "not present",
        "not found in",
        "not in",
        "not exist in",
        "not exist",
        "doesn't exist",
        "exist in",
        "exists in",
        "be present in",
        "be found in",
        "appear in",
        "unknown",
        "orphan",
        "orphans",
        "orphaned",
        "no matching",
        "no match",
        "without a matching",
        "without matching",
        "not known",
        "be known in",
        "refer to",
        "reference",
        "references",
        "be in",
        "absent from",
        "belong to",
        "not listed in",
    ])?;
    let other = sentence.other_after(0)?;
    let (ours, theirs) = joined(sentence, other)?;
    Some(Understood::Rule(
        "foreign_key",
        json!({"columns": [ours], "references": {"table": other.table.name, "columns": [theirs]}}),
    ))
    .filter(|_| at < sentence.lower.len())
}

/// The columns by which two tables belong together.
fn joined(sentence: &Sentence<'_>, other: &TableBrief) -> Option<(String, String)> {
    let theirs = |name: &str| other.table.column(name).map(|column| column.name.clone());
    let singular = crate::rules::words::singular(&other.table.name);
    for name in sentence.column_names() {
        let same = theirs(name).or_else(|| theirs("id"));
        if let Some(same) = same {
            return Some((name.to_owned(), same));
        }
    }
    // None is named: the usual name of a reference, else the only column that both have.
    let own = &sentence.table.table;
    for name in [format!("{singular}_id"), format!("{singular}id"), singular.clone()] {
        if let Some(column) = own.column(&name) {
            let same = theirs(&name).or_else(|| theirs("id"))?;
            return Some((column.name.clone(), same));
        }
    }
    let mut shared = own.columns.iter().filter(|column| theirs(&column.name).is_some());
    let first = shared.next()?;
    shared.next().is_none().then(|| (first.name.clone(), first.name.clone()))
}

/// "email must not be null"
fn nulls(sentence: &Sentence<'_>) -> Option<Understood> {
    let words = [
        "null",
        "nulls",
        "missing",
        "empty",
        "blank",
        "nan",
        "required",
        "mandatory",
        "filled",
        "filled in",
        "populated",
        "no value",
        "has a value",
        "have a value",
        "be present",
        "be set",
        "lack",
        "lacks",
        "lacking",
        "without a",
        "without an",
        "without",
        "given",
    ];
    let (at, _) = sentence.first(&words)?;
    let columns = sentence.column_names();
    if columns.is_empty() {
        return Some(unclear(sentence, "must have a value"));
    }
    // "Flag rows where x is not null" asks for the opposite.
    let is_opposite = sentence.flags && sentence.is_negated(at) && !sentence.has(&["without", "no value"]);
    let mut params = json!({"columns": columns});
    if is_opposite {
        params["negate"] = json!(true);
    }
    Some(Understood::Rule("not_null", params))
}

/// "Flag duplicate `order_id` values in orders."
fn duplicates(sentence: &Sentence<'_>) -> Option<Understood> {
    if !sentence.has(&[
        "duplicate",
        "duplicates",
        "duplicated",
        "unique",
        "uniquely",
        "more than once",
        "twice",
        "repeated",
        "appear once",
        "occur once",
        "no two",
    ]) {
        return None;
    }
    let columns = sentence.column_names();
    if columns.is_empty() {
        return Some(unclear(sentence, "must be unique"));
    }
    Some(Understood::Rule("unique", json!({"columns": columns})))
}

/// "each city has exactly one country"
fn dependency(sentence: &Sentence<'_>) -> Option<Understood> {
    let is_said = sentence.has(&["exactly one", "only one", "a single", "always the same", "same"])
        && sentence.has(&["each", "every", "same", "per"]);
    match sentence.column_names().as_slice() {
        [first, second] if is_said && !sentence.has(&["same as"]) => {
            // "only one country per city" names the decided column first.
            let is_turned = sentence.has(&["per", "for each", "for every", "for the same"]);
            let (left, right) = if is_turned { (second, first) } else { (first, second) };
            Some(Understood::Rule(
                "functional_dependency",
                json!({"determinant": [left], "dependent": [right]}),
            ))
        }
        _ => None,
    }
}

/// "at most 5% of email may be null"
fn shares(sentence: &Sentence<'_>) -> Option<Understood> {
    let percent = sentence.numbers.iter().find(|number| number.is_percent)?;
    let share = percent.value / 100.0;
    let column = sentence.columns.first()?.name;
    let is_null = sentence.has(&["null", "nulls", "missing", "empty", "blank"]);
    let is_filled = sentence.has(&["filled", "populated", "not null", "present", "have a value", "complete"]);
    let is_unique = sentence.has(&["unique", "distinct", "different"]);
    if !is_null && !is_filled && !is_unique {
        return None;
    }
    let is_least = sentence.has(&["at least", "no less than", "more than", "above", "minimum"])
        && !sentence.has(&["no more than", "not more than"]);
    let is_least = is_least != sentence.flags;
    let (function, bound) = match (is_unique, is_filled, is_least) {
        (true, _, true) => ("distinct_share", json!({"min": share})),
        (true, _, false) => ("distinct_share", json!({"max": share})),
        (_, true, true) => ("null_share", json!({"max": 1.0 - share})),
        (_, true, false) => ("null_share", json!({"min": 1.0 - share})),
        (_, _, true) => ("null_share", json!({"min": share})),
        (_, _, false) => ("null_share", json!({"max": share})),
    };
    let mut params = json!({"column": column, "function": function});
    merge(&mut params, bound);
    Some(Understood::Rule("aggregate", params))
}

/// "email must be a valid email address"
fn formats(sentence: &Sentence<'_>) -> Option<Understood> {
    let kinds: [(&[&str], &str); 9] = [
        (
            &[
                "email address",
                "valid email",
                "valid e-mail",
                "e-mail address",
                "valid emails",
                "malformed email",
            ],
            "email",
        ),
        (&["valid url", "url", "web address"], "url"),
        (&["uuid", "guid"], "uuid"),
        (&["ip address", "ipv4"], "ipv4"),
        (&["valid json", "json"], "json"),
        (
            &["valid date", "valid dates", "valid timestamp", "be a date", "parseable date", "invalid date"],
            "timestamp",
        ),
        (
            &["be numeric", "be a number", "be numbers", "non-numeric", "not numeric", "only numbers"],
            "number",
        ),
        (&["be an integer", "be integers", "whole number", "whole numbers"], "integer"),
        (&["true or false", "be boolean", "be a boolean"], "boolean"),
    ];
    if let Some(pattern) = quoted_pattern(sentence) {
        let column = sentence.columns.first()?.name;
        return Some(Understood::Rule("regex", json!({"column": column, "pattern": pattern})));
    }
    let (_, kind) = kinds.iter().find(|(phrases, _)| sentence.has(phrases))?;
    let Some(column) = sentence.columns.first() else {
        return Some(unclear(sentence, "must have that format"));
    };
    Some(Understood::Rule("dtype", json!({"column": column.name, "type": kind})))
}

/// A pattern that the hint gives, or a beginning or an end that texts must have.
fn quoted_pattern(sentence: &Sentence<'_>) -> Option<String> {
    for (phrases, before, after) in [
        (["start with", "starts with", "begin with", "begins with"].as_slice(), "^", ""),
        (["end with", "ends with"].as_slice(), "", "$"),
        (["match", "matches", "pattern", "regex"].as_slice(), "", ""),
    ] {
        let Some((_, end)) = sentence.first(phrases) else { continue };
        let rest = sentence.text[end..].trim_start_matches([' ', ':']);
        let rest = ["the pattern", "pattern", "the regex", "regex", "the letter", "the prefix"]
            .iter()
            .fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest).trim_start());
        let pattern = match rest.chars().next()? {
            quote @ ('"' | '\'' | '`' | '/') => rest[1..].split(quote).next()?.to_owned(),
            _ => rest.trim_end_matches('.').split_whitespace().next()?.to_owned(),
        };
        let is_literal = !before.is_empty() || !after.is_empty();
        let inner = if is_literal { escape(&pattern) } else { pattern };
        return Some(format!("{before}{inner}{after}"));
    }
    None
}

fn escape(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_alphanumeric() { vec![c] } else { vec!['\\', c] }).collect()
}

/// "`paid_at` must not be before `created_at`"
fn order_of_columns(sentence: &Sentence<'_>) -> Option<Understood> {
    let names = sentence.column_names();
    let [left, right] = names.as_slice() else { return None };
    let between = sentence.columns.iter().find(|mention| mention.name == *left)?.end;
    let (at, operator) = comparison(sentence, between)?;
    let operator = if sentence.is_failing(at) { opposite(operator) } else { operator };
    Some(Understood::Rule("two_columns", json!({"left": left, "op": operator, "right": right})))
}

/// A comparison that is said from a place on, and where.
fn comparison(sentence: &Sentence<'_>, from: usize) -> Option<(usize, &'static str)> {
    const WORDS: [(&str, &str); 40] = [
        (">=", ">="),
        ("<=", "<="),
        ("!=", "!="),
        ("==", "=="),
        (">", ">"),
        ("<", "<"),
        ("=", "=="),
        ("on or after", ">="),
        ("on or before", "<="),
        ("not before", "NOT<"),
        ("not after", "NOT>"),
        ("greater than or equal to", ">="),
        ("less than or equal to", "<="),
        ("at least", ">="),
        ("at most", "<="),
        ("greater than", ">"),
        ("larger than", ">"),
        ("bigger than", ">"),
        ("more than", ">"),
        ("higher than", ">"),
        ("less than", "<"),
        ("smaller than", "<"),
        ("lower than", "<"),
        ("fewer than", "<"),
        ("after", ">"),
        ("later than", ">"),
        ("before", "<"),
        ("earlier than", "<"),
        ("precede", "<"),
        ("precedes", "<"),
        ("follow", ">"),
        ("exceed", ">"),
        ("exceeds", ">"),
        ("above", ">"),
        ("over", ">"),
        ("below", "<"),
        ("under", "<"),
        ("equal", "=="),
        ("equals", "=="),
        ("same as", "=="),
    ];
    let found = WORDS.iter().filter_map(|(word, operator)| {
        let at = find(&sentence.lower, word, from)?;
        Some((at, usize::MAX - word.len(), *operator))
    });
    let (at, _, operator) = found.min()?;
    // The `not` is then heard by `is_failing`, which looks at what stands before.
    match operator {
        "NOT<" => Some((at + 4, "<")),
        "NOT>" => Some((at + 4, ">")),
        operator => Some((at, operator)),
    }
}

fn opposite(operator: &str) -> &'static str {
    match operator {
        ">" => "<=",
        ">=" => "<",
        "<" => ">=",
        "<=" => ">",
        "==" => "!=",
        _ => "==",
    }
}

/// "quantity must be greater than 0", "price between 5 and 500", "no negative quantity"
fn bounds(sentence: &Sentence<'_>) -> Option<Understood> {
    if let Some((at, _)) = sentence.first(&["between", "in the range", "range", "from"])
        && let [low, high] = values_after(sentence, at).as_slice()
    {
        let column = column_of_bounds(sentence, at)?;
        let is_outside = sentence.flags && !sentence.is_negated(at) && !sentence.has(&["outside", "out of"]);
        if is_outside {
            return None;
        }
        return Some(Understood::Rule("range", json!({"column": column, "min": low, "max": high})));
    }
    if let Some((at, _)) = sentence.first(&["negative", "below zero", "less than zero"])
        && !sentence.has(&["non-negative", "nonnegative"])
    {
        let column = column_of_bounds(sentence, at)?;
        return Some(Understood::Rule("range", json!({"column": column, "min": 0})));
    }
    if let Some((at, _)) = sentence.first(&["non-negative", "nonnegative"]) {
        return Some(Understood::Rule("range", json!({"column": column_of_bounds(sentence, at)?, "min": 0})));
    }
    if let Some((at, _)) = sentence.first(&["positive", "non-positive"]) {
        let column = column_of_bounds(sentence, at)?;
        return Some(Understood::Rule("range", json!({"column": column, "min": 0, "strict_min": true})));
    }
    let (at, operator) = comparison(sentence, 0)?;
    let value = values_after(sentence, at).into_iter().next()?;
    let column = column_of_bounds(sentence, at)?;
    let operator = if sentence.is_failing(at) { opposite(operator) } else { operator };
    Some(match operator {
        ">" => Understood::Rule("range", json!({"column": column, "min": value, "strict_min": true})),
        ">=" => Understood::Rule("range", json!({"column": column, "min": value})),
        "<" => Understood::Rule("range", json!({"column": column, "max": value, "strict_max": true})),
        "<=" => Understood::Rule("range", json!({"column": column, "max": value})),
        "==" => Understood::Rule("in_set", json!({"column": column, "values": [value]})),
        _ => Understood::Rule("in_set", json!({"column": column, "values": [value], "negate": true})),
    })
}

fn column_of_bounds<'a>(sentence: &Sentence<'a>, at: usize) -> Option<&'a str> {
    sentence.column_before(at)
}

/// The numbers, or else the dates, that stand after a place.
fn values_after(sentence: &Sentence<'_>, at: usize) -> Vec<Value> {
    let dates: Vec<Value> = sentence.text[at..]
        .split(|c: char| c.is_whitespace() || c == ',' || c == ';')
        .map(|word| word.trim_matches(['"', '\'', '.', '(', ')']))
        .filter(|word| ordain_types::is_timestamp(word))
        .map(|word| json!(word))
        .collect();
    if !dates.is_empty() {
        return dates;
    }
    let is_after = |number: &&Number| number.start >= at && !number.is_percent;
    sentence.numbers.iter().filter(is_after).map(|number| plain(number.value)).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "whole and far inside the range")]
fn plain(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// "status must be one of paid, open"
fn allowed_values(sentence: &Sentence<'_>) -> Option<Understood> {
    let (at, end) = sentence.first(&[
        "one of",
        "allowed values are",
        "allowed values",
        "any of",
        "either",
        "in (",
        "in [",
        "in {",
        "among",
    ])?;
    let rest = sentence.text[end..].trim_start_matches([' ', ':', '(', '[', '{', '=']);
    let rest =
        rest.strip_prefix("the following").unwrap_or(rest).trim_start_matches([' ', ':', '(', '[', '{']);
    let rest = rest.split([')', ']', '}']).next().unwrap_or(rest).trim_end_matches(['.', ' ']);
    let parts =
        rest.split([',', '|', '/']).flat_map(|part| part.split(" or ")).flat_map(|part| part.split(" and "));
    let values: Vec<Value> = parts
        .map(|part| part.trim().trim_start_matches("or ").trim_start_matches("and ").trim())
        .map(|part| part.trim_matches(['"', '\'', '`', '“', '”']))
        .filter(|part| !part.is_empty())
        .map(|part| part.parse::<f64>().map_or_else(|_| json!(part), plain))
        .collect();
    let column = sentence.column_before(at)?;
    if values.is_empty() {
        return Some(Understood::Unclear(format!("which values may `{column}` have?")));
    }
    let mut params = json!({"column": column, "values": values});
    if sentence.is_failing(at) {
        params["negate"] = json!(true);
    }
    Some(Understood::Rule("in_set", params))
}

/// "`created_at` must not be older than 7 days"
fn freshness(sentence: &Sentence<'_>) -> Option<Understood> {
    if !sentence.has(&[
        "older than",
        "fresh",
        "stale",
        "newest",
        "latest",
        "most recent",
        "within the last",
        "up to date",
        "recent",
    ]) {
        return None;
    }
    let number = sentence.numbers.iter().find(|number| !number.is_percent)?;
    let unit =
        sentence.lower[number.end..].split_whitespace().next()?.trim_matches(|c: char| !c.is_alphabetic());
    let unit = match unit {
        "second" | "seconds" | "s" => "s",
        "minute" | "minutes" | "min" | "m" => "m",
        "hour" | "hours" | "h" => "h",
        "day" | "days" | "d" => "d",
        "week" | "weeks" | "w" => "w",
        _ => return None,
    };
    let column = sentence.columns.first().map(|mention| mention.name).or_else(|| sentence.only_time());
    let Some(column) = column else { return Some(unclear(sentence, "says how new a row is")) };
    Some(Understood::Rule(
        "freshness",
        json!({"column": column, "max_age": format!("{}{unit}", number.value)}),
    ))
}

/// "the sum of total in orders must equal the sum of amount in payments"
fn totals(sentence: &Sentence<'_>) -> Option<Understood> {
    let sides = sentence.lower.matches("sum of").count() + sentence.lower.matches("total of").count();
    if sides < 2
        || !sentence.has(&["equal", "equals", "match", "matches", "agree", "agrees", "same as", "reconcile"])
    {
        return None;
    }
    let mut found: Vec<Value> = Vec::new();
    let mut at = 0;
    while found.len() < 2 {
        let next = ["sum of", "total of"]
            .iter()
            .filter_map(|phrase| find(&sentence.lower, phrase, at).map(|start| start + phrase.len()))
            .min()?;
        let end =
            ["sum of", "total of"].iter().filter_map(|phrase| find(&sentence.lower, phrase, next)).min();
        let clause = &sentence.lower[next..end.unwrap_or(sentence.lower.len())];
        found.push(side(sentence, clause)?);
        at = next;
    }
    Some(Understood::Rule(
        "reconcile_totals",
        json!({"left": found[0], "right": found[1], "tolerance": 0.005}),
    ))
}

/// One side of two totals: the table and the column that a clause names.
fn side(sentence: &Sentence<'_>, clause: &str) -> Option<Value> {
    let all = || std::iter::once(sentence.table).chain(sentence.others.iter().copied());
    let named = all().find(|table| find(clause, &table.table.name.to_lowercase(), 0).is_some());
    let candidates: Vec<&TableBrief> = named.map_or_else(|| all().collect(), |table| vec![table]);
    for table in candidates {
        let mut columns: Vec<&str> = table.table.columns.iter().map(|column| column.name.as_str()).collect();
        columns.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let said = |name: &&&str| {
            let plain = name.to_lowercase();
            [plain.clone(), plain.replace('_', " "), format!("{plain}s")]
                .iter()
                .any(|phrase| find(clause, phrase, 0).is_some())
        };
        if let Some(column) = columns.iter().find(said) {
            return Some(json!({"table": table.table.name, "column": column, "function": "sum"}));
        }
    }
    None
}

/// "orders must have at least 10 rows", "orders must not be empty"
fn row_count(sentence: &Sentence<'_>) -> Option<Understood> {
    if sentence.has(&["same number of rows", "as many rows"]) {
        let other = sentence.others.first()?;
        return Some(Understood::Rule("row_count", json!({"same_as": other.table.name})));
    }
    if sentence.columns.is_empty()
        && sentence.has(&["not be empty", "be empty", "is empty", "have rows", "has rows"])
    {
        return Some(Understood::Rule("row_count", json!({"min": 1})));
    }
    if !sentence.columns.is_empty() || !sentence.has(&["rows", "records", "row count"]) {
        return None;
    }
    let value = |number: &Number| plain(number.value);
    let numbers: Vec<&Number> = sentence.numbers.iter().filter(|number| !number.is_percent).collect();
    match numbers.as_slice() {
        [low, high] if sentence.has(&["between", "from"]) => {
            Some(Understood::Rule("row_count", json!({"min": value(low), "max": value(high)})))
        }
        [one] => {
            let (at, operator) = comparison(sentence, 0)?;
            let operator = if sentence.is_failing(at) { opposite(operator) } else { operator };
            let bound = match operator {
                ">" => json!({"min": plain(one.value + 1.0)}),
                ">=" => json!({"min": value(one)}),
                "<" => json!({"max": plain(one.value - 1.0)}),
                "<=" => json!({"max": value(one)}),
                _ => json!({"min": value(one), "max": value(one)}),
            };
            Some(Understood::Rule("row_count", bound))
        }
        _ => None,
    }
}

/// "`order_id` must be increasing"
fn monotonic(sentence: &Sentence<'_>) -> Option<Understood> {
    let direction = if sentence.has(&["increasing", "ascending", "increase", "monotonic", "sorted"]) {
        "increasing"
    } else if sentence.has(&["decreasing", "descending", "decrease"]) {
        "decreasing"
    } else {
        return None;
    };
    let column = sentence.columns.first()?.name;
    let strict = sentence.has(&["strictly"]);
    Some(Understood::Rule("monotonic", json!({"column": column, "direction": direction, "strict": strict})))
}

/// "country must have exactly 2 characters"
fn length(sentence: &Sentence<'_>) -> Option<Understood> {
    sentence.first(&["characters", "letters", "digits", "characters long", "length"])?;
    let column = sentence.columns.first()?.name;
    let numbers: Vec<Value> = sentence.numbers.iter().map(|number| plain(number.value)).collect();
    let mut params = json!({"column": column});
    merge(
        &mut params,
        match numbers.as_slice() {
            [low, high] => json!({"min": low, "max": high}),
            [one] if sentence.has(&["at least", "minimum"]) => json!({"min": one}),
            [one] if sentence.has(&["at most", "maximum", "no more than"]) => json!({"max": one}),
            [one] => json!({"min": one, "max": one}),
            _ => return None,
        },
    );
    Some(Understood::Rule("length", params))
}

fn unclear(sentence: &Sentence<'_>, what: &str) -> Understood {
    let columns: Vec<&str> = sentence.table.table.columns.iter().map(|column| column.name.as_str()).collect();
    Understood::Unclear(format!(
        "which column of `{}` {what}? There are {}",
        sentence.table.table.name,
        columns.join(", ")
    ))
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}
