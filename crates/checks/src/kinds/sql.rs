//! Rules in SQL: a SELECT of the owner's that finds the rows which break the rule.

use ordain_types::Schema;
use sqlparser::ast::{Expr, GroupByExpr, Query, SelectItem, SetExpr, Statement};
use sqlparser::dialect::DuckDbDialect;
use sqlparser::parser::Parser;

use super::params::{self, CompileError, Params};
use super::{CheckPlan, CompiledKind, literal};
use crate::check::Check;

/// Functions that make one row of all of them.
const AGGREGATES: [&str; 7] = ["count", "sum", "avg", "min", "max", "median", "count_if"];

/// Whether a rule is no sentence, but one SELECT.
pub(crate) fn is_statement(text: &str) -> bool {
    parsed(text).is_some()
}

pub(super) fn compile(
    check: &Check,
    params: &mut Params<'_>,
    schema: &Schema,
) -> Result<CompiledKind, CompileError> {
    let query = params.text("query")?;
    if check.filter.is_some() {
        return Err(CompileError::param("`sql` takes no `filter`", "write the condition into the `query`"));
    }
    if parsed(&query).is_some_and(|query| is_figure(&query)) {
        return Err(CompileError::param(
            "the statement always gives one row, its figure, and the rows that it gives are those that break the rule",
            "select these rows themselves, or add HAVING with the figures that are wrong",
        ));
    }
    let table = &params::table(schema, check.target_table.first().map_or("", String::as_str))?.name;
    let count = format!("SELECT count(*) AS n FROM \"{}\"", table.replace('"', "\"\""));
    let code = format!(
        "wrong = sql({})\n\
         # A statement may find more rows than its table has, if it joins.\n\
         rows = max(int(sql({})[\"n\"][0]), len(wrong))\n\
         result = {{\n    \"status\": \"FAIL\" if len(wrong) else \"PASS\",\n    \
         \"summary\": f\"{{len(wrong)}} rows are found\",\n    \
         \"evaluated\": rows,\n    \"failed_rows\": wrong,\n}}\n",
        literal::text(&query),
        literal::text(&count)
    );
    let plan = CheckPlan {
        intent: format!("no row is found by {}", query.split_whitespace().collect::<Vec<_>>().join(" ")),
        tables: check.target_table.clone(),
        steps: vec!["run the statement that the check gives, in the cell".to_owned()],
        output: "the rows that it finds".to_owned(),
        ..CheckPlan::default()
    };
    Ok(CompiledKind { code, plan, by_sql: None })
}

fn parsed(text: &str) -> Option<Query> {
    let first = text.split_whitespace().next()?;
    if !["select", "with"].iter().any(|word| first.eq_ignore_ascii_case(word)) {
        return None;
    }
    let mut statements = Parser::parse_sql(&DuckDbDialect {}, text).ok()?;
    match (statements.pop()?, statements.is_empty()) {
        (Statement::Query(query), true) if selects_from_tables(&query) => Some(*query),
        _ => None,
    }
}

/// Whether it looks at tables: `select …` alone may be the beginning of a sentence.
fn selects_from_tables(query: &Query) -> bool {
    query.body.as_select().is_none_or(|select| !select.from.is_empty())
}

/// Whether a statement gives one row of figures, whatever the rows are.
fn is_figure(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    let is_whole = matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    is_whole && select.having.is_none() && select.projection.iter().all(is_aggregate)
}

fn is_aggregate(item: &SelectItem) -> bool {
    let (SelectItem::UnnamedExpr(Expr::Function(function))
    | SelectItem::ExprWithAlias { expr: Expr::Function(function), .. }) = item
    else {
        return false;
    };
    let name = function.name.to_string();
    function.over.is_none() && AGGREGATES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_select_is_a_statement_and_a_sentence_is_none() {
        for statement in [
            "SELECT * FROM orders WHERE total < 0",
            "select o.id from orders o anti join users u on o.user_id = u.user_id",
            "WITH old AS (SELECT * FROM orders) SELECT * FROM old;",
            "SELECT count(*) FROM orders",
        ] {
            assert!(is_statement(statement), "{statement}");
        }
        for sentence in [
            "Select the orders from users that are missing",
            "select orders where total is negative",
            "with every order there must be a user",
            "SELECT * FROM orders; DROP TABLE orders",
            "DELETE FROM orders",
            "total must be positive",
        ] {
            assert!(!is_statement(sentence), "{sentence}");
        }
    }

    #[test]
    fn a_figure_of_all_rows_is_told_from_rows() {
        let figure = |text: &str| is_figure(&parsed(text).unwrap());
        assert!(figure("SELECT COUNT(*) AS n FROM orders WHERE total < 0"));
        assert!(figure("SELECT min(total), max(total) FROM orders"));
        assert!(!figure("SELECT count(*) FROM orders HAVING count(*) > 3"));
        assert!(!figure("SELECT user_id, count(*) FROM orders GROUP BY user_id"));
        assert!(!figure("SELECT count(*) FROM orders GROUP BY user_id"));
        assert!(!figure("SELECT id, count(*) OVER () FROM orders"));
    }
}
