//! One table of all kinds of files: what made each, and what a look into it tells.

/// A file that a library or program made.
pub(crate) struct Kind {
    /// Its ending, as the documentation lists it.
    pub(crate) ending: &'static str,
    /// Its name in the folder of all files.
    pub(crate) file: &'static str,
    /// Whether it holds the 48 orders as a table.
    pub(crate) holds_orders: bool,
    /// Facts beside those: where each stands, and its JSON.
    pub(crate) facts: &'static [(&'static str, &'static str)],
}

/// A file that holds the orders.
const fn orders(
    ending: &'static str,
    file: &'static str,
    facts: &'static [(&'static str, &'static str)],
) -> Kind {
    Kind { ending, file, holds_orders: true, facts }
}

const fn kind(
    ending: &'static str,
    file: &'static str,
    facts: &'static [(&'static str, &'static str)],
) -> Kind {
    Kind { ending, file, holds_orders: false, facts }
}

/// Every ending at least once; those made by `LibreOffice`, Pandoc and Tomli-W lie in `office/made`.
pub(crate) const KINDS: [Kind; 68] = [
    kind("txt", "a.txt", &[("/lines", "10"), ("/encoding", "\"utf-8-sig\"")]),
    kind("md", "a.md", &[("/lines", "13")]),
    kind("log", "a.log", &[("/lines", "50")]),
    kind("rtf", "a.rtf", &[("/words", "26")]),
    orders("csv", "a.csv", &[("/delimiter", "\",\"")]),
    orders("csv", "wide.csv", &[("/encoding", "\"utf-16\"")]),
    orders("tsv", "a.tsv", &[("/delimiter", "\"\\t\"")]),
    orders("json", "a.json", &[("/tables/0/path", "[\"orders\"]")]),
    orders("jsonl", "a.jsonl", &[]),
    orders("xml", "a.xml", &[("/root", "\"orders\"")]),
    kind("yaml", "a.yaml", &[("/tables/0/rows", "5")]),
    kind("yml", "a.yml", &[("/shape", "\"list of 3 × integer\"")]),
    kind("toml", "a.toml", &[("/tables/0/rows", "5")]),
    orders("html", "a.html", &[("/title", "\"Sales\""), ("/tables/1/rows", "4")]),
    orders("xlsx", "a.xlsx", &[("/sheets", "[\"orders\",\"managers\"]")]),
    orders("xlsx", "office.xlsx", &[("/sheets", "[\"orders\",\"managers\"]")]),
    orders("xls", "a.xls", &[("/sheets", "[\"orders\",\"managers\"]")]),
    orders("xlsm", "a.xlsm", &[("/macros", "true"), ("/note", "\"it holds macros, which are never run\"")]),
    orders("ods", "a.ods", &[("/sheets", "[\"orders\",\"managers\"]")]),
    kind("docx", "a.docx", &[("/headings", "[\"Quarterly report\"]")]),
    kind("docx", "office.docx", &[("/tables/0/rows", "2")]),
    kind("doc", "a.doc", &[("/words", "29"), ("/paragraphs", "6")]),
    kind("pptx", "a.pptx", &[("/titles", "[\"Results\",\"Outlook\"]")]),
    kind("pptx", "office.pptx", &[("/titles", "[\"Results\",\"Outlook\"]")]),
    kind("pdf", "a.pdf", &[("/pages", "2")]),
    kind("pdf", "office.pdf", &[("/title", "\"Quarterly report\"")]),
    kind("dat", "a.dat", &[("/tables/0/columns_total", "3")]),
    kind("h5", "a.h5", &[("/arrays/0/shape", "[24]")]),
    kind("hdf5", "a.hdf5", &[("/arrays/0/attributes/unit", "\"celsius\"")]),
    kind("nc", "a.nc", &[("/dimensions/time", "6"), ("/attributes/title", "\"a small grid\"")]),
    orders("parquet", "a.parquet", &[("/row_groups", "1")]),
    orders("feather", "a.feather", &[]),
    orders("arrow", "a.arrow", &[]),
    kind("npy", "a.npy", &[("/arrays/0/shape", "[3,4]")]),
    kind("npz", "a.npz", &[("/arrays_total", "2")]),
    orders("sqlite", "a.sqlite", &[("/tables_total", "1")]),
    kind("png", "a.png", &[("/mode", "\"RGB\"")]),
    kind("jpg", "a.jpg", &[("/width", "64")]),
    kind("jpeg", "a.jpeg", &[("/height", "48")]),
    kind("gif", "a.gif", &[("/width", "64")]),
    kind("bmp", "a.bmp", &[("/width", "64")]),
    kind("tiff", "a.tiff", &[("/width", "64")]),
    kind("svg", "a.svg", &[("/attributes/width", "\"144pt\"")]),
    kind("webp", "a.webp", &[("/encoded_as", "\"WEBP\"")]),
    orders("zip", "a.zip", &[("/members_total", "2")]),
    orders("tar", "a.tar", &[("/members_total", "1")]),
    orders("gz", "orders.csv.gz", &[]),
    orders("gz", "b.tar.gz", &[("/compressed", "\"gz\"")]),
    orders("bz2", "orders.csv.bz2", &[]),
    orders("xz", "orders.csv.xz", &[]),
    kind("7z", "a.7z", &[("/members/0/name", "\"orders.csv\"")]),
    // As people and programs leave them.
    kind("xlsx", "merged.xlsx", &[("/tables/0/rows", "3"), ("/tables/0/columns/1/name", "\"2023 Units\"")]),
    kind("csv", "pivot.csv", &[("/tables/0/rows", "4"), ("/tables/0/columns/0/name", "\"region\"")]),
    orders("xlsx", "months.xlsx", &[("/tables/0/columns/0/name", "\"sheet\"")]),
    orders(
        "zip",
        "months.zip",
        &[("/note", "\"not looked into: a.xlsx; unpack the archive and give them\"")],
    ),
    kind("json", "nested.json", &[("/tables/0/columns/1/name", "\"customer.address.region\"")]),
    kind(
        "json",
        "lists.json",
        &[("/tables/1/name", "\"lines\""), ("/tables/1/columns/0/name", "\"parent.id\"")],
    ),
    kind("geojson", "a.geojson", &[("/tables/0/rows", "48")]),
    kind("xml", "deep.xml", &[("/tables/0/depth", "2")]),
    kind("h5", "records.h5", &[("/tables/0/columns/0/type", "\"category\"")]),
    kind("pdf", "table.pdf", &[("/tables/0/columns/1/type", "\"real\"")]),
    // A text that a narrow column breaks is found as it is told.
    kind("pdf", "wrapped.pdf", &[("/tables/0/rows", "2")]),
    kind("mbox", "a.mbox", &[("/tables/0/rows", "3")]),
    kind("eml", "a.eml", &[("/tables/0/rows", "1")]),
    kind("ics", "a.ics", &[("/tables/0/rows", "2")]),
    kind("ini", "a.ini", &[]),
    kind("ipynb", "a.ipynb", &[("/tables/0/rows", "3")]),
    kind("txt", "bars.txt", &[("/tables/0/rows", "2")]),
];
