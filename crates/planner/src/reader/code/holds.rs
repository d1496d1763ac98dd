//! Whether something holds, and whether that is known: conditions of orders, and questions that are answered with yes or no.

use serde_json::json;

use super::{SHOWN, Writer, first, named, paths_of, quote};
use crate::reader::form::{Cond, Guard, Lit, Op, Operand, Path, Quantity, Select};
use crate::reader::words;

impl Writer<'_> {
    /// Looks whether something is so, up to the `if`.
    pub(super) fn guard(&mut self, guard: &Guard) -> String {
        let looked = self.looked(&guard.cond);
        let query = self.query(&guard.rows, &[], &looked);
        let test = match guard.quantity {
            Quantity::One | Quantity::Every if looked.len() > 1 => {
                "held and all(row[\"holds\"] and not row[\"unknown\"] for row in held)"
            }
            Quantity::One | Quantity::Every => "held and all(row[\"holds\"] for row in held)",
            Quantity::Some => "held",
            Quantity::None => "not held",
        };
        format!("held = {}\nif {test}:", first(&guard.rows, query))
    }

    /// What is looked up to tell whether something holds: that it does, and whether that is not known of a row.
    fn looked(&self, cond: &Cond) -> Vec<(String, Cond)> {
        let gaps: Vec<Cond> = self.gaps(cond).into_iter().map(Cond::Null).collect();
        let unknown = (!gaps.is_empty()).then(|| ("unknown".to_owned(), Cond::any(gaps)));
        [("holds".to_owned(), cond.clone())].into_iter().chain(unknown).collect()
    }

    /// The columns of which a row must have a value, so that it is known whether something holds.
    fn gaps(&self, cond: &Cond) -> Vec<Path> {
        match cond {
            Cond::And(all) | Cond::Or(all) => all.iter().flat_map(|one| self.gaps(one)).collect(),
            Cond::Not(inner) => self.gaps(inner),
            Cond::Cmp(path, ..) | Cond::Days(path, ..) | Cond::Word(path, _) if path.hops.is_empty() => {
                let has_gaps = self.index.tables[path.table].columns[path.column].has_nulls;
                has_gaps.then(|| path.clone()).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Why nothing was done, as an expression.
    pub(super) fn not_so(&mut self, guard: &Guard) -> String {
        let rows = self.words(&guard.rows.filter);
        let several = words::plural(&self.index.tables[guard.rows.table].noun);
        let (is, cond) = match &guard.cond {
            Cond::Not(inner) => ("is", inner.as_ref()),
            cond => ("is not", cond),
        };
        let said = self.words(cond);
        let is_open = !self.gaps(cond).is_empty();
        let why = match guard.quantity {
            Quantity::One | Quantity::Every if is_open => {
                return format!(
                    "{} if any(row[\"unknown\"] for row in held) else {}",
                    quote(&format!("Nothing was done: it is not known whether {said}, where {rows}.")),
                    quote(&format!("Nothing was done: it {is} so that {said}, where {rows}.")),
                );
            }
            Quantity::One | Quantity::Every => format!("it {is} so that {said}, where {rows}"),
            Quantity::Some => format!("there are no {several} where {rows}"),
            Quantity::None => format!("there are {several} where {rows}"),
        };
        quote(&format!("Nothing was done: {why}."))
    }

    pub(super) fn holds(&mut self, select: &Select, cond: &Cond) -> String {
        let mut shown: Vec<Path> = Vec::new();
        let table = &self.index.tables[select.table];
        shown.extend(table.label.or(table.key).map(|column| Path {
            hops: Vec::new(),
            table: select.table,
            column,
        }));
        paths_of(cond, &mut shown);
        shown.dedup();
        let names = named(self.index, &shown);
        let looked = self.looked(cond);
        let found = self.query(select, &names, &looked);
        let text = self.row_text(&names);
        let asked = self.words(cond);
        let is_stock = matches!(cond, Cond::Cmp(path, Op::Gt, Operand::Lit(Lit { value, .. })) if *value == json!(0) && Some(path.column) == self.index.role(select.table, "quantity"));
        let no =
            if is_stock { "No, out of stock".to_owned() } else { format!("No, it is not so that {asked}") };
        let unsure = if looked.len() > 1 {
            let said = quote(&format!("It is not known whether {asked}: "));
            format!("{said} if any(row[\"unknown\"] for row in rows) else ")
        } else {
            String::new()
        };
        let count = match &select.filter {
            Cond::Or(all) => all.len(),
            _ => 1,
        };
        // Two rows may have one name.
        let some = format!(
            "{} if len(rows) > {count} and any(row[\"holds\"] for row in rows) else ",
            quote(&format!("Of some of them {asked}, of others not: "))
        );
        format!(
            "rows = {}\nanswer_rows = rows\nshown = \"; \".join({text} for row in rows[:{SHOWN}])\n\
             is_so = len(rows) >= {count} and all(row[\"holds\"] for row in rows)\n\
             answer_text = ({unsure}{} if is_so else {some}{}) + shown + \".\" if rows else \"There is no such row.\"\n\
             STATUS = \"success\" if rows else \"no_match\"\n",
            found,
            quote(&format!("Yes, {asked}: ")),
            quote(&format!("{no}: ")),
        )
    }
}
