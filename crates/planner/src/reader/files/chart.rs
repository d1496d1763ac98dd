//! The Python that draws an answer or saves it as a file.

use crate::reader::code::quote;
use crate::reader::form::Output;

const BEGIN: &str = "    import matplotlib\n\n    matplotlib.use(\"Agg\")\n    import matplotlib.pyplot as plt\n\n    figure, axes = plt.subplots(figsize=(8, 4.5))\n";

fn end(name: &str) -> String {
    format!(
        "    figure.tight_layout()\n    figure.savefig(artifacts / \"{name}\", dpi=120)\n    plt.close(figure)\n"
    )
}

/// Draws or saves the answer, if there is one. A series has the names of its group and its figure.
pub(super) fn output(output: Output, series: Option<&(String, String)>) -> String {
    let rows = if series.is_some() { "table" } else { "rows" };
    let saved = |name: &str, line: &str| {
        format!("if STATUS == \"success\":\n{line}    answer_text += \" Saved as {name}.\"\n")
    };
    let (x, y) = series.cloned().unwrap_or_default();
    let (labels, values) = (format!("table[{}].astype(str)", quote(&x)), format!("table[{}]", quote(&y)));
    let plain = format!(
        "    axes.set_xlabel({})\n    axes.set_ylabel({})\n    axes.tick_params(axis=\"x\", rotation=45 if len(table) > 6 else 0)\n",
        quote(&x.replace('_', " ")),
        quote(&y.replace('_', " "))
    );
    match output {
        // A cell that a spreadsheet program would compute is written as text.
        Output::Csv => saved(
            "result.csv",
            &format!(
                "    safe = {rows}.map(lambda cell: \"'\" + cell if isinstance(cell, str) and cell[:1] in \"=+-@\" and cell else cell)\n    safe.to_csv(artifacts / \"result.csv\", index=False)\n"
            ),
        ),
        // A workbook has no zones.
        Output::Workbook => saved(
            "result.xlsx",
            &format!(
                "    options = {{\"options\": {{\"strings_to_formulas\": False, \"strings_to_urls\": False}}}}\n    with pd.ExcelWriter(artifacts / \"result.xlsx\", engine=\"xlsxwriter\", engine_kwargs=options) as book:\n        {rows}.apply(lambda column: column.dt.tz_localize(None) if isinstance(column.dtype, pd.DatetimeTZDtype) else column).to_excel(book, index=False)\n"
            ),
        ),
        Output::Pie => saved(
            "chart.png",
            &format!(
                "{BEGIN}    axes.pie({values}, labels={labels}, autopct=\"%1.0f%%\")\n{}",
                end("chart.png")
            ),
        ),
        Output::Line => saved(
            "chart.png",
            &format!("{BEGIN}    axes.plot({labels}, {values}, marker=\"o\")\n{plain}{}", end("chart.png")),
        ),
        Output::Bar => saved(
            "chart.png",
            &format!("{BEGIN}    axes.bar({labels}, {values})\n{plain}{}", end("chart.png")),
        ),
    }
}

/// How the values of a column are spread.
pub(super) fn spread(column: &str, name: &str) -> String {
    let label = quote(name);
    format!(
        "values = {column}.dropna()\nanswer_json = {{\"values\": len(values), \"lowest\": float(values.min()), \"highest\": float(values.max())}} if len(values) else None\n\
         answer_text = {} + f\" of {{len(values):,}} values, from {{shown(values.min())}} to {{shown(values.max())}}, is drawn in histogram.png.\" if len(values) else \"There are no values.\"\n\
         STATUS = \"success\" if len(values) else \"no_match\"\nif len(values):\n{BEGIN}    axes.hist(values, bins=min(30, max(5, values.nunique())))\n    axes.set_xlabel({label})\n    axes.set_ylabel(\"rows\")\n{}",
        quote(&format!("The histogram of {name}")),
        end("histogram.png"),
    )
}

/// One column against another.
pub(super) fn pairs((x, x_name): (&str, &str), (y, y_name): (&str, &str)) -> String {
    format!(
        "pair = pd.DataFrame({{\"x\": {x}, \"y\": {y}}}).dropna()\nanswer_json = len(pair)\n\
         answer_text = {} + f\" is drawn for {{len(pair):,}} rows in scatter.png.\" if len(pair) else \"There are no values.\"\n\
         STATUS = \"success\" if len(pair) else \"no_match\"\nif len(pair):\n{BEGIN}    axes.scatter(pair[\"x\"], pair[\"y\"], s=12, alpha=0.7)\n    axes.set_xlabel({})\n    axes.set_ylabel({})\n{}",
        quote(&format!("{x_name} against {y_name}")),
        quote(x_name),
        quote(y_name),
        end("scatter.png"),
    )
}
