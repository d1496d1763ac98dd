//! One table of all kinds of files: what made each, what a look into it tells, and a question that code answers.

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
    /// What is asked about it.
    pub(crate) question: &'static str,
    /// The expected text of the answer.
    pub(crate) says: &'static str,
}

/// A file that holds the orders.
const fn orders(
    ending: &'static str,
    file: &'static str,
    facts: &'static [(&'static str, &'static str)],
) -> Kind {
    Kind { ending, file, holds_orders: true, facts, question: BY_REGION.0, says: BY_REGION.1 }
}

const fn kind(
    ending: &'static str,
    file: &'static str,
    facts: &'static [(&'static str, &'static str)],
    question: &'static str,
    says: &'static str,
) -> Kind {
    Kind { ending, file, holds_orders: false, facts, question, says }
}

/// Every ending at least once; those made by `LibreOffice`, Pandoc and Tomli-W lie in `office/made`.
pub(crate) const KINDS: [Kind; 68] = [
    kind("txt", "a.txt", &[("/lines", "10"), ("/encoding", "\"utf-8-sig\"")], "word frequency", "the (2)"),
    kind("md", "a.md", &[("/lines", "13")], "how many lines contain sales", "2 lines"),
    kind("log", "a.log", &[("/lines", "50")], "how many lines contain ERROR", "10 lines"),
    kind("rtf", "a.rtf", &[("/words", "26")], "how many words", "26 words"),
    orders("csv", "a.csv", &[("/delimiter", "\",\"")]),
    orders("csv", "wide.csv", &[("/encoding", "\"utf-16\"")]),
    orders("tsv", "a.tsv", &[("/delimiter", "\"\\t\"")]),
    orders("json", "a.json", &[("/tables/0/path", "[\"orders\"]")]),
    orders("jsonl", "a.jsonl", &[]),
    orders("xml", "a.xml", &[("/root", "\"orders\"")]),
    kind("yaml", "a.yaml", &[("/tables/0/rows", "5")], "total units", "15"),
    kind("yml", "a.yml", &[("/shape", "\"list of 3 × integer\"")], "what is in this file?", "list of 3"),
    kind("toml", "a.toml", &[("/tables/0/rows", "5")], "total units", "15"),
    orders("html", "a.html", &[("/title", "\"Sales\""), ("/tables/1/rows", "4")]),
    orders("xlsx", "a.xlsx", &[("/sheets", "[\"orders\",\"managers\"]")]),
    orders("xlsx", "office.xlsx", &[("/sheets", "[\"orders\",\"managers\"]")]),
    orders("xls", "a.xls", &[("/sheets", "[\"orders\",\"managers\"]")]),
    orders("xlsm", "a.xlsm", &[("/macros", "true"), ("/note", "\"it holds macros, which are never run\"")]),
    orders("ods", "a.ods", &[("/sheets", "[\"orders\",\"managers\"]")]),
    kind("docx", "a.docx", &[("/headings", "[\"Quarterly report\"]")], "total sales", "200"),
    kind("docx", "office.docx", &[("/tables/0/rows", "2")], "total sales", "200"),
    kind(
        "doc",
        "a.doc",
        &[("/words", "29"), ("/paragraphs", "6")],
        "how many lines contain Ольга",
        "1 lines",
    ),
    kind(
        "pptx",
        "a.pptx",
        &[("/titles", "[\"Results\",\"Outlook\"]")],
        "how many slides are there",
        "2 slides",
    ),
    kind("pptx", "office.pptx", &[("/titles", "[\"Results\",\"Outlook\"]")], "how many slides", "2 slides"),
    kind("pdf", "a.pdf", &[("/pages", "2")], "how many pages", "2 pages"),
    kind(
        "pdf",
        "office.pdf",
        &[("/title", "\"Quarterly report\"")],
        "how many lines contain north",
        "2 lines",
    ),
    kind("dat", "a.dat", &[("/tables/0/columns_total", "3")], "sum of column 1", "2,470"),
    kind("h5", "a.h5", &[("/arrays/0/shape", "[24]")], "average temperature", "15"),
    kind("hdf5", "a.hdf5", &[("/arrays/0/attributes/unit", "\"celsius\"")], "maximum temperature", "20"),
    kind(
        "nc",
        "a.nc",
        &[("/dimensions/time", "6"), ("/attributes/title", "\"a small grid\"")],
        "maximum temperature",
        "5",
    ),
    orders("parquet", "a.parquet", &[("/row_groups", "1")]),
    orders("feather", "a.feather", &[]),
    orders("arrow", "a.arrow", &[]),
    kind("npy", "a.npy", &[("/arrays/0/shape", "[3,4]")], "mean of the array", "5.5"),
    kind("npz", "a.npz", &[("/arrays_total", "2")], "sum of second", "4"),
    orders("sqlite", "a.sqlite", &[("/tables_total", "1")]),
    kind("png", "a.png", &[("/mode", "\"RGB\"")], "how large is the picture", "64 × 48"),
    kind("jpg", "a.jpg", &[("/width", "64")], "how large is the picture", "64 × 48"),
    kind("jpeg", "a.jpeg", &[("/height", "48")], "how large is the picture", "JPEG"),
    kind("gif", "a.gif", &[("/width", "64")], "how large is the picture", "GIF"),
    kind("bmp", "a.bmp", &[("/width", "64")], "how large is the picture", "BMP"),
    kind("tiff", "a.tiff", &[("/width", "64")], "how large is the picture", "TIFF"),
    kind("svg", "a.svg", &[("/attributes/width", "\"144pt\"")], "what is in this file?", "svg"),
    kind("webp", "a.webp", &[("/encoded_as", "\"WEBP\"")], "how large is the picture", "WEBP"),
    orders("zip", "a.zip", &[("/members_total", "2")]),
    orders("tar", "a.tar", &[("/members_total", "1")]),
    orders("gz", "orders.csv.gz", &[]),
    orders("gz", "b.tar.gz", &[("/compressed", "\"gz\"")]),
    orders("bz2", "orders.csv.bz2", &[]),
    orders("xz", "orders.csv.xz", &[]),
    kind(
        "7z",
        "a.7z",
        &[("/members/0/name", "\"orders.csv\"")],
        "how many files are in the archive",
        "1 files",
    ),
    // As people and programs leave them.
    kind(
        "xlsx",
        "merged.xlsx",
        &[("/tables/0/rows", "3"), ("/tables/0/columns/1/name", "\"2023 Units\"")],
        "total 2024 revenue",
        "215.5",
    ),
    kind(
        "csv",
        "pivot.csv",
        &[("/tables/0/rows", "4"), ("/tables/0/columns/0/name", "\"region\"")],
        "total units aviator",
        "61",
    ),
    orders("xlsx", "months.xlsx", &[("/tables/0/columns/0/name", "\"sheet\"")]),
    orders(
        "zip",
        "months.zip",
        &[("/note", "\"not looked into: a.xlsx; unpack the archive and give them\"")],
    ),
    kind(
        "json",
        "nested.json",
        &[("/tables/0/columns/1/name", "\"customer.address.region\"")],
        BY_REGION.0,
        BY_REGION.1,
    ),
    kind(
        "json",
        "lists.json",
        &[("/tables/1/name", "\"lines\""), ("/tables/1/columns/0/name", "\"parent.id\"")],
        "total qty",
        "237",
    ),
    kind("geojson", "a.geojson", &[("/tables/0/rows", "48")], BY_REGION.0, BY_REGION.1),
    kind("xml", "deep.xml", &[("/tables/0/depth", "2")], BY_REGION.0, BY_REGION.1),
    kind("h5", "records.h5", &[("/tables/0/columns/0/type", "\"category\"")], BY_REGION.0, BY_REGION.1),
    kind("pdf", "table.pdf", &[("/tables/0/columns/1/type", "\"real\"")], "total sales", "1,280.5"),
    // A text that a narrow column breaks is found as it is told.
    kind("pdf", "wrapped.pdf", &[("/tables/0/rows", "2")], "total sales of North Sea", "1,200.5"),
    kind("mbox", "a.mbox", &[("/tables/0/rows", "3")], "how many messages by sender", "ann@example.org (2)"),
    kind("eml", "a.eml", &[("/tables/0/rows", "1")], "what is the subject", "Order 2"),
    kind("ics", "a.ics", &[("/tables/0/rows", "2")], "how many events", "2 events"),
    kind("ini", "a.ini", &[], "what is the port", "8080"),
    kind("ipynb", "a.ipynb", &[("/tables/0/rows", "3")], "how many code cells", "2 cells"),
    kind("txt", "bars.txt", &[("/tables/0/rows", "2")], "total amount", "17.75"),
];

const BY_REGION: (&str, &str) = ("total units by region", "south (50), east (48), west (46), north (45)");
