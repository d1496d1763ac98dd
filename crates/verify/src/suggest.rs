//! "Did you mean …": the known name that a wrong one most likely stands for.

use ordain_types::nearest;

/// A known name offered for a wrong one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Suggestion<'a> {
    pub(crate) name: &'a str,
    /// The two differ only in case and underscores, and no other known name does: the fix is mechanical.
    pub(crate) is_certain: bool,
    /// The two are near enough to ask "did you mean".
    pub(crate) is_near: bool,
}

/// The best known name for a wrong one; `None` only if nothing is known.
pub(crate) fn suggest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<Suggestion<'a>> {
    let known: Vec<&str> = known.into_iter().collect();
    let folded = fold(wrong);
    let mut same = known.iter().copied().filter(|name| fold(name) == folded);
    if let Some(name) = same.next() {
        return Some(Suggestion { name, is_certain: same.next().is_none(), is_near: true });
    }
    let near = nearest(wrong, known.iter().copied()).or_else(|| by_words(wrong, &known));
    if let Some(name) = near {
        return Some(Suggestion { name, is_certain: false, is_near: true });
    }
    let likest = known.iter().copied().max_by_key(|name| likeness(wrong, name))?;
    Some(Suggestion { name: likest, is_certain: false, is_near: false })
}

/// The names as one text, cut where it gets long.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for (index, name) in names.into_iter().enumerate() {
        if text.len() > 400 {
            text.push_str(", …");
            break;
        }
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(name);
    }
    if text.is_empty() { "none".to_owned() } else { text }
}

/// A name without case and underscores.
pub(crate) fn fold(name: &str) -> String {
    name.chars()
        .filter(|&character| !matches!(character, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// A name that says the same in more or other words: `stock` for `quantity_in_stock`, `qty` for `quantity`.
fn by_words<'a>(wrong: &str, known: &[&'a str]) -> Option<&'a str> {
    let wanted: Vec<String> = words(wrong).map(full_word).collect();
    let fits = |name: &&&str| {
        let have: Vec<String> = words(name).map(full_word).collect();
        !wanted.is_empty()
            && wanted.iter().all(|word| word.len() > 2)
            && (wanted.iter().all(|word| have.contains(word))
                || have.iter().all(|word| wanted.contains(word)))
    };
    known.iter().filter(fits).min_by_key(|name| name.len()).copied()
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn full_word(word: &str) -> String {
    let word = word.to_lowercase();
    let full = match word.as_str() {
        "qty" | "quant" | "qnty" => "quantity",
        "desc" | "descr" => "description",
        "amt" => "amount",
        "cust" => "customer",
        "num" | "no" => "number",
        "addr" => "address",
        "cost" => "price",
        "txn" | "trans" => "transaction",
        "ts" | "time" | "datetime" => "timestamp",
        _ => return word,
    };
    full.to_owned()
}

/// How many pairs of neighbouring letters two names share, then how alike their lengths are.
fn likeness(left: &str, right: &str) -> (usize, isize) {
    let pairs = |text: &str| -> Vec<(char, char)> {
        let letters: Vec<char> = text.to_lowercase().chars().take(64).collect();
        letters.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let have = pairs(right);
    let shared = pairs(left).iter().filter(|pair| have.contains(pair)).count();
    (shared, -(left.len().abs_diff(right.len()).cast_signed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [&str; 5] = ["item_id", "name", "description", "quantity_in_stock", "price"];

    fn check(wrong: &str, name: &str, is_certain: bool, is_near: bool) {
        assert_eq!(suggest(wrong, COLUMNS), Some(Suggestion { name, is_certain, is_near }), "{wrong}");
    }

    #[test]
    fn case_and_underscores_are_certain_spelling_and_words_are_near() {
        check("Price", "price", true, true);
        check("quantityInStock", "quantity_in_stock", true, true);
        check("quantity_in_stok", "quantity_in_stock", false, true);
        check("stock", "quantity_in_stock", false, true);
        check("qty", "quantity_in_stock", false, true);
        check("desc", "description", false, true);
    }

    #[test]
    fn something_is_offered_even_when_nothing_is_near() {
        let found = suggest("colour", COLUMNS).unwrap();
        assert!(!found.is_near && COLUMNS.contains(&found.name));
        assert_eq!(suggest("colour", []), None);
    }

    #[test]
    fn two_names_of_one_spelling_are_not_certain() {
        let found = suggest("PRICE", ["price", "Price"]).unwrap();
        assert!(!found.is_certain && found.is_near);
    }

    #[test]
    fn a_long_list_is_cut() {
        let names = vec!["column_with_a_long_name"; 100];
        assert!(list(names.iter().copied()).len() < 500);
        assert_eq!(list([]), "none");
    }
}
