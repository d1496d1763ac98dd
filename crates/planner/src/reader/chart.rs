//! Draws the figures of groups, beside the sentence that tells them.

use ordain_reader::Chart;

use super::answer::quote;

/// What a picture needs.
pub(super) const IMPORTS: &str =
    "import matplotlib\n\nmatplotlib.use(\"Agg\")\nimport matplotlib.pyplot as plt\n";

/// The lines that draw the rows of an answer.
pub(super) fn drawn(kind: Chart, title: &str) -> String {
    let draw = match kind {
        Chart::Bar => "axes.bar(keys, values)",
        Chart::Line => "axes.plot(keys, values, marker=\"o\")",
        Chart::Pie => "axes.pie(values, labels=keys)",
    };
    format!(
        "if rows:\n    figure, axes = plt.subplots(figsize=(8, 4.5))\n    \
         keys = [\", \".join(said(value, is_code=True) for name, value in row.items() if name != \"value\") for row in rows]\n    \
         values = [float(row[\"value\"] or 0) for row in rows]\n    {draw}\n    axes.set_title({})\n    \
         axes.tick_params(axis=\"x\", rotation=45 if len(keys) > 6 else 0)\n    figure.tight_layout()\n    \
         figure.savefig(artifacts / \"chart.png\", dpi=120)\n    plt.close(figure)\n    answer_text += \" Saved as chart.png.\"\n",
        quote(title)
    )
}
