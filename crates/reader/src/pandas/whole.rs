//! What is told of rows together: repeated values, dependencies, overlaps, shares and figures.

use super::cells::method;
use super::{Frame, Mark, Writer, certainly, names, opposite, sign, text};
use crate::algebra::{Cond, Expr, Figure, Function, Name, Number, Op, Path};

impl Writer<'_> {
    /// The rows that are compared with each other, and have all of some columns.
    fn among(&mut self, rows: &Frame, columns: &[&Name], among: &str) -> String {
        for name in columns {
            self.uses(&rows.table, name);
        }
        let present = format!("{}[{}].notna().all(axis=1)", rows.variable, names(columns.iter().copied()));
        let chosen = if among.is_empty() { present } else { format!("{among} & {present}") };
        self.variable("among", format!("{}[{chosen}]", rows.variable))
    }

    /// Marks by which of the compared rows are as marked.
    fn among_mark(&mut self, rows: &Frame, among: &str, bad: String) -> Mark {
        let bad = self.variable("bad", bad);
        let of = |rows: &Frame, mark: &str| format!("{}.index.isin({among}.index[{mark}])", rows.variable);
        Mark { so: of(rows, &format!("~{bad}")), not: of(rows, &bad) }
    }

    pub(super) fn unique(&mut self, rows: &Frame, columns: &[Path], among: &str) -> Mark {
        let own: Vec<&Name> = columns.iter().map(|path| &path.column).collect();
        let among = self.among(rows, &own, among);
        let repeated = format!("frame.repeated({among}[{}])", names(own));
        self.among_mark(rows, &among, repeated)
    }

    pub(super) fn depends(&mut self, rows: &Frame, left: &Path, right: &Path, among: &str) -> Mark {
        self.uses(&rows.table, &right.column);
        let among = self.among(rows, &[&left.column], among);
        let kinds = format!(
            "{among}.groupby({})[{}].transform(\"nunique\")",
            text(&left.column),
            text(&right.column)
        );
        self.among_mark(rows, &among, format!("{kinds} > 1"))
    }

    /// Rows of one group overlap where each begins before the other ends.
    pub(super) fn apart(&mut self, rows: &Frame, start: &Path, end: &Path, by: &[Path], among: &str) -> Mark {
        let own: Vec<&Name> =
            by.iter().map(|path| &path.column).chain([&start.column, &end.column]).collect();
        let among = self.among(rows, &own, among);
        let some = Frame { table: rows.table.clone(), variable: among.clone() };
        let ends = [start, end].map(|path| {
            let expr = Expr::Column(path.clone());
            self.comparable(&some, &expr)
        });
        let [starts, ends] = ends.map(|value| self.variable("ends", value));
        let by = names(by.iter().map(|path| &path.column));
        self.line("overlapping = set()");
        self.line(format!("for name, part in {among}.groupby({by}):"));
        self.line(format!("    one, other = {starts}[part.index].to_numpy(), {ends}[part.index].to_numpy()"));
        self.line("    for label, begin, end in zip(part.index, one, other):");
        self.line("        if ((one < end) & (begin < other)).sum() > (1 if begin < end else 0):");
        self.line("            overlapping.add(label)");
        self.among_mark(rows, &among, format!("{among}.index.isin(overlapping)"))
    }

    /// A share of rows that meet a condition.
    pub(super) fn share(
        &mut self,
        rows: &Frame,
        when: &Cond,
        test: &Cond,
        op: Op,
        percent: Number,
    ) -> String {
        let among = self.chosen(rows, when);
        let so = certainly(&self.mark(rows, test, &among.so).so);
        let judged = if among.so.is_empty() { so } else { format!("{so}[{}]", among.so) };
        self.line(format!("met = {judged}"));
        self.line("observed = float(met.mean()) if len(met) else None");
        self.line(format!("holds = observed is None or round(observed * 100, 9) {} {percent}", sign(op)));
        let unread = [self.unread_in(rows, when), self.unread_in(rows, test)];
        self.line("found = \"it looked at no row\" if observed is None else f\"{observed:.2%} of the rows\"");
        self.verdict(
            &format!("{{found}}; {} {percent}% expected", said(op)),
            "1 if len(met) or not holds else 0",
            unread,
        )
    }

    pub(super) fn bounds(
        &mut self,
        rows: &Frame,
        when: &Cond,
        figure: &Figure,
        bounds: &[(Op, Number)],
    ) -> String {
        let among = self.chosen(rows, when);
        let judged = match among.so.as_str() {
            "" => rows.variable.clone(),
            so => self.variable("some", format!("rows[{so}]")),
        };
        let own = figure.of.clone().filter(|path| self.may_be_unread(&rows.table, &path.column));
        // A figure that leaves values out is none.
        let unread = [
            self.unread_in(rows, when),
            own.map(|path| self.unread(rows, std::slice::from_ref(&path.column))),
        ];
        let wanted = bounds
            .iter()
            .map(|(op, bound)| format!("{} {bound}", said(*op)))
            .collect::<Vec<_>>()
            .join(" and ");
        if figure.by.is_empty() {
            return self.figure_of_all(rows, &judged, figure, bounds, unread, &wanted);
        }
        let by: Vec<&Name> = figure.by.iter().map(|path| &path.column).collect();
        for name in &by {
            self.uses(&rows.table, name);
        }
        let grouped = format!("{judged}.groupby({}, sort=False, dropna=False)", names(by.iter().copied()));
        let figures = match &figure.of {
            None => format!("{grouped}.size()"),
            Some(path) => {
                self.uses(&rows.table, &path.column);
                format!("{grouped}[{}].{}()", text(&path.column), method(figure.function))
            }
        };
        self.line(format!("groups = {figures}.rename(\"observed\").reset_index()"));
        self.line(format!("groups.attrs[\"keys\"] = {}", names(by.iter().copied())));
        let outside: Vec<String> = bounds
            .iter()
            .map(|(op, bound)| format!("(groups[\"observed\"].round(9) {} {bound})", opposite(*op)))
            .collect();
        self.line(format!("failing = {}", outside.join(" | ")));
        let unread: Vec<String> = unread.into_iter().flatten().collect();
        if !unread.is_empty() {
            // Groups with a value that cannot be read fail for it.
            let by = names(by.iter().copied());
            self.line(format!(
                "broken = rows[{}][{by}].drop_duplicates().assign(broken=True)",
                unread.join(" | ")
            ));
            self.line(format!(
                "failing = failing | groups.merge(broken, on={by}, how=\"left\")[\"broken\"].notna()"
            ));
        }
        self.line("evaluated, failed = len(groups), int(failing.sum())");
        format!(
            "result = {{\n    \"status\": \"FAIL\" if failed else \"PASS\",\n    \
             \"summary\": f\"{{failed}} of {{evaluated}} groups are not {wanted}\",\n    \
             \"evaluated\": evaluated,\n    \"failed\": failed,\n    \"columns\": {},\n    \
             \"failed_rows\": groups[failing],\n}}\n",
            names(by)
        )
    }

    fn figure_of_all(
        &mut self,
        rows: &Frame,
        judged: &str,
        figure: &Figure,
        bounds: &[(Op, Number)],
        unread: [Option<String>; 2],
        wanted: &str,
    ) -> String {
        let mut looked_at = "1";
        let figure = match &figure.of {
            // No row is a number of rows, too.
            None => format!("len({judged})"),
            Some(path) => {
                self.uses(&rows.table, &path.column);
                let values = self.variable("values", format!("{judged}[{}].dropna()", text(&path.column)));
                looked_at = "1 if observed is not None or not holds else 0";
                match figure.function {
                    Function::Distinct => format!("{values}.nunique()"),
                    function => format!("{values}.{}() if len({values}) else None", method(function)),
                }
            }
        };
        self.line(format!("observed = {figure}"));
        let tests: Vec<String> =
            bounds.iter().map(|(op, bound)| format!("round(observed, 9) {} {bound}", sign(*op))).collect();
        self.line(format!("holds = observed is None or {}", tests.join(" and ")));
        self.line("found = \"it looked at no value\" if observed is None else f\"{observed}\"");
        self.verdict(&format!("{{found}}; {wanted} expected"), looked_at, unread)
    }

    /// Ends code that has decided `holds` about the table and knows what it `observed`.
    fn verdict(&mut self, summary: &str, looked_at: &str, unread: [Option<String>; 2]) -> String {
        let unread: Vec<String> = unread.into_iter().flatten().collect();
        let mut more = "";
        if !unread.is_empty() {
            self.line(format!("unread_rows = int(({}).sum())", unread.join(" | ")));
            self.line("holds = holds and not unread_rows");
            more = " + (f\"; {unread_rows} values cannot be read\" if unread_rows else \"\")";
        }
        format!(
            "result = {{\n    \"status\": \"PASS\" if holds else \"FAIL\",\n    \
             \"summary\": f\"{summary}\"{more},\n    \"evaluated\": {looked_at},\n    \
             \"failed\": 0 if holds else 1,\n    \"observed\": observed,\n}}\n"
        )
    }
}

const fn said(op: Op) -> &'static str {
    match op {
        Op::Equal => "exactly",
        Op::Below => "below",
        Op::AtMost => "at most",
        Op::Above => "above",
        Op::AtLeast => "at least",
    }
}
