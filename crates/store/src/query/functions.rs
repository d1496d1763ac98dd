//! Functions that a plan's SQL may call on PostgreSQL.
//!
//! A list of what may be called, because the list of what may not grows with every extension and release: some
//! functions read files, some run SQL given as text, some sleep or change settings.

use super::tokens::Token;
use crate::error::StoreError;

/// Functions without effects. All of them are PostgreSQL's own.
const FUNCTIONS: &[&str] = &[
    "abs",
    "age",
    "array_agg",
    "array_length",
    "array_position",
    "array_to_string",
    "avg",
    "bit_and",
    "bit_or",
    "bool_and",
    "bool_or",
    "btrim",
    "cardinality",
    "cast",
    "cbrt",
    "ceil",
    "ceiling",
    "char_length",
    "character_length",
    "chr",
    "coalesce",
    "concat",
    "concat_ws",
    "corr",
    "count",
    "covar_pop",
    "covar_samp",
    "cume_dist",
    "date_bin",
    "date_part",
    "date_trunc",
    "degrees",
    "dense_rank",
    "div",
    "every",
    "exp",
    "extract",
    "first_value",
    "floor",
    "format",
    "gcd",
    "generate_series",
    "greatest",
    "grouping",
    "initcap",
    "isfinite",
    "json_agg",
    "json_array_elements",
    "json_array_elements_text",
    "json_array_length",
    "json_build_array",
    "json_build_object",
    "json_each",
    "json_each_text",
    "json_extract_path",
    "json_extract_path_text",
    "json_object_agg",
    "json_object_keys",
    "json_typeof",
    "jsonb_agg",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_array_length",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_each",
    "jsonb_each_text",
    "jsonb_exists",
    "jsonb_extract_path",
    "jsonb_extract_path_text",
    "jsonb_object_agg",
    "jsonb_object_keys",
    "jsonb_path_exists",
    "jsonb_path_query",
    "jsonb_typeof",
    "justify_days",
    "justify_hours",
    "justify_interval",
    "lag",
    "last_value",
    "lcm",
    "lead",
    "least",
    "left",
    "length",
    "ln",
    "log",
    "log10",
    "lower",
    "lpad",
    "ltrim",
    "make_date",
    "make_interval",
    "make_timestamp",
    "make_timestamptz",
    "max",
    "md5",
    "min",
    "mod",
    "mode",
    "now",
    "nth_value",
    "ntile",
    "nullif",
    "octet_length",
    "overlay",
    "percent_rank",
    "percentile_cont",
    "percentile_disc",
    "pi",
    "position",
    "power",
    "radians",
    "rank",
    "regexp_like",
    "regexp_match",
    "regexp_matches",
    "regexp_replace",
    "regexp_split_to_table",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "replace",
    "reverse",
    "right",
    "round",
    "row",
    "row_number",
    "row_to_json",
    "rpad",
    "rtrim",
    "sign",
    "split_part",
    "sqrt",
    "starts_with",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "string_to_array",
    "strpos",
    "substr",
    "substring",
    "sum",
    "to_char",
    "to_date",
    "to_json",
    "to_jsonb",
    "to_number",
    "to_timestamp",
    "translate",
    "trim",
    "trunc",
    "unnest",
    "upper",
    "var_pop",
    "var_samp",
    "variance",
    "width_bucket",
];

/// Words of the language, and types, that a parenthesis may follow.
const WORDS: &[&str] = &[
    "all",
    "and",
    "any",
    "array",
    "as",
    "between",
    "bigint",
    "by",
    "case",
    "char",
    "character",
    "cube",
    "decimal",
    "distinct",
    "double",
    "else",
    "except",
    "exists",
    "filter",
    "float",
    "from",
    "full",
    "group",
    "having",
    "ilike",
    "in",
    "inner",
    "int",
    "integer",
    "intersect",
    "interval",
    "is",
    "join",
    "lateral",
    "left",
    "like",
    "limit",
    "materialized",
    "not",
    "numeric",
    "offset",
    "on",
    "or",
    "order",
    "over",
    "partition",
    "precision",
    "real",
    "right",
    "rollup",
    "select",
    "sets",
    "similar",
    "smallint",
    "some",
    "text",
    "then",
    "time",
    "timestamp",
    "timestamptz",
    "to",
    "union",
    "using",
    "values",
    "varchar",
    "varying",
    "when",
    "where",
    "window",
    "with",
    "within",
];

/// Refuses what the read-only subtransaction would let through.
pub(super) fn check(tokens: &[Token]) -> Result<(), StoreError> {
    for (index, token) in tokens.iter().enumerate() {
        let (Token::Word(name) | Token::Quoted(name)) = token else { continue };
        let lower = name.to_lowercase();
        if lower.starts_with("pg_") {
            return Err(refused(&format!("it names `{name}`, which is the database's own")));
        }
        let called = tokens.get(index + 1) == Some(&Token::Symbol("("));
        if called && !may_be_called(tokens, index, &lower, matches!(token, Token::Quoted(_))) {
            return Err(refused(&format!("the function `{name}` may not be called")));
        }
    }
    Ok(())
}

fn may_be_called(tokens: &[Token], index: usize, lower: &str, is_quoted: bool) -> bool {
    let before = index.checked_sub(1).map(|before| &tokens[before]);
    let is_word = |token: Option<&Token>, word: &str| matches!(token, Some(Token::Word(own)) if own.eq_ignore_ascii_case(word));
    // `schema.function(…)`: a function's own name is enough for the ones in the list.
    if before == Some(&Token::Symbol(".")) {
        return false;
    }
    // `… AS item(value)` names columns, and `WITH totals(a, b) AS (…)` does too.
    if is_word(before, "as") {
        return true;
    }
    let opens_list =
        is_word(before, "with") || is_word(before, "recursive") || before == Some(&Token::Symbol(","));
    if opens_list && defines(tokens, index + 1) {
        return true;
    }
    !is_quoted && (FUNCTIONS.contains(&lower) || WORDS.contains(&lower))
}

/// Whether `(a, b) AS (` or `(a, b) AS [NOT] MATERIALIZED (` follows, which only the definition of a list entry
/// has: no function call can stand before these words.
fn defines(tokens: &[Token], open: usize) -> bool {
    let names = tokens[open + 1..]
        .iter()
        .take_while(|token| matches!(token, Token::Word(_) | Token::Quoted(_) | Token::Symbol(",")))
        .count();
    let mut rest = tokens[open + 1 + names..].iter();
    let mut words = Vec::new();
    if rest.next() != Some(&Token::Symbol(")")) {
        return false;
    }
    for token in rest.take(4) {
        match token {
            Token::Word(word) => words.push(word.to_lowercase()),
            Token::Symbol("(") => break,
            _ => return false,
        }
    }
    // In a list of tables, `f(a) AS (b int)` would call `f`; there, `FROM` or `JOIN` comes first.
    let in_list_of_tables = tokens[..open].iter().rev().find_map(|token| match token {
        Token::Word(word) if ["from", "join"].iter().any(|from| word.eq_ignore_ascii_case(from)) => {
            Some(true)
        }
        Token::Word(word) if ["with", "recursive"].iter().any(|with| word.eq_ignore_ascii_case(with)) => {
            Some(false)
        }
        _ => None,
    });
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    in_list_of_tables == Some(false)
        && matches!(words.as_slice(), ["as"] | ["as", "materialized"] | ["as", "not", "materialized"])
}

fn refused(message: &str) -> StoreError {
    StoreError::Query { message: message.to_owned(), hint: None }
}
