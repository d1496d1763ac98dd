//! Which of the owner's queries look at each row of one table by itself.
//!
//! An invariant of that kind can only be broken by rows that a run touched. So only these are looked at, however many
//! others there are, and runs that touch other rows have nothing to do with it.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, LimitClause, ObjectNamePart, SetExpr, Statement, TableFactor, Visit, Visitor};

use super::judge;

/// A query `SELECT … FROM table WHERE …` in which nothing but columns, values and operators occurs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RowWise {
    /// The table.
    pub(crate) table: String,
    /// The columns that it names.
    pub(crate) columns: Vec<String>,
}

impl RowWise {
    /// Reads a query; `None` if it does more than look at single rows, or that is not certain.
    pub(crate) fn of(sql: &str) -> Option<Self> {
        let statement = judge::parsed(sql.trim().trim_end_matches(';')).ok()?;
        let Statement::Query(query) = &statement else { return None };
        let SetExpr::Select(select) = &*query.body else { return None };
        let [from] = select.from.as_slice() else { return None };
        let TableFactor::Table { name, args: None, version: None, sample: None, json_path: None, .. } =
            &from.relation
        else {
            return None;
        };
        let [ObjectNamePart::Identifier(table)] = name.0.as_slice() else { return None };
        // Whatever else the statement has is missing in this one, which is then another.
        let projection: Vec<String> = select.projection.iter().map(ToString::to_string).collect();
        let condition = select.selection.as_ref()?;
        // Whether there is any row does not depend on how many are wanted at most.
        let limit = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit: Some(limit), offset: None, .. }) => {
                format!("LIMIT {limit}")
            }
            _ => String::new(),
        };
        let (projection, table_factor) = (projection.join(", "), &from.relation);
        let plain = format!("SELECT {projection} FROM {table_factor} WHERE {condition} {limit}");
        if judge::parsed(&plain).ok()? != statement {
            return None;
        }
        let mut columns = Columns::default();
        let is_plain = query.visit(&mut columns).is_continue();
        is_plain.then(|| Self { table: table.value.clone(), columns: columns.0 })
    }
}

/// Gathers the columns, and stops at everything that could look beyond one row.
#[derive(Default)]
struct Columns(Vec<String>);

impl Visitor for Columns {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(name) => self.0.push(name.value.clone()),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [_, name] => self.0.push(name.value.clone()),
                _ => return ControlFlow::Break(()),
            },
            Expr::Value(_)
            | Expr::Nested(_)
            | Expr::BinaryOp { .. }
            | Expr::UnaryOp { .. }
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::Like { .. } => {}
            _ => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_about_single_rows_is_known_from_others() {
        let stock = RowWise::of("SELECT item_id, quantity FROM inventory WHERE quantity < 0;").unwrap();
        assert_eq!(stock.table, "inventory");
        assert_eq!(stock.columns, ["item_id", "quantity", "quantity"]);
        for single in [
            "SELECT * FROM t WHERE a IS NULL OR b NOT BETWEEN 1 AND 2",
            "SELECT t.a FROM t WHERE t.a IN ('x', 'y') AND NOT (t.b LIKE 'z%')",
            "SELECT x.a FROM t AS x WHERE x.a + x.b <> x.c",
            "SELECT a FROM t WHERE a < 0 LIMIT 1",
        ] {
            assert!(RowWise::of(single).is_some(), "{single}");
        }
        for more in [
            "SELECT sum(a) FROM t WHERE a > 0",
            "SELECT a FROM t WHERE a > 0 GROUP BY a",
            "SELECT DISTINCT a FROM t WHERE a > 0",
            "SELECT a FROM t WHERE a > (SELECT max(b) FROM t)",
            "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
            "SELECT a FROM t, u WHERE t.a = u.a",
            "SELECT a FROM t JOIN u ON t.a = u.a WHERE t.b > 0",
            "SELECT a FROM t WHERE a > 0 ORDER BY a LIMIT 1",
            "SELECT a, row_number() OVER (ORDER BY a) FROM t WHERE a > 0",
            "SELECT a FROM t WHERE a > 0 UNION SELECT a FROM u WHERE a > 0",
            "WITH t AS (SELECT * FROM u) SELECT a FROM t WHERE a > 0",
            "SELECT a FROM t WHERE a < 0 LIMIT 1 OFFSET 1",
            "SELECT a FROM t",
            "SELECT a FROM s.t WHERE a > 0",
            "SELECT a FROM t WHERE random() > 0.5",
            "DELETE FROM t WHERE a > 0",
            "nonsense",
        ] {
            assert_eq!(RowWise::of(more), None, "{more}");
        }
    }
}
