//! "Did you mean …": the known name nearest to a mistyped one.

/// The name among `known` that `wrong` most likely stands for, if one is near enough to offer.
///
/// A name that differs only in case wins; otherwise the one with the fewest edits, as long as that is at most
/// a third of the name's length (one edit is always near enough for names of three letters or more).
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    let mut best: Option<(usize, &'a str)> = None;
    for name in known {
        let distance = edits(&wrong, &name.to_lowercase());
        if best.is_none_or(|(fewest, _)| distance < fewest) {
            best = Some((distance, name));
        }
    }
    let (distance, name) = best?;
    let longest = wrong.chars().count().max(name.chars().count());
    let allowed = if longest >= 3 { (longest / 3).max(1) } else { 0 };
    (distance <= allowed).then_some(name)
}

/// Edit distance in which swapping two neighbouring letters counts as one edit. Names are short; a hostile one is cut so
/// that the work stays bounded.
fn edits(left: &str, right: &str) -> usize {
    let cut = |name: &str| name.chars().take(64).collect::<String>();
    strsim::osa_distance(&cut(left), &cut(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_and_a_far_one_is_not() {
        let known = ["name", "price", "quantity_in_stock", "description"];
        assert_eq!(nearest("Price", known), Some("price"));
        assert_eq!(nearest("quantity_in_stcok", known), Some("quantity_in_stock"));
        assert_eq!(nearest("nmae", known), Some("name"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("x", known), None);
    }
}
