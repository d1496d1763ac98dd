//! Questions about texts: words, lines, pages, and where something is said.

use super::catalog::Catalog;
use super::draft;
use super::filters::quotes;
use super::lexicon::{Token, find, name_parts, says, whole};
use super::python::{Code, in_f, text};
use super::vocabulary::is_common;
use crate::brief::FileBrief;
use crate::exchange::Reply;

const TEXT_KINDS: [&str; 10] = ["txt", "md", "log", "rtf", "html", "htm", "docx", "doc", "pptx", "pdf"];
/// A Python function that reads the text of an old Word document. Looking into files uses the same one.
pub const READ_DOC: &str = include_str!("../../../python/read_doc.py");
/// Words that carry no meaning of their own, left out of frequencies unless all words are asked for.
const STOP_WORDS: &str = "a an and are as at be but by for from had has have he her his i in is it its not of on or our she that the their them they this to was we were which will with you your";

/// The plan for a question about texts, if it is one.
pub(super) fn plan(files: &[&FileBrief], catalog: &Catalog, request: &str, words: &[Token]) -> Option<Reply> {
    let texts: Vec<&&FileBrief> =
        files.iter().filter(|file| TEXT_KINDS.contains(&file.kind.as_str())).collect();
    if texts.is_empty() {
        return None;
    }
    let named: Vec<&&FileBrief> = texts
        .iter()
        .copied()
        .filter(|file| words.iter().any(|word| word.lower == file.name.to_lowercase()))
        .collect();
    // Tables beside the texts take the questions that name no text.
    let has_tables = catalog.sources.iter().any(|source| !TEXT_KINDS.contains(&source.kind.as_str()));
    let is_about_text = says(
        words,
        &[
            "word",
            "text",
            "line",
            "page",
            "slide",
            "paragraph",
            "character",
            "sentence",
            "document",
            "pdf",
            "mention",
            "log",
        ],
    );
    if has_tables && named.is_empty() && !is_about_text {
        return None;
    }
    let chosen = if named.is_empty() { texts } else { named };
    let mut code = Code::new(request);
    let read = |code: &mut Code| {
        code.add("texts = {}");
        for file in &chosen {
            read_text(file, code);
        }
    };
    let title = task(words, request, &chosen, &mut code, &read)?;
    if !title.starts_with("search") && !is_understood(words, &chosen) {
        return None;
    }
    let status =
        if title.starts_with("search") { "\"success\" if found else \"no_match\"" } else { "\"success\"" };
    code.add(format!("STATUS = {status}"));
    Some(draft(&title, code.finish()))
}

/// Whether every word has a meaning: “how many words does Bob say” is not about all words.
fn is_understood(words: &[Token], files: &[&&FileBrief]) -> bool {
    const OF_TEXTS: &str = "word words frequency frequencies text texts line lines page pages slide slides paragraph
        paragraphs character characters letter letters sentence sentences document documents pdf log used top cloud
        extract full read convert plain email emails e-mail address addresses stop stopwords meaningful note notes
        presentation does length of appearing occurring report";
    words.iter().all(|word| {
        let is_ours = OF_TEXTS.split_whitespace().any(|known| known == word.lower);
        let is_file = |file: &&&FileBrief| {
            word.lower == file.name.to_lowercase()
                || name_parts(file.name.split('.').next().unwrap_or_default()).contains(&word.stem)
        };
        is_ours || is_common(word) || word.number.is_some() || files.iter().any(is_file)
    })
}

/// The plan for a question about a text that stands in the request itself, in quotes.
pub(super) fn plan_quoted(request: &str, words: &[Token]) -> Option<Reply> {
    let given = quotes(request).into_iter().map(|(text, ..)| text).max_by_key(String::len)?;
    let mut code = Code::new(request);
    code.add(format!("texts = {{\"the text\": {}}}", text(&given)));
    if frequency(words) {
        write_frequency(words, &mut code);
    } else if says(words, &["reverse", "backwards"]) {
        code.add("answer_json = texts[\"the text\"][::-1]\nanswer_text = f\"Reversed: {answer_json}\"");
    } else if says(words, &["palindrome"]) {
        code.add("plain = \"\".join(letter.lower() for letter in texts[\"the text\"] if letter.isalnum())\nanswer_json = plain == plain[::-1]\nanswer_text = \"It is a palindrome.\" if answer_json else \"It is not a palindrome.\"");
    } else if says(words, &["vowel", "vowels"]) {
        code.add("answer_json = sum(letter in \"aeiou\" for letter in texts[\"the text\"].lower())\nanswer_text = f\"It has {answer_json} vowels.\"");
    } else {
        let unit = unit(words)?;
        write_count(unit, &mut code);
    }
    code.add("STATUS = \"success\"");
    Some(draft("a text in the request", code.finish()))
}

fn frequency(words: &[Token]) -> bool {
    says(
        words,
        &[
            "word frequency",
            "word frequencies",
            "word count by",
            "frequency of word",
            "frequencies of word",
            "common word",
            "frequent word",
            "used word",
            "word cloud",
            "top word",
        ],
    ) || says(words, &["frequency", "frequencies", "frequent", "common"]) && says(words, &["word", "words"])
        || says(words, &["top"]) && says(words, &["words"])
}

fn unit(words: &[Token]) -> Option<&'static str> {
    const UNITS: [&str; 8] =
        ["word", "line", "page", "slide", "paragraph", "character", "letter", "sentence"];
    let counts = says(words, &["how many", "count", "number of", "how long", "length"]);
    let unit = UNITS.into_iter().find(|unit| says(words, &[unit]));
    counts.then_some(unit.unwrap_or("word"))
}

fn task(
    words: &[Token],
    request: &str,
    files: &[&&FileBrief],
    code: &mut Code,
    read: &dyn Fn(&mut Code),
) -> Option<String> {
    let asked = searched(words, request);
    if frequency(words) {
        read(code);
        write_frequency(words, code);
        return Some("word frequency".to_owned());
    }
    if let Some(part) = asked {
        read(code);
        write_search(&part, words, code);
        return Some(format!("search for {part}"));
    }
    if let Some(unit) = unit(words) {
        if unit == "page" || unit == "slide" {
            write_pages(files, unit, code)?;
        } else {
            read(code);
            write_count(unit, code);
        }
        return Some(format!("count of {unit}s"));
    }
    if says(words, &["extract", "full text", "text of", "read", "convert", "plain text"]) {
        read(code);
        code.add("for name, content in texts.items():\n    (artifacts / (name.rsplit(\".\", 1)[0] + \".txt\")).write_text(content, encoding=\"utf-8\")\nanswer_text = \"The text of \" + \", \".join(f\"{name} ({len(content.split()):,} words)\" for name, content in texts.items()) + \" is saved as a file.\"");
        return Some("text".to_owned());
    }
    if says(words, &["email", "emails", "e-mail", "address", "addresses"]) {
        read(code);
        code.import("import re");
        code.add("found = sorted({match for content in texts.values() for match in re.findall(r\"[\\w.+-]+@[\\w-]+\\.[\\w.-]*\\w\", content)})\nanswer_rows = [{\"address\": address} for address in found[:200]]\nanswer_text = f\"{len(found)} addresses: \" + \", \".join(found[:20])");
        return Some("addresses".to_owned());
    }
    None
}

/// The text that is looked for: quoted, or after `containing`, `mention` and the like.
fn searched(words: &[Token], request: &str) -> Option<String> {
    let looks = says(
        words,
        &[
            "contain",
            "containing",
            "contains",
            "mention",
            "mentions",
            "mentioned",
            "search",
            "find",
            "say",
            "occurrence",
            "occur",
            "occurs",
            "appear",
            "appears",
            "where",
            "with",
            "how often",
        ],
    );
    if !looks {
        return None;
    }
    if let Some((quoted, ..)) = quotes(request).into_iter().next() {
        return Some(quoted);
    }
    let after = [
        "containing",
        "contains",
        "contain",
        "mentioning",
        "mentions",
        "mention",
        "search for",
        "occurrences of",
        "find",
    ]
    .iter()
    .find_map(|entry| find(words, entry))
    .map(|(_, end)| end)?;
    let skip = |word: &Token| {
        matches!(
            word.lower.as_str(),
            "the" | "word" | "phrase" | "text" | "a" | "line" | "lines" | "all" | "with"
        )
    };
    let first = (after..words.len()).find(|&at| !skip(&words[at]))?;
    Some(request[words[first].start..words[first].end].to_owned())
}

fn write_frequency(words: &[Token], code: &mut Code) {
    let count = words.iter().filter_map(whole).find(|count| (1..=1000).contains(count)).unwrap_or(10);
    code.import("import re").import("from collections import Counter");
    code.add("\n# Words in lower case, an apostrophe inside counts as part of the word.");
    code.add("counts = Counter(word for content in texts.values() for word in re.findall(r\"[^\\W\\d_]+(?:['’][^\\W\\d_]+)*\", content.lower()))");
    if says(words, &["stop", "stopword", "stopwords", "meaningful", "without"]) {
        code.add(format!("for word in {}.split():\n    counts.pop(word, None)", text(STOP_WORDS)));
    }
    code.add(format!(
        "answer_rows = [{{\"word\": word, \"count\": count}} for word, count in counts.most_common({count})]\nanswer_text = f\"{{sum(counts.values()):,}} words, {{len(counts):,}} different; most frequent: \" + \", \".join(f\"{{row['word']}} ({{row['count']}})\" for row in answer_rows) + \".\""
    ));
}

fn write_search(part: &str, words: &[Token], code: &mut Code) {
    let counts = says(words, &["how many", "how often", "count", "number of", "occurrence", "times"]);
    let lines = says(words, &["line", "lines"]);
    code.add(format!("\nwanted = {}", text(part)));
    code.add("found = []\nfor name, content in texts.items():\n    for number, line in enumerate(content.splitlines(), start=1):\n        times = line.lower().count(wanted.lower())\n        if times:\n            found.append({\"file\": name, \"line\": number, \"times\": times, \"text\": line.strip()[:300]})\nanswer_rows = found[:200]");
    if counts && !lines {
        code.add("answer_json = sum(row[\"times\"] for row in found)");
        code.add(format!(
            "answer_text = f\"“{}” occurs {{answer_json:,}} times in {{len(found):,}} lines.\"",
            in_f(part)
        ));
    } else {
        code.add("answer_json = len(found)");
        code.add(format!(
            "answer_text = f\"{{len(found):,}} lines hold “{}”\" + (\": \" + \"; \".join(f\"{{row['file']}} line {{row['line']}}: {{row['text'][:80]}}\" for row in found[:5]) if found else \"\") + \".\"",
            in_f(part)
        ));
    }
}

fn write_count(unit: &str, code: &mut Code) {
    let expression = match unit {
        "line" => "len(content.splitlines())",
        "paragraph" => "sum(1 for part in content.split(\"\\n\\n\") if part.strip())",
        "character" => "len(content)",
        "letter" => "sum(letter.isalpha() for letter in content)",
        "sentence" => {
            code.import("import re");
            "len(re.findall(r\"[^.!?]+[.!?]+(?=\\s|$)\", content))"
        }
        _ => "len(content.split())",
    };
    code.add(format!("counts = {{name: {expression} for name, content in texts.items()}}"));
    tell_counts(unit, code);
}

fn tell_counts(unit: &str, code: &mut Code) {
    code.add(format!(
        "answer_rows = [{{\"file\": name, \"{unit}s\": count}} for name, count in counts.items()]\nanswer_json = sum(counts.values())\nanswer_text = \", \".join(f\"{{name}} has {{count:,}} {unit}s\" for name, count in counts.items()) + \".\""
    ));
}

fn write_pages(files: &[&&FileBrief], unit: &str, code: &mut Code) -> Option<()> {
    code.add("counts = {}");
    let mut has_any = false;
    for file in files {
        let name = text(&file.name);
        match (file.kind.as_str(), unit) {
            ("pdf", "page") => {
                code.import("import pypdf");
                code.add(format!("counts[{name}] = len(pypdf.PdfReader(str(files[{name}])).pages)"));
            }
            ("pptx", _) => {
                code.import("import pptx");
                code.add(format!("counts[{name}] = len(pptx.Presentation(str(files[{name}])).slides)"));
            }
            _ => continue,
        }
        has_any = true;
    }
    tell_counts(unit, code);
    has_any.then_some(())
}

/// Adds the lines that read a file's text into `texts`.
fn read_text(file: &FileBrief, code: &mut Code) {
    let name = text(&file.name);
    let path = format!("files[{name}]");
    let encoding = file.facts.get("encoding").and_then(|encoding| encoding.as_str()).unwrap_or("utf-8");
    let encoding = text(encoding);
    match file.kind.as_str() {
        "pdf" => {
            code.import("import pypdf");
            code.add(format!("texts[{name}] = \"\\n\".join(page.extract_text() or \"\" for page in pypdf.PdfReader(str({path})).pages)"));
        }
        "docx" => {
            code.import("import docx");
            code.add(format!("document = docx.Document(str({path}))\ncells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]\ntexts[{name}] = \"\\n\".join([paragraph.text for paragraph in document.paragraphs] + cells)"));
        }
        "pptx" => {
            code.import("import pptx");
            code.add(format!("texts[{name}] = \"\\n\".join(shape.text_frame.text for slide in pptx.Presentation(str({path})).slides for shape in slide.shapes if shape.has_text_frame)"));
        }
        "rtf" => {
            code.import("from striprtf.striprtf import rtf_to_text");
            code.add(format!(
                "texts[{name}] = rtf_to_text({path}.read_text(encoding=\"latin-1\"), errors=\"ignore\")"
            ));
        }
        "html" | "htm" => {
            code.import("from bs4 import BeautifulSoup");
            code.add(format!("texts[{name}] = BeautifulSoup({path}.read_text(encoding={encoding}, errors=\"replace\"), \"html.parser\").get_text(\" \", strip=True)"));
        }
        "doc" => {
            code.define(READ_DOC);
            code.add(format!("texts[{name}] = read_doc({path})"));
        }
        _ => {
            code.add(format!("texts[{name}] = {path}.read_text(encoding={encoding}, errors=\"replace\")"));
        }
    }
}
