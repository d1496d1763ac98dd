//! Cases in which Ordain means something else on purpose, each with the reason. They are counted apart.

const NOTHING_ASKED: &str = "a check that asks nothing is a slip of the pen, and is refused";
const ONE_TYPE: &str = "a column of a table has one type: values of several types are text";
const READS_AS_NUMBER: &str =
    "text among numbers is what files bring: it is a failing row, or reads as a number, not an error";
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
    (
        "expect_column_mean_to_be_between",
        "type_mismatch",
        "nothing reads as a number, so there is no mean to be within",
    ),
    ("expect_column_values_to_be_between", "mixed_types", READS_AS_NUMBER),
    ("expect_column_values_to_be_between", "string-to-int", READS_AS_NUMBER),
    ("expect_column_values_to_be_between", "test_conditional_expectation_fails", ONE_TYPE),
    ("expect_column_values_to_be_between_tz_naive", "mixed_types", READS_AS_NUMBER),
    ("expect_column_values_to_be_between_tz_naive", "string-to-int", READS_AS_NUMBER),
    ("expect_column_values_to_be_between_tz_naive", "test_conditional_expectation_fails", ONE_TYPE),
    ("expect_column_values_to_be_dateutil_parseable", "wrong_input_data_type", WRONG_TYPE),
    ("expect_column_values_to_match_strftime_format", "wrong_input_data_type", WRONG_TYPE),
    (
        "expect_column_values_to_be_of_type",
        "negative_pandas_datetime_with_timezone",
        "there is one type for points in time",
    ),
    (
        "expect_column_pair_cramers_phi_value_to_be_less_than",
        "string_with_missings",
        "a row without a value is left out",
    ),
];

/// Why a case differs, where it does so on purpose.
pub(super) fn reason(file: &str, title: &str) -> Option<String> {
    let known = KNOWN.iter().find(|(known, part, _)| *known == file && title.contains(part));
    known.map(|(_, _, reason)| (*reason).to_owned())
}
