//! The Python that draws.

use super::python::{Code, text};
use super::question::Plot;

fn begin(code: &mut Code) {
    code.import("import matplotlib");
    code.indented("matplotlib.use(\"Agg\")\nimport matplotlib.pyplot as plt\n\nfigure, axes = plt.subplots(figsize=(8, 4.5))");
}

fn end(name: &str, code: &mut Code) {
    code.indented(format!(
        "figure.tight_layout()\nfigure.savefig(artifacts / {}, dpi=120)\nplt.close(figure)",
        text(name)
    ));
}

/// One number for each group.
pub(super) fn series(kind: Plot, x: &str, y: &str, code: &mut Code) {
    begin(code);
    let (labels, values) = (format!("result[{}].astype(str)", text(x)), format!("result[{}]", text(y)));
    match kind {
        Plot::Line => code.indented(format!("axes.plot({labels}, {values}, marker=\"o\")")),
        Plot::Pie => code.indented(format!("axes.pie({values}, labels={labels}, autopct=\"%1.0f%%\")")),
        _ => code.indented(format!("axes.bar({labels}, {values})")),
    };
    if kind != Plot::Pie {
        code.indented(format!(
            "axes.set_xlabel({})\naxes.set_ylabel({})\naxes.tick_params(axis=\"x\", rotation=45 if len(result) > 6 else 0)",
            text(x),
            text(&y.replace('_', " "))
        ));
    }
    end("chart.png", code);
}

/// How the values of a column are spread.
pub(super) fn histogram(column: &str, code: &mut Code) {
    code.indented(format!("values = pd.to_numeric(table[{}], errors=\"coerce\").dropna()", text(column)));
    begin(code);
    code.indented(format!(
        "axes.hist(values, bins=min(30, max(5, values.nunique())))\naxes.set_xlabel({})\naxes.set_ylabel(\"rows\")",
        text(column)
    ));
    end("histogram.png", code);
}

/// One column against another.
pub(super) fn scatter(x: &str, y: &str, code: &mut Code) {
    code.indented(format!(
        "pair = table[[{}, {}]].apply(pd.to_numeric, errors=\"coerce\").dropna()",
        text(x),
        text(y)
    ));
    begin(code);
    code.indented(format!(
        "axes.scatter(pair[{x}], pair[{y}], s=12, alpha=0.7)\naxes.set_xlabel({x})\naxes.set_ylabel({y})",
        x = text(x),
        y = text(y)
    ));
    end("scatter.png", code);
}

/// Medians and quartiles, of all rows or of each group.
pub(super) fn boxes(column: &str, by: Option<&str>, code: &mut Code) {
    begin(code);
    match by {
        Some(by) => code.indented(format!(
            "parts = {{str(name): part.dropna() for name, part in table.groupby({})[{}]}}\naxes.boxplot(list(parts.values()))\naxes.set_xticks(range(1, len(parts) + 1), list(parts))",
            text(by),
            text(column)
        )),
        None => code.indented(format!("axes.boxplot(table[{}].dropna())", text(column))),
    };
    code.indented(format!("axes.set_ylabel({})", text(column)));
    end("boxes.png", code);
}
