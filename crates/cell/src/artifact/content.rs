//! What an artifact is, by its name and its content together, and what to beware of.
//!
//! A name alone can lie and a look at the content alone can be fooled, so a type is stated only where both agree;
//! everything else is plain bytes with a warning.

/// It can run scripts in a browser or viewer: open it only apart from anything trusted.
const ACTIVE: &str = "active-content";
/// A cell starts like a formula: a spreadsheet program would compute it.
const FORMULA: &str = "formula";
/// Name and content disagree about what it is.
const MISLABELLED: &str = "mislabelled";
/// The format carries macros.
const MACROS: &str = "macros";

/// The type of plain bytes.
pub(super) const UNKNOWN: &str = "application/octet-stream";

/// How much of the start is looked at for signatures and markup.
const START_BYTES: usize = 4096;

/// A kind of file: endings, media type, signatures of which one must match (none: it is text).
struct Kind(&'static [&'static str], &'static str, &'static [(usize, &'static [u8])]);

const ZIP: &[(usize, &[u8])] = &[(0, b"PK\x03\x04"), (0, b"PK\x05\x06")];

const KINDS: &[Kind] = &[
    Kind(&["png"], "image/png", &[(0, b"\x89PNG\r\n\x1a\n")]),
    Kind(&["jpg", "jpeg"], "image/jpeg", &[(0, b"\xff\xd8\xff")]),
    Kind(&["gif"], "image/gif", &[(0, b"GIF87a"), (0, b"GIF89a")]),
    Kind(&["webp"], "image/webp", &[(8, b"WEBP")]),
    Kind(&["bmp"], "image/bmp", &[(0, b"BM")]),
    Kind(&["tif", "tiff"], "image/tiff", &[(0, b"II*\0"), (0, b"MM\0*")]),
    Kind(&["pdf"], "application/pdf", &[(0, b"%PDF-")]),
    Kind(&["xlsx"], "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ZIP),
    Kind(&["xlsm"], "application/vnd.ms-excel.sheet.macroEnabled.12", ZIP),
    Kind(&["docx"], "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ZIP),
    Kind(&["pptx"], "application/vnd.openxmlformats-officedocument.presentationml.presentation", ZIP),
    Kind(&["xls"], "application/vnd.ms-excel", &[(0, b"\xd0\xcf\x11\xe0")]),
    Kind(&["zip"], "application/zip", ZIP),
    Kind(&["npz"], "application/octet-stream", ZIP),
    Kind(&["gz"], "application/gzip", &[(0, b"\x1f\x8b")]),
    Kind(&["parquet"], "application/vnd.apache.parquet", &[(0, b"PAR1")]),
    Kind(&["npy"], "application/octet-stream", &[(0, b"\x93NUMPY")]),
    Kind(&["h5", "hdf5"], "application/x-hdf5", &[(0, b"\x89HDF\r\n")]),
    Kind(&["sqlite", "db"], "application/vnd.sqlite3", &[(0, b"SQLite format 3\0")]),
    Kind(&["csv"], "text/csv", &[]),
    Kind(&["tsv"], "text/tab-separated-values", &[]),
    Kind(&["json"], "application/json", &[]),
    Kind(&["jsonl", "ndjson"], "application/x-ndjson", &[]),
    Kind(&["txt", "log"], "text/plain", &[]),
    Kind(&["md"], "text/markdown", &[]),
    Kind(&["py"], "text/x-python", &[]),
    Kind(&["yaml", "yml"], "application/yaml", &[]),
    Kind(&["html", "htm", "xhtml"], "text/html", &[]),
    Kind(&["svg"], "image/svg+xml", &[]),
    Kind(&["xml"], "application/xml", &[]),
];

const ACTIVE_ENDINGS: [&str; 10] = ["html", "htm", "xhtml", "svg", "xml", "js", "mjs", "mht", "swf", "hta"];
const MACRO_ENDINGS: [&str; 6] = ["xlsm", "docm", "pptm", "xls", "doc", "xlsb"];
const TABLE_ENDINGS: [&str; 3] = ["csv", "tsv", "txt"];
/// Pieces of markup that make a browser take text for a page, in lower case.
const MARKUP: [&[u8]; 10] = [
    b"<script",
    b"<html",
    b"<svg",
    b"<!doctype html",
    b"<iframe",
    b"<img",
    b"<body",
    b"<object",
    b"javascript:",
    b"<embed",
];

/// Looks at an artifact as its bytes pass by.
pub(super) struct ContentScan {
    ending: String,
    start: Vec<u8>,
    table: Option<Table>,
}

impl ContentScan {
    pub(super) fn new(name: &str) -> Self {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
        let table = TABLE_ENDINGS.contains(&ending.as_str()).then(Table::default);
        Self { ending, start: Vec::new(), table }
    }

    pub(super) fn at(&mut self, bytes: &[u8]) {
        let room = START_BYTES - self.start.len();
        self.start.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if let Some(table) = &mut self.table {
            table.at(bytes);
        }
    }

    /// The media type and the warnings.
    pub(super) fn finish(mut self) -> (&'static str, Vec<&'static str>) {
        let ending = self.ending.as_str();
        let mut warnings = Vec::new();
        let kind = KINDS.iter().find(|kind| kind.0.contains(&ending));
        let is_believed = kind.is_none_or(|kind| self.has_signature(kind));
        if !is_believed {
            warnings.push(MISLABELLED);
        }
        let has_markup = self.has_markup() && !kind.is_some_and(|kind| is_believed && !kind.2.is_empty());
        if has_markup || ACTIVE_ENDINGS.contains(&ending) {
            warnings.push(ACTIVE);
        }
        if MACRO_ENDINGS.contains(&ending) {
            warnings.push(MACROS);
        }
        if self.table.as_mut().is_some_and(Table::finish) {
            warnings.push(FORMULA);
        }
        let media_type = kind.filter(|_| is_believed).map_or(UNKNOWN, |kind| kind.1);
        (media_type, warnings)
    }

    fn has_signature(&self, kind: &Kind) -> bool {
        let has = |(at, signature): &(usize, &[u8])| {
            self.start.get(*at..).is_some_and(|rest| rest.starts_with(signature))
        };
        // A kind without signatures is text: no NUL, and no other kind's signature.
        if kind.2.is_empty() {
            let is_other = KINDS
                .iter()
                .flat_map(|kind| kind.2)
                .any(|(at, signature)| signature.len() > 2 && has(&(*at, signature)));
            return !self.start.contains(&0) && !is_other;
        }
        kind.2.iter().any(has)
    }

    fn has_markup(&self) -> bool {
        let start = self.start.to_ascii_lowercase();
        MARKUP.iter().any(|markup| start.windows(markup.len()).any(|window| window == *markup))
    }
}

/// Looks for cells of a text table that a spreadsheet program would compute.
#[derive(Default)]
struct Table {
    field: Vec<u8>,
    is_past_start: bool,
    has_formula: bool,
}

/// How much of a field is kept to decide about it.
const FIELD_BYTES: usize = 64;

impl Table {
    fn at(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b',' | b';' | b'\t' | b'\n' | b'\r' => self.end_field(),
                _ if self.field.len() < FIELD_BYTES => self.field.push(*byte),
                _ => self.is_past_start = true,
            }
        }
    }

    fn end_field(&mut self) {
        self.has_formula |= is_formula(&self.field, self.is_past_start);
        self.field.clear();
        self.is_past_start = false;
    }

    fn finish(&mut self) -> bool {
        self.end_field();
        self.has_formula
    }
}

/// A leading `=` or `@` always counts; a sign does unless a number follows. An apostrophe in front makes it a text.
fn is_formula(field: &[u8], is_cut: bool) -> bool {
    let text: Vec<u8> =
        field.iter().copied().skip_while(|byte| matches!(byte, b'"' | b' ' | b'\t' | b'\r')).collect();
    match text.first() {
        Some(b'=' | b'@') => true,
        Some(b'+' | b'-') => {
            let end = text
                .iter()
                .rposition(|byte| !matches!(byte, b'"' | b'\r' | b' ' | b'%'))
                .map_or(0, |at| at + 1);
            let number = std::str::from_utf8(&text[..end]).ok().and_then(|text| text.parse::<f64>().ok());
            is_cut || (number.is_none() && text.len() > 1)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(name: &str, bytes: &[u8]) -> (&'static str, Vec<&'static str>) {
        let mut look = ContentScan::new(name);
        // Byte by byte, so that nothing depends on how a file is cut.
        bytes.chunks(1).for_each(|byte| look.at(byte));
        look.finish()
    }

    #[test]
    fn a_type_is_stated_where_name_and_content_agree() {
        assert_eq!(look("a.png", b"\x89PNG\r\n\x1a\n...."), ("image/png", vec![]));
        assert_eq!(look("a.csv", b"a,b\n1,-2\n"), ("text/csv", vec![]));
        assert_eq!(look("a.bin", b"\0\x01"), ("application/octet-stream", vec![]));
        assert_eq!(
            look("a.png", b"<script>alert(1)</script>"),
            ("application/octet-stream", vec![MISLABELLED, ACTIVE])
        );
        assert_eq!(look("a.txt", b"\x89PNG\r\n\x1a\n"), ("application/octet-stream", vec![MISLABELLED]));
    }

    #[test]
    fn pages_and_drawings_are_active() {
        assert_eq!(look("p.svg", b"<svg/>"), ("image/svg+xml", vec![ACTIVE]));
        assert_eq!(look("p.html", b"hello"), ("text/html", vec![ACTIVE]));
        assert_eq!(look("notes.txt", b"see <SCRIPT>x</SCRIPT>").1, vec![ACTIVE]);
        assert_eq!(look("p.xlsm", b"PK\x03\x04").1, vec![MACROS]);
    }

    #[test]
    fn formulas_are_seen_and_numbers_are_not() {
        for table in [
            "=1+1\n",
            "a,@SUM(1)\n",
            "x\n+cmd|' /C calc'!A0\n",
            "-2+3\n",
            "\t=1\n",
            "\"=HYPERLINK(1)\"\n",
            "\r=1+1",
            "name\tvalue\nx\t=1+1\n",
            "a;=1\n",
            "a\r=1\r",
        ] {
            assert_eq!(look("r.csv", table.as_bytes()).1, vec![FORMULA], "{table:?}");
        }
        for table in ["-2,+3.5,-1e5\n", "'=1+1,'@x\n", "a-b,c=d\n", "\"-4\",-\n", "-7%\n"] {
            assert_eq!(look("r.csv", table.as_bytes()).1, Vec::<&str>::new(), "{table:?}");
        }
    }
}
