//! Rows that something is compared with by their names: of several that are called so it is asked which one is meant.

use super::{SHOWN, Writer, braces, indent, named};
use crate::reader::form::{Asked, Cond, Op, Operand, Path, Select};
use crate::reader::index::split_name;

impl Writer<'_> {
    /// Lines that are carried out only if each name that a condition compares with is that of one row.
    pub(super) fn asking(&mut self, conds: &[&Cond], lines: String) -> String {
        let mut compared = Vec::new();
        for cond in conds {
            operands(cond, &mut compared);
        }
        compared.retain(|(path, cond)| !self.is_key(path.table, cond));
        let key = |(path, _): &(Path, Cond)| {
            let table = &self.index.tables[path.table];
            split_name(&table.columns[table.key.unwrap_or(path.column)].name).join(" ")
        };
        let by = compared.first().map(key).unwrap_or_default();
        let queries: Vec<String> = compared.iter().map(|(path, cond)| self.rows_called(path, cond)).collect();
        if queries.is_empty() {
            return lines;
        }
        format!(
            "several = [rows for rows in [{}] if len(rows) > 1]\nif several:\n    \
             listed = \"; \".join(\", \".join(f\"{{name.replace('_', ' ')}} {{'no value' if value is None else value}}\" for name, value in row.items()) for row in several[0][:{SHOWN}])\n    \
             answer_text = f\"{{len(several[0])}} rows are called so: {{listed}}. Which one is meant? Say its {} instead of its name.\"\n    \
             STATUS = \"invalid_request\"\nelse:\n{}",
            queries.join(", "),
            braces(&by),
            indent(&lines),
        )
    }

    /// Whether a condition is that a key has a value, which one row alone has.
    fn is_key(&self, table: usize, cond: &Cond) -> bool {
        matches!(cond, Cond::Cmp(path, Op::Eq, Operand::Lit(_)) if path.hops.is_empty() && self.index.tables[table].key == Some(path.column))
    }

    /// The rows that a comparison may be with: their keys, their names and what is compared.
    fn rows_called(&mut self, path: &Path, cond: &Cond) -> String {
        let table = &self.index.tables[path.table];
        let own = |column: usize| Path { hops: Vec::new(), table: path.table, column };
        let mut shown: Vec<Path> = table.label.into_iter().chain(table.key).map(own).collect();
        shown.push(path.clone());
        let names = named(self.index, &shown);
        let select = Select {
            table: path.table,
            filter: cond.clone(),
            order: None,
            nth: None,
            limit: None,
            asked: Asked::Rows,
        };
        self.query(&select, &names, &[])
    }
}

/// The rows that conditions compare with, each with the column.
fn operands(cond: &Cond, found: &mut Vec<(Path, Cond)>) {
    match cond {
        Cond::And(all) | Cond::Or(all) => all.iter().for_each(|one| operands(one, found)),
        Cond::Not(inner) | Cond::Some(_, inner) => operands(inner, found),
        Cond::Cmp(_, _, Operand::Of(path, rows)) => found.push((path.clone(), rows.as_ref().clone())),
        Cond::Cmp(..) | Cond::Days(..) | Cond::Word(..) | Cond::Null(_) => {}
    }
}
