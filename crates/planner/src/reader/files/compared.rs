//! Rows that are called by a name: what one of them is compared with, and whether something is so of them. Two rows may have
//! one name.

use std::fmt::Write as _;

use super::catalog::Source;
use super::frames::{Frame, ROWS, SHOWN};
use crate::reader::code::{braces, indent, quote};
use crate::reader::form::{Asked, Cond, Form, Measure, Path, Select};
use crate::reader::index::{Column, Index, split_name};
use crate::reader::lexicon::singular;
use crate::reader::token::Token;
use crate::reader::words;

impl Frame<'_> {
    /// The value of the one row that is called so.
    pub(super) fn of_called(&mut self, path: &Path, of: &Path, cond: &Cond) -> Option<String> {
        let mut other = Frame::new(self.index, self.sources, "other", of.table);
        let mask = other.mask(cond)?;
        let column = other.name(of)?;
        self.before.push(other.loading());
        let at = self.before.len();
        self.before.push(format!(
            "called_{at} = other[{mask}]\nvalue_{at} = called_{at}[{}].iloc[0]\n",
            quote(&column)
        ));
        self.called.push((format!("called_{at}"), words::column(self.index, of)));
        Some(self.beside(of, path, format!("value_{at}"), false))
    }

    pub(super) fn holds(&mut self, select: &Select, cond: &Cond) -> Option<String> {
        let mask = self.mask(cond)?;
        let asked = words::filter_words(self.index, cond);
        let count = if let Cond::Or(all) = &select.filter { all.len() } else { 1 };
        Some(format!(
            "holds = {mask}\nanswer_rows = rows.head({ROWS}).to_dict(\"records\")\nanswer_json = bool(len(rows) and holds.all())\n\
             is_some = len(rows) > {count} and bool(holds.any())\n\
             answer_text = ({} if answer_json else {} if is_some else {}) if len(rows) else {}\nSTATUS = \"success\" if len(rows) else \"no_match\"\n",
            quote(&format!("Yes: {asked}.")),
            // Two rows may have one name.
            quote(&format!("Of some of them {asked}, of others not.")),
            quote(&format!("No, it is not so that {asked}.")),
            self.none(select),
        ))
    }
}

/// The lines that tell how many different things rows are of that were counted, where a column is called as they are: `days`.
pub(super) fn different(index: &Index, sources: &[Source], form: &Form, tokens: &[Token]) -> String {
    let Form::Select(select) = form else { return String::new() };
    // Of a table that is read in pieces the values are not kept.
    if sources[select.table].is_big {
        return String::new();
    }
    let is_count =
        matches!(&select.asked, Asked::Figure { measure: Measure::Count, by, .. } if by.is_empty());
    let table = &index.tables[select.table];
    let is_noun = |column: &&Column| {
        let words: Vec<String> = split_name(&column.name).iter().map(|word| singular(word)).collect();
        words.join(" ") == table.noun && column.cut.is_none()
    };
    let is_said = tokens.iter().any(|token| token.stem == table.noun);
    match table.columns.iter().find(is_noun).filter(|_| is_count && is_said) {
        Some(column) => format!(
            "different = rows[{}].nunique()\nif STATUS == \"success\" and different != value:\n    answer_text += f\" Different values of {}: {{different:,}}.\"\n",
            quote(&column.name),
            braces(&column.name)
        ),
        None => String::new(),
    }
}

/// The lines that tell where rows of another table that groups are called by have one name: they were put together.
pub(super) fn twins(index: &Index, form: &Form) -> String {
    let (Form::Select(select) | Form::Output(_, select)) = form;
    let Asked::Figure { by, .. } = &select.asked else { return String::new() };
    let mut lines = String::new();
    for path in by {
        let ([hop], other) = (path.hops.as_slice(), &index.tables[path.table]) else { continue };
        if other.label != Some(path.column) {
            continue;
        }
        let name = quote(&format!("{}.{}", other.name, other.columns[path.column].name));
        let _ = write!(
            lines,
            "if STATUS == \"success\" and {name} in rows.columns:\n    \
             called = rows.groupby({name})[{}].nunique()\n    \
             called = [str(name) for name, count in called.items() if count > 1]\n    \
             answer_text += {} + \", \".join(called[:{SHOWN}]) + \".\" if called else \"\"\n",
            quote(&index.tables[select.table].columns[hop.column].name),
            quote(&format!(" Several {} are called ", words::plural(&other.noun))),
        );
    }
    lines
}

/// Asks which row is meant where several are called as the one that something is compared with; else carries lines out.
pub(super) fn asked(called: &[(String, String)], lines: &str) -> String {
    let pairs: Vec<String> =
        called.iter().map(|(rows, column)| format!("({rows}, {})", quote(column))).collect();
    format!(
        "several = [(called, column) for called, column in [{}] if len(called) > 1]\nif several:\n    called, column = several[0]\n    \
         listed = \"; \".join(\", \".join(f\"{{name.replace('_', ' ')}} {{shown(value, True)}}\" for name, value in row.items()) for row in called.iloc[:, :6].head({SHOWN}).to_dict(\"records\"))\n    \
         answer_text = f\"{{len(called):,}} rows are called so: {{listed}}. Which one is meant? Say its {{column}} instead of its name.\"\n    \
         STATUS = \"invalid_request\"\nelse:\n{}",
        pairs.join(", "),
        indent(lines)
    )
}
