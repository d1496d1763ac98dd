//! Cases in which Ordain means something else on purpose, each with the reason. They are counted apart.

const NOTHING_ASKED: &str = "a check that asks nothing is a slip of the pen, and is refused";
const NOT_COMPARED: &str = "text and numbers cannot be compared: an error that names both, not a failing row and not zero rows that pass";
const NO_TYPE: &str = "a column without any value has no figure to judge: a run of checks says SKIPPED and ends with 3, not FAIL";
const WRONG_TYPE: &str = "a value of another type is what the kind looks for: a failing row, not an error";

/// The file, a part of the title, the reason.
const KNOWN: &[(&str, &str, &str)] = &[
    ("expect_column_distinct_values_to_be_in_set", "vacuously_true", NOTHING_ASKED),
    ("expect_column_mean_to_be_between", "vacuously_true", NOTHING_ASKED),
    ("expect_column_median_to_be_between", "vacuously_true", NOTHING_ASKED),
    ("expect_column_proportion_of_unique_values_to_be_between", "vacuously_true", NOTHING_ASKED),
    ("expect_column_stdev_to_be_between", "vacuously_true", NOTHING_ASKED),
    ("expect_column_unique_value_count_to_be_between", "vacuously_true", NOTHING_ASKED),
    ("expect_table_row_count_to_be_between", "vacuously_true", NOTHING_ASKED),
    ("expect_column_kl_divergence_to_be_less_than", "null_threshold", NOTHING_ASKED),
    ("expect_column_values_to_be_between", "test_conditional_expectation_fails", NOT_COMPARED),
    ("expect_column_values_to_be_between_tz_naive", "test_conditional_expectation_fails", NOT_COMPARED),
    ("expect_column_values_to_be_in_set", "test_conditional_expectation_passes", NOT_COMPARED),
    ("expect_column_pair_values_to_be_equal", "compare_number_to_text", NOT_COMPARED),
    ("expect_column_max_to_be_between", "test_empty_column", NO_TYPE),
    ("expect_column_mean_to_be_between", "test_empty_column", NO_TYPE),
    ("expect_column_median_to_be_between", "test_empty_column", NO_TYPE),
    ("expect_column_values_to_be_dateutil_parseable", "wrong_input_data_type", WRONG_TYPE),
    ("expect_column_values_to_match_strftime_format", "wrong_input_data_type", WRONG_TYPE),
    (
        "expect_column_values_to_be_of_type",
        "negative_pandas_datetime_with_timezone",
        "a zone is a form of writing: points in time are compared in UTC, with a zone or without, so they are one type",
    ),
    (
        "expect_column_pair_cramers_phi_value_to_be_less_than",
        "string_with_missings",
        "a row without a value is left out, as in every other kind: a gap is not a value that depends on another",
    ),
];

/// Why a case differs, where it does so on purpose.
pub(crate) fn reason(file: &str, title: &str) -> Option<String> {
    let known = KNOWN.iter().find(|(known, part, _)| *known == file && title.contains(part));
    known.map(|(_, _, reason)| (*reason).to_owned())
}
