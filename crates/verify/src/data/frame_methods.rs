//! The methods of pandas' data frames, as far as rules need to tell them apart.

/// Methods that keep the columns, with the argument that names columns: its keyword and its position.
pub(crate) const KEEPING: &[(&str, &str, usize)] = &[
    ("sort_values", "by", 0),
    ("nlargest", "columns", 1),
    ("nsmallest", "columns", 1),
    ("set_index", "keys", 0),
    ("explode", "column", 0),
    ("dropna", "subset", usize::MAX),
    ("drop_duplicates", "subset", 0),
    ("astype", "dtype", usize::MAX),
    ("fillna", "value", usize::MAX),
    ("copy", "", 0),
    ("head", "", 0),
    ("tail", "", 0),
    ("sample", "", 0),
    ("sort_index", "", 0),
    ("reset_index", "", 0),
    ("ffill", "", 0),
    ("bfill", "", 0),
    ("replace", "", 0),
    ("round", "", 0),
    ("convert_dtypes", "", 0),
    ("infer_objects", "", 0),
    ("where", "", 0),
    ("mask", "", 0),
    ("clip", "", 0),
    ("truncate", "", 0),
    ("interpolate", "", 0),
];

/// Methods that look at every column unless some are named.
pub(crate) const BY_ALL: &[&str] = &["drop_duplicates", "dropna"];

/// Other methods, so that a method which is not called at once is not taken for a column.
const OTHERS: &[&str] = words!("frame_methods.txt");

/// Whether a data frame has a method of that name.
pub(crate) fn is_method(name: &str) -> bool {
    OTHERS.binary_search(&name).is_ok() || KEEPING.iter().any(|(known, ..)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_methods_is_sorted_for_the_search() {
        assert!(OTHERS.is_sorted());
        assert!(is_method("groupby") && is_method("head") && !is_method("colour"));
    }
}
