//! Questions about texts, arrays, pictures and archives, and about what files hold at all.

use std::fmt::Write as _;

use serde_json::Value;

use crate::brief::FileBrief;
use crate::reader::code::{braces, quote};
use crate::reader::index::{Index, split_name};
use crate::reader::parse::Parser;
use crate::reader::token::{Kind, Token};
use crate::reader::trace::Trace;

const TEXTS: [&str; 15] = [
    "txt", "md", "log", "rtf", "html", "htm", "docx", "doc", "pptx", "pdf", "eml", "mbox", "ics", "ini",
    "cfg",
];
const IMAGES: [&str; 8] = ["png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp"];
const ARCHIVES: [&str; 7] = ["zip", "tar", "gz", "tgz", "bz2", "xz", "7z"];
const ARRAYS: [&str; 5] = ["npy", "npz", "h5", "hdf5", "nc"];
/// A Python function that reads the text of an old Word document. Looking into files uses the same one.
pub const READ_DOC: &str = include_str!("../../../python/read_doc.py");
/// Words that carry no meaning of their own, left out of frequencies where that is asked.
const STOP_WORDS: &str = "a an and are as at be but by for from had has have he her his i in is it its not of on or our she that the their them they this to was we were which will with you your";

/// What a question is called, and its program; `None` if it is none of these, or holds a word that is not part of it.
pub(super) fn plan(files: &[&FileBrief], request: &str, tokens: &[Token]) -> Option<(String, String)> {
    let of = |kinds: &[&str]| -> Vec<&FileBrief> {
        files.iter().filter(|file| kinds.contains(&file.kind.as_str())).copied().collect()
    };
    asked(files, request, tokens, &|asking, start| {
        asking
            .texts(&of(&TEXTS), start)
            .or_else(|| asking.archives(&of(&ARCHIVES), start))
            .or_else(|| asking.pictures(&of(&IMAGES), start))
            .or_else(|| asking.arrays(&of(&ARRAYS), start))
            .or_else(|| asking.sheets(start))
            .or_else(|| asking.described(start))
    })
}

/// The same for a question about single values, which is none about a table.
pub(super) fn single(files: &[&FileBrief], request: &str, tokens: &[Token]) -> Option<(String, String)> {
    asked(files, request, tokens, &|asking, start| asking.settings(start))
}

type Reads<'r> = &'r dyn Fn(&Asking<'_>, usize) -> Option<(String, String)>;

/// Reads from each place where a question may begin.
fn asked(
    files: &[&FileBrief],
    request: &str,
    tokens: &[Token],
    reads: Reads<'_>,
) -> Option<(String, String)> {
    let (index, trace) = (Index::default(), Trace::default());
    let parser = Parser { text: request, ..Parser::new(&index, tokens, 0, &trace) };
    let asking = Asking { parser, files };
    let start = asking.parser.opening();
    let begins = ["what_is", "show", "which"].iter().flat_map(|class| asking.parser.lex(class, start));
    std::iter::once(start).chain(begins).find_map(|start| reads(&asking, start))
}

/// A question about a text that stands in the request itself, between these places.
pub(crate) fn of_text(
    parser: &Parser<'_>,
    start: usize,
    place: usize,
    text: &str,
) -> Option<(String, String)> {
    let read = format!("texts = {{\"the text\": {text}}}\n");
    // `count the words in '…'`, `analyze the text '…' and count word frequency`.
    if let Some(begin) =
        parser.one("text.analyze", start).map(|end| parser.one("text.document", end).unwrap_or(end))
        && parser.fill(begin) == place
        && let Some(end) = parser.one("and", place + 1)
        && let Some(end) = parser.one("text.frequency", end)
    {
        return parser
            .is_end(end)
            .then(|| ("word frequency".to_owned(), format!("{read}{}", frequency(10, false))));
    }
    if let Some(end) = parser.one("text.frequency", start) {
        let end = parser.one("of", end).or_else(|| parser.one("in", end))?;
        return (parser.fill(end) == place && parser.is_end(place + 1))
            .then(|| ("word frequency".to_owned(), format!("{read}{}", frequency(10, false))));
    }
    let (end, unit) = parser.one("how_many", start).and_then(|end| parser.meaning("text_units", end))?;
    let end = parser.one("there", end).unwrap_or(end);
    let end = parser.one("in", end).or_else(|| parser.one("do", end)).unwrap_or(end);
    let after = parser.one("have", place + 1).unwrap_or(place + 1);
    (parser.fill(end) == place && parser.is_end(after))
        .then(|| (format!("number of {unit}s"), format!("{read}{}", count(unit))))
}

pub(super) struct Asking<'a> {
    pub(super) parser: Parser<'a>,
    pub(super) files: &'a [&'a FileBrief],
}

impl Asking<'_> {
    fn done(&self, place: usize) -> Option<()> {
        self.parser.is_end(place).then_some(())
    }

    /// Where a phrase that means these files ends: `the document`, `notes.md`, `the notes`.
    pub(super) fn named(&self, files: &[&FileBrief], place: usize) -> Option<usize> {
        let place = self.parser.fill(place);
        let token = self.parser.tokens.get(place)?;
        let is_file = files.iter().any(|file| {
            let stem = file.name.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default();
            file.name.to_lowercase() == token.lower
                || split_name(stem).iter().any(|word| *word == token.lower || *word == token.stem)
        });
        if is_file { Some(place + 1) } else { self.parser.one("text.document", place) }
    }

    /// After what is asked: `in the notes`, `does the report have`, `are there`, or nothing.
    pub(super) fn tail(&self, files: &[&FileBrief], place: usize) -> Option<()> {
        let parser = &self.parser;
        let mut ends = vec![place];
        for at in [Some(place), parser.one("there", place)].into_iter().flatten() {
            ends.push(at);
            for start in
                parser.lex("in", at).into_iter().chain(parser.lex("do", at)).chain(parser.lex("have", at))
            {
                if let Some(end) = self.named(files, start) {
                    ends.push(end);
                    ends.extend(parser.one("have", end));
                }
            }
        }
        ends.into_iter().find_map(|end| self.done(end))
    }

    fn texts(&self, files: &[&FileBrief], start: usize) -> Option<(String, String)> {
        let parser = &self.parser;
        if files.is_empty() {
            return None;
        }
        if let Some((count, stops, end)) = self.most_common(start) {
            self.tail(files, end)?;
            return Some((
                "word frequency".to_owned(),
                format!("{}{}", read(files), frequency(count, stops)),
            ));
        }
        if let Some((part, told, end)) = self.searched(files, start) {
            self.done(end)?;
            let read = if told == Told::Pages { read_pages(files)? } else { read(files) };
            return Some((format!("where “{part}” is said"), format!("{read}{}", search(&part, told))));
        }
        // `the headings`, `how many links`
        let begin = parser.one("how_many", start).unwrap_or(start);
        if let Some((end, part)) = parser.meaning("text_parts", begin) {
            self.tail(files, end)?;
            return Some((format!("{part}s"), parts(files, part)?));
        }
        if let Some((units, end)) = parser.one("how_many", start).and_then(|end| self.units(end)) {
            self.tail(files, end)?;
            let code = match units.as_slice() {
                [unit @ ("page" | "slide")] => pages(files, unit)?,
                [unit] => format!("{}{}", read(files), count(unit)),
                several => format!("{}{}", read(files), counts(several)?),
            };
            return Some((format!("number of {}", units.join("s and ") + "s"), code));
        }
        if let Some(end) = parser.one("text.addresses", start) {
            self.tail(files, end)?;
            return Some(("addresses in the text".to_owned(), format!("{}{ADDRESSES}", read(files))));
        }
        if let Some(end) = parser.one("text.extract", start) {
            self.tail(files, end).or_else(|| self.done(self.named(files, parser.one("of", end)?)?))?;
            return Some(("the text as a file".to_owned(), format!("{}{EXTRACT}", read(files))));
        }
        None
    }

    /// `lines`, `lines and words`.
    fn units(&self, place: usize) -> Option<(Vec<&'static str>, usize)> {
        let (mut end, first) = self.parser.meaning("text_units", place)?;
        let mut units = vec![first];
        while let Some((after, unit)) =
            self.parser.one("and", end).and_then(|next| self.parser.meaning("text_units", next))
        {
            units.push(unit);
            end = after;
        }
        Some((units, end))
    }

    /// `the 3 most common words`, `top 5 words`, `word frequency`: how many, without stop words, and the end.
    fn most_common(&self, start: usize) -> Option<(u64, bool, usize)> {
        let parser = &self.parser;
        let whole = |place: usize| {
            parser
                .number(place)
                .and_then(|(_, lit, end)| Some((lit.value.as_u64().filter(|n| (1..=1000).contains(n))?, end)))
        };
        let start = parser.fill(start);
        let (count, at) = whole(start).unwrap_or((10, start));
        let mut found = parser.one("text.common", at).map(|end| (count, end));
        if let Some(top) = parser.one("file.top", at) {
            let (count, at) = whole(top).unwrap_or((count, top));
            found = found.or_else(|| parser.one("text.words", at).map(|end| (count, end)));
        }
        found = found.or_else(|| parser.one("text.frequency", at).map(|end| (count, end)));
        let (count, end) = found?;
        let stops = parser.one("text.stops", end);
        Some((count, stops.is_some(), stops.unwrap_or(end)))
    }

    /// `how often does "x" occur`, `which lines mention "x"`: the text, what is told of it, and the end.
    fn searched(&self, files: &[&FileBrief], start: usize) -> Option<(String, Told, usize)> {
        let parser = &self.parser;
        let wanted = |place: usize| {
            let quoted = parser.tokens.get(parser.fill(place)).filter(|token| token.kind == Kind::Quoted);
            if let Some(token) = quoted {
                return Some((token.text.clone(), parser.fill(place) + 1));
            }
            let place = parser.one("text.the_word", place)?;
            parser
                .tokens
                .get(place)
                .filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted))
                .map(|token| (token.text.clone(), place + 1))
        };
        let within = |end: usize| {
            let start = parser.one("in", end).unwrap_or(end);
            self.named(files, start).filter(|_| start != end).unwrap_or(end)
        };
        if let Some(end) = parser.one("text.how_often", start) {
            let (text, end) = wanted(parser.one("do", end).unwrap_or(end))?;
            return Some((text, Told::Times, within(parser.one("text.occur", end)?)));
        }
        let pages = |place: usize| parser.one("text.pages", place).map(|end| (end, Told::Pages));
        let lines = |place: usize| parser.one("text.lines", place).map(|end| (end, Told::Lines));
        let units = |place: usize| pages(place).or_else(|| lines(place));
        // `how many lines contain sales`: the last word is what is looked for.
        if let Some((end, told)) = parser.one("how_many", start).and_then(units)
            && let Some(end) = parser.one("text.mention", end)
        {
            let place = parser.fill(end);
            let last =
                parser.tokens.get(place).filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted));
            return wanted(end)
                .or_else(|| last.map(|token| (token.text.clone(), place + 1)))
                .map(|(text, end)| (text, told, within(end)));
        }
        // `how many ERROR lines are there`
        let begin = parser.one("how_many", start).map(|end| parser.fill(end));
        if let Some((token, place)) = begin.and_then(|place| Some((parser.tokens.get(place)?, place)))
            && (token.kind == Kind::Quoted
                || token.text.len() > 1 && !token.text.contains(char::is_lowercase))
            && let Some(end) = parser.one("text.lines", place + 1)
        {
            return Some((token.text.clone(), Told::Lines, within(parser.one("there", end).unwrap_or(end))));
        }
        let mention = units(start).and_then(|(end, told)| Some((parser.one("text.mention", end)?, told)));
        let (found, told) =
            mention.or_else(|| parser.one("text.search", start).map(|end| (end, Told::Lines)))?;
        let (text, end) = wanted(found)?;
        Some((text, told, within(end)))
    }

    fn archives(&self, files: &[&FileBrief], start: usize) -> Option<(String, String)> {
        let parser = &self.parser;
        let [file] = files else { return None };
        let begin = parser.one("how_many", start).unwrap_or(start);
        let end = parser
            .one("archive.members", parser.determiners(begin))
            .or_else(|| parser.one("archive.holds", start))?;
        let mut ends = vec![Some(end)];
        for at in [Some(end), parser.one("there", end), parser.one("be", end)].into_iter().flatten() {
            ends.push(Some(at));
            for inside in parser.lex("in", at).into_iter().chain(parser.lex("archive.inside", at)).chain([at])
            {
                ends.push(parser.one("archive.it", inside).or_else(|| self.named(files, inside)));
            }
        }
        ends.into_iter().flatten().find_map(|end| self.done(end))?;
        let path = format!("files[{}]", quote(&file.name));
        let members = match file.kind.as_str() {
            "zip" => format!(
                "import zipfile\n\nwith zipfile.ZipFile({path}) as archive:\n    members = [(info.filename, info.file_size) for info in archive.infolist() if not info.is_dir()]\n"
            ),
            "7z" => format!(
                "import py7zr\n\nwith py7zr.SevenZipFile({path}) as archive:\n    members = [(info.filename, info.uncompressed) for info in archive.list() if not info.is_directory]\n"
            ),
            kind if kind == "tar" || file.facts.get("compressed").is_some() => {
                format!(
                    "import tarfile\n\nwith tarfile.open({path}) as archive:\n    members = [(info.name, info.size) for info in archive if info.isfile()]\n"
                )
            }
            _ => return None,
        };
        let code = format!(
            "{members}members.sort()\nanswer_rows = [{{\"member\": name, \"bytes\": size}} for name, size in members[:200]]\nanswer_json = len(members)\n\
             answer_text = f\"{} holds {{len(members):,}} files of {{sum(size for _, size in members):,}} bytes: \" + \", \".join(name for name, _ in members[:10]) + (\" …\" if len(members) > 10 else \"\") + \".\"\nSTATUS = \"success\"\n",
            braces(&file.name)
        );
        Some(("members of an archive".to_owned(), code))
    }

    fn pictures(&self, files: &[&FileBrief], start: usize) -> Option<(String, String)> {
        let parser = &self.parser;
        if files.is_empty() {
            return None;
        }
        let end = match parser.one("picture.size", start) {
            Some(end) => parser.one("of", end).unwrap_or(end),
            None => parser.one("picture.how_large", start)?,
        };
        let end = parser.one("be", end).unwrap_or(end);
        self.done(parser.one("picture.it", end).or_else(|| self.named(files, end))?)?;
        let names: Vec<String> = files.iter().map(|file| quote(&file.name)).collect();
        let code = format!(
            "from PIL import Image\n\nanswer_rows = []\nfor name in [{}]:\n    with Image.open(files[name]) as image:\n        \
             answer_rows.append({{\"file\": name, \"width\": image.width, \"height\": image.height, \"mode\": image.mode, \"format\": image.format}})\n\
             answer_text = \"; \".join(f\"{{row['file']}} is {{row['width']}} × {{row['height']}} pixels ({{row['mode']}}, {{row['format']}})\" for row in answer_rows) + \".\"\nSTATUS = \"success\"\n",
            names.join(", ")
        );
        Some(("size of pictures".to_owned(), code))
    }

    /// `mean of temperature`, `shape of the array`.
    fn arrays(&self, files: &[&FileBrief], start: usize) -> Option<(String, String)> {
        let parser = &self.parser;
        let (end, function) = parser.meaning("array_functions", start)?;
        let end = parser.fill(parser.one("of", end).unwrap_or(end));
        let mut all: Vec<(&FileBrief, String)> = Vec::new();
        for file in files {
            let arrays = file.facts.get("arrays").and_then(Value::as_array).into_iter().flatten();
            all.extend(arrays.map(|array| {
                (*file, array.get("name").and_then(Value::as_str).unwrap_or_default().to_owned())
            }));
        }
        let word = parser.tokens.get(end).map(|token| token.lower.clone()).unwrap_or_default();
        let is_named = |name: &str| {
            name.to_lowercase() == word
                || name.rsplit('/').next().is_some_and(|last| last.to_lowercase() == word)
        };
        let fitting: Vec<&(&FileBrief, String)> = all.iter().filter(|(_, name)| is_named(name)).collect();
        let ((file, name), end) = match (fitting.as_slice(), all.as_slice()) {
            ([one], _) => ((one.0, one.1.clone()), end + 1),
            ([], [only]) => {
                ((only.0, only.1.clone()), parser.one("text.array", end).or_else(|| self.named(files, end))?)
            }
            _ => return None,
        };
        self.done(end).or_else(|| self.done(self.named(files, parser.one("in", end)?)?))?;
        let label = if name.is_empty() { file.name.clone() } else { format!("{name} in {}", file.name) };
        let told = match function {
            "shape" => format!(
                "answer_json = list(array.shape)\nanswer_text = f\"{} has the shape {{answer_json}}.\"\n",
                braces(&label)
            ),
            function => format!(
                "answer_json = float(np.nan{function}(array))\nanswer_text = f\"The {function} of {} is {{answer_json:,.6g}}.\"\n",
                braces(&label)
            ),
        };
        Some((
            format!("{function} of {label}"),
            format!("{}{told}STATUS = \"success\"\n", load_array(file, &name)),
        ))
    }

    /// What was found out about the files.
    fn described(&self, start: usize) -> Option<(String, String)> {
        let parser = &self.parser;
        if self.files.is_empty() {
            return None;
        }
        let end = parser.one("text.describe", start)?;
        self.done(end)
            .or_else(|| self.done(self.named(self.files, end)?))
            .or_else(|| self.done(self.named(self.files, parser.one("in", end)?)?))?;
        let mut lines = String::from("import json\n\n# What a look into each file told.\nfacts = {}\n");
        for file in self.files.iter().take(20) {
            // Facts travel as JSON text, so that a hostile name or value in them stays a text.
            let mut facts = file.facts.clone();
            for table in facts.get_mut("tables").and_then(Value::as_array_mut).into_iter().flatten().take(10)
            {
                if let Some(columns) = table.get_mut("columns").and_then(Value::as_array_mut) {
                    columns.truncate(20);
                }
            }
            let _ =
                writeln!(lines, "facts[{}] = json.loads({})", quote(&file.name), quote(&facts.to_string()));
        }
        let code = format!(
            "{lines}answer_rows = [{{\"file\": name, **{{key: value for key, value in found.items() if not isinstance(value, (dict, list))}}}} for name, found in facts.items()]\nanswer_json = facts\n\
             tables = lambda found: [f\"{{table['rows']}} rows of \" + \", \".join(column[\"name\"] for column in table[\"columns\"]) for table in found.get(\"tables\", [])]\n\
             answer_text = \"; \".join(name + \": \" + \", \".join(tables(found) or [f\"{{key}} {{value}}\" for key, value in found.items() if not isinstance(value, (dict, list)) and key != \"excerpt\"][:5]) for name, found in facts.items()) + \".\"\nSTATUS = \"success\"\n"
        );
        Some(("what the files hold".to_owned(), code))
    }
}

const ADDRESSES: &str = "import re\n\nfound = sorted({match for content in texts.values() for match in re.findall(r\"[\\w.+-]+@[\\w-]+\\.[\\w.-]*\\w\", content)})\nanswer_rows = [{\"address\": address} for address in found[:200]]\nanswer_text = f\"{len(found)} addresses: \" + \", \".join(found[:20])\nSTATUS = \"success\" if found else \"no_match\"\n";
const EXTRACT: &str = "for name, content in texts.items():\n    (artifacts / (name.rsplit(\".\", 1)[0] + \".txt\")).write_text(content, encoding=\"utf-8\")\nanswer_text = \"The text of \" + \", \".join(f\"{name} ({len(content.split()):,} words)\" for name, content in texts.items()) + \" is saved as a file.\"\nSTATUS = \"success\"\n";

fn frequency(count: u64, stops: bool) -> String {
    let stops = if stops {
        format!("for word in {}.split():\n    counts.pop(word, None)\n", quote(STOP_WORDS))
    } else {
        String::new()
    };
    format!(
        "import re\nfrom collections import Counter\n\n# Words in lower case, an apostrophe inside counts as part of the word.\n\
         counts = Counter(word for content in texts.values() for word in re.findall(r\"[^\\W\\d_]+(?:['’][^\\W\\d_]+)*\", content.lower()))\n{stops}\
         answer_rows = [{{\"word\": word, \"count\": count}} for word, count in counts.most_common({count})]\n\
         answer_text = f\"{{sum(counts.values()):,}} words, {{len(counts):,}} different; most frequent: \" + \", \".join(f\"{{row['word']}} ({{row['count']}})\" for row in answer_rows) + \".\"\nSTATUS = \"success\"\n"
    )
}

/// What is told of a text that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// How often it occurs.
    Times,
    /// The lines that hold it.
    Lines,
    /// The pages or slides that hold it.
    Pages,
}

fn search(part: &str, told: Told) -> String {
    let (unit, parts) =
        if told == Told::Pages { ("page", "content") } else { ("line", "content.splitlines()") };
    let part_said = braces(part);
    let told = if told == Told::Times {
        format!(
            "answer_json = sum(row[\"times\"] for row in found)\nanswer_text = f\"“{part_said}” occurs {{answer_json:,}} times in {{len(found):,}} lines.\"\n"
        )
    } else {
        format!(
            "answer_json = len(found)\nanswer_text = f\"{{len(found):,}} {unit}s hold “{part_said}”\" + (\": \" + \"; \".join(f\"{{row['file']}} {unit} {{row['{unit}']}}: {{row['text'][:80]}}\" for row in found[:5]) if found else \"\") + \".\"\n"
        )
    };
    format!(
        "wanted = {}\nfound = []\nfor name, content in texts.items():\n    for number, part in enumerate({parts}, start=1):\n        part = \" \".join(part.split())\n        times = part.lower().count(wanted.lower())\n        if times:\n            \
         found.append({{\"file\": name, \"{unit}\": number, \"times\": times, \"text\": part[:300]}})\nanswer_rows = found[:200]\n{told}STATUS = \"success\" if found else \"no_match\"\n",
        quote(part)
    )
}

/// The lines that read the files' pages into `texts`, each a list; `None` if none of them has pages.
fn read_pages(files: &[&FileBrief]) -> Option<String> {
    let lines = files.iter().filter_map(|file| {
        let name = quote(&file.name);
        match file.kind.as_str() {
            "pdf" => Some(format!(
                "import pypdf\n\ntexts[{name}] = [page.extract_text() or \"\" for page in pypdf.PdfReader(str(files[{name}])).pages]\n"
            )),
            "pptx" => Some(format!(
                "import pptx\n\ntexts[{name}] = [\"\\n\".join(shape.text_frame.text for shape in slide.shapes if shape.has_text_frame) for slide in pptx.Presentation(str(files[{name}])).slides]\n"
            )),
            _ => None,
        }
    });
    let lines: String = lines.collect();
    (!lines.is_empty()).then(|| format!("texts = {{}}\n{lines}"))
}

/// The program that lists headings or links.
fn parts(files: &[&FileBrief], part: &str) -> Option<String> {
    let mut lines = String::from("found = {}\n");
    for file in files {
        let name = quote(&file.name);
        let encoding = quote(file.facts.get("encoding").and_then(Value::as_str).unwrap_or("utf-8"));
        let text = format!("files[{name}].read_text(encoding={encoding}, errors=\"replace\")");
        let line = match (file.kind.as_str(), part) {
            // What is within a fence is no heading.
            ("md", "heading") => format!(
                "import re\n\nplain = re.sub(r\"(?ms)^ *(```|~~~).*?^ *\\1\", \"\", {text})\nfound[{name}] = [line.strip(\"# \") for line in plain.splitlines() if re.match(r\" {{0,3}}#{{1,6}}\\s\", line)]\n"
            ),
            ("md", _) => format!(
                "import re\n\nfound[{name}] = re.findall(r\"(?<!!)\\[[^\\]]*\\]\\(([^)\\s]+)\", {text})\n"
            ),
            ("html" | "htm", part) => {
                let (tags, value) = if part == "heading" {
                    ("[\"h1\", \"h2\", \"h3\", \"h4\", \"h5\", \"h6\"]", "tag.get_text(\" \", strip=True)")
                } else {
                    ("\"a\", href=True", "tag[\"href\"]")
                };
                format!(
                    "from bs4 import BeautifulSoup\n\nfound[{name}] = [{value} for tag in BeautifulSoup({text}, \"html.parser\").find_all({tags})]\n"
                )
            }
            ("docx", "heading") => format!(
                "import docx\n\nfound[{name}] = [part.text for part in docx.Document(str(files[{name}])).paragraphs if part.style is not None and (part.style.name or \"\").startswith(\"Heading\")]\n"
            ),
            _ => return None,
        };
        lines.push_str(&line);
    }
    Some(format!(
        "{lines}answer_rows = [{{\"file\": name, \"{part}\": one}} for name, all in found.items() for one in all][:200]\nanswer_json = sum(map(len, found.values()))\n\
         answer_text = \"; \".join(f\"{{name}} has {{len(all):,}} {part}s\" + (\": \" + \", \".join(all[:20]) if all else \"\") for name, all in found.items()) + \".\"\nSTATUS = \"success\"\n"
    ))
}

fn counts(units: &[&str]) -> Option<String> {
    let told = units.iter().map(|unit| match *unit {
        "page" | "slide" | "sentence" => None,
        unit => Some(format!("{{{}:,}} {unit}s", counted(unit).replace('"', "'"))),
    });
    let told = told.collect::<Option<Vec<String>>>()?.join(" and ");
    Some(format!(
        "answer_text = \", \".join(f\"{{name}} has {told}\" for name, content in texts.items()) + \".\"\nSTATUS = \"success\"\n"
    ))
}

fn counted(unit: &str) -> &'static str {
    match unit {
        "line" => "len(content.splitlines())",
        "paragraph" => "sum(1 for part in content.split(\"\\n\\n\") if part.strip())",
        "character" => "len(content)",
        "letter" => "sum(letter.isalpha() for letter in content)",
        "vowel" => "sum(letter in \"aeiou\" for letter in content.lower())",
        "sentence" => "len(re.findall(r\"[^.!?]+[.!?]+(?=\\s|$)\", content))",
        _ => "len(content.split())",
    }
}

fn count(unit: &str) -> String {
    let expression = counted(unit);
    let import = if unit == "sentence" { "import re\n\n" } else { "" };
    format!("{import}counts = {{name: {expression} for name, content in texts.items()}}\n{}", told(unit))
}

fn told(unit: &str) -> String {
    format!(
        "answer_rows = [{{\"file\": name, \"{unit}s\": count}} for name, count in counts.items()]\nanswer_json = sum(counts.values())\n\
         answer_text = \", \".join(f\"{{name}} has {{count:,}} {unit}s\" for name, count in counts.items()) + \".\"\nSTATUS = \"success\"\n"
    )
}

fn pages(files: &[&FileBrief], unit: &str) -> Option<String> {
    let mut lines = String::from("counts = {}\n");
    for file in files {
        let name = quote(&file.name);
        let line = match (file.kind.as_str(), unit) {
            ("pdf", "page") => {
                format!("import pypdf\n\ncounts[{name}] = len(pypdf.PdfReader(str(files[{name}])).pages)\n")
            }
            ("pptx", _) => {
                format!("import pptx\n\ncounts[{name}] = len(pptx.Presentation(str(files[{name}])).slides)\n")
            }
            _ => continue,
        };
        lines.push_str(&line);
    }
    lines.contains("import").then(|| format!("{lines}{}", told(unit)))
}

/// The lines that read the files' texts into `texts`.
fn read(files: &[&FileBrief]) -> String {
    let mut lines = String::from("texts = {}\n");
    for file in files {
        let name = quote(&file.name);
        let path = format!("files[{name}]");
        let encoding = quote(file.facts.get("encoding").and_then(Value::as_str).unwrap_or("utf-8"));
        let line = match file.kind.as_str() {
            "pdf" => format!(
                "import pypdf\n\ntexts[{name}] = \"\\n\".join(page.extract_text() or \"\" for page in pypdf.PdfReader(str({path})).pages)\n"
            ),
            "docx" => format!(
                "import docx\n\ndocument = docx.Document(str({path}))\ncells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]\ntexts[{name}] = \"\\n\".join([paragraph.text for paragraph in document.paragraphs] + cells)\n"
            ),
            "pptx" => format!(
                "import pptx\n\ntexts[{name}] = \"\\n\".join(shape.text_frame.text for slide in pptx.Presentation(str({path})).slides for shape in slide.shapes if shape.has_text_frame)\n"
            ),
            "rtf" => format!(
                "from striprtf.striprtf import rtf_to_text\n\ntexts[{name}] = rtf_to_text({path}.read_text(encoding=\"latin-1\"), errors=\"ignore\")\n"
            ),
            "html" | "htm" => format!(
                "from bs4 import BeautifulSoup\n\ntexts[{name}] = BeautifulSoup({path}.read_text(encoding={encoding}, errors=\"replace\"), \"html.parser\").get_text(\" \", strip=True)\n"
            ),
            "doc" => format!("{READ_DOC}\n\ntexts[{name}] = read_doc({path})\n"),
            _ => format!("texts[{name}] = {path}.read_text(encoding={encoding}, errors=\"replace\")\n"),
        };
        lines.push_str(&line);
    }
    lines
}

fn load_array(file: &FileBrief, name: &str) -> String {
    let (path, name) = (format!("files[{}]", quote(&file.name)), quote(name));
    match file.kind.as_str() {
        "h5" | "hdf5" => format!(
            "import h5py\nimport numpy as np\n\nwith h5py.File({path}, \"r\") as file:\n    array = np.asarray(file[{name}])\n"
        ),
        "nc" => format!(
            "import netCDF4\nimport numpy as np\n\nwith netCDF4.Dataset(str({path})) as data:\n    array = np.ma.filled(data.variables[{name}][:].astype(float), np.nan)\n"
        ),
        "npz" => format!(
            "import numpy as np\n\nwith np.load({path}, allow_pickle=False) as file:\n    array = file[{name}]\n"
        ),
        _ => format!("import numpy as np\n\narray = np.load({path}, allow_pickle=False)\n"),
    }
}
