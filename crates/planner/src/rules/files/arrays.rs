//! Questions about arrays, pictures and archives, and the description of any file.

use serde_json::Value;

use super::draft;
use super::lexicon::{Token, name_parts, says};
use super::python::{Code, in_f, text};
use super::vocabulary::is_common;
use crate::brief::FileBrief;
use crate::exchange::Reply;

const IMAGES: [&str; 8] = ["png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp"];
const ARCHIVES: [&str; 7] = ["zip", "tar", "gz", "tgz", "bz2", "xz", "7z"];

/// Words that ask what there is.
const ASKS: [&str; 18] = [
    "describe",
    "what",
    "summary",
    "summarise",
    "summarize",
    "overview",
    "about",
    "inspect",
    "look",
    "content",
    "contents",
    "metadata",
    "columns",
    "structure",
    "key",
    "variable",
    "attribute",
    "macro",
];

/// The plan for a question about arrays, pictures or archives, if it is one.
pub(super) fn plan(files: &[&FileBrief], words: &[Token]) -> Option<Reply> {
    array(files, words).or_else(|| image(files, words)).or_else(|| archive(files, words))
}

fn is_named(file: &FileBrief, words: &[Token]) -> bool {
    words.iter().any(|word| word.lower == file.name.to_lowercase())
}

fn array(files: &[&FileBrief], words: &[Token]) -> Option<Reply> {
    let arrays: Vec<(&FileBrief, &Value)> = files
        .iter()
        .flat_map(|file| {
            let arrays = file.facts.get("arrays").and_then(Value::as_array).into_iter().flatten();
            arrays.map(|array| (*file, array))
        })
        .collect();
    let named = |array: &Value| {
        let name = array.get("name").and_then(Value::as_str).unwrap_or_default();
        let last = name.rsplit('/').next().unwrap_or_default();
        let parts = name_parts(last);
        !parts.is_empty() && parts.iter().all(|part| words.iter().any(|word| word.stem == *part))
    };
    let fitting: Vec<&(&FileBrief, &Value)> =
        arrays.iter().filter(|(file, array)| named(array) || is_named(file, words)).collect();
    let only = (arrays.len() == 1 && files.len() == 1).then(|| &arrays[0]);
    let (file, array) = *fitting.into_iter().next().or(only)?;
    let (function, word) = [
        ("mean", "average"),
        ("mean", "mean"),
        ("median", "median"),
        ("sum", "sum"),
        ("sum", "total"),
        ("max", "maximum"),
        ("max", "highest"),
        ("max", "largest"),
        ("max", "max"),
        ("min", "minimum"),
        ("min", "lowest"),
        ("min", "smallest"),
        ("min", "min"),
        ("std", "deviation"),
        ("shape", "shape"),
        ("shape", "dimension"),
        ("shape", "size"),
        ("size", "how many"),
    ]
    .into_iter()
    .find(|(_, word)| says(words, &[word]))?;
    let name = array.get("name").and_then(Value::as_str).unwrap_or_default();
    let mut code = Code::new(&words.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" "));
    read_array(file, name, &mut code);
    let label = in_f(&if name.is_empty() { file.name.clone() } else { format!("{name} in {}", file.name) });
    match function {
        "shape" => code.add(format!("answer_json = list(array.shape)\nanswer_text = f\"{label} has the shape {{answer_json}}.\"")),
        "size" => code.add(format!("answer_json = int(array.size)\nanswer_text = f\"{label} has {{answer_json:,}} values.\"")),
        function => code.add(format!(
            "answer_json = float(np.nan{function}(array))\nanswer_text = f\"The {word} of {label} is {{answer_json:,.6g}}.\""
        )),
    };
    code.add("STATUS = \"success\"");
    Some(draft(&format!("{word} of an array"), code.finish()))
}

fn read_array(file: &FileBrief, name: &str, code: &mut Code) {
    let path = format!("files[{}]", text(&file.name));
    code.import("import numpy as np");
    let quoted = text(name);
    match file.kind.as_str() {
        "h5" | "hdf5" => {
            code.import("import h5py");
            code.add(format!(
                "with h5py.File({path}, \"r\") as file:\n    array = np.asarray(file[{quoted}])"
            ));
        }
        "nc" => {
            code.import("import netCDF4");
            code.add(format!("with netCDF4.Dataset(str({path})) as data:\n    array = np.ma.filled(data.variables[{quoted}][:].astype(float), np.nan)"));
        }
        "npz" => {
            code.add(format!(
                "with np.load({path}, allow_pickle=False) as file:\n    array = file[{quoted}]"
            ));
        }
        _ => {
            code.add(format!("array = np.load({path}, allow_pickle=False)"));
        }
    }
}

fn image(files: &[&FileBrief], words: &[Token]) -> Option<Reply> {
    let images: Vec<&&FileBrief> = files.iter().filter(|file| IMAGES.contains(&file.kind.as_str())).collect();
    let asks = says(
        words,
        &[
            "image",
            "picture",
            "photo",
            "pixel",
            "resolution",
            "width",
            "height",
            "wide",
            "tall",
            "colour",
            "color",
            "grayscale",
            "grey",
            "gray",
            "thumbnail",
            "logo",
        ],
    );
    let named: Vec<&&FileBrief> = images.iter().copied().filter(|file| is_named(file, words)).collect();
    let is_all_images = images.len() == files.len();
    if images.is_empty()
        || named.is_empty()
            && !asks
            && !(is_all_images && says(words, &["size", "large", "big", "describe", "format"]))
    {
        return None;
    }
    let chosen = if named.is_empty() { images } else { named };
    let mut code = Code::new(&words.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" "));
    code.import("from PIL import Image");
    code.add("answer_rows = []");
    let wanted: Vec<&str> = chosen.iter().map(|file| file.name.as_str()).collect();
    code.add(format!("for name in {}:", super::python::list(wanted)));
    code.indented("with Image.open(files[name]) as image:");
    code.indented("    row = {\"file\": name, \"width\": image.width, \"height\": image.height, \"mode\": image.mode, \"format\": image.format}");
    if says(words, &["colour", "color", "mean", "average"]) {
        code.indented("    pixel = image.convert(\"RGB\").resize((1, 1), Image.Resampling.BOX).getpixel((0, 0))\n    row[\"mean_colour\"] = \"#%02x%02x%02x\" % pixel");
    }
    if says(words, &["grayscale", "grey", "gray"]) {
        code.indented(
            "    image.convert(\"L\").save(artifacts / (name.rsplit(\".\", 1)[0] + \"-grey.png\"))",
        );
    }
    if says(words, &["thumbnail", "resize", "smaller"]) {
        code.indented("    image.convert(\"RGB\").copy().save(artifacts / (name.rsplit(\".\", 1)[0] + \"-full.png\"))\n    small = image.convert(\"RGB\")\n    small.thumbnail((256, 256))\n    small.save(artifacts / (name.rsplit(\".\", 1)[0] + \"-small.png\"))");
    }
    code.indented("answer_rows.append(row)");
    code.add("answer_text = \"; \".join(f\"{row['file']} is {row['width']} × {row['height']} pixels ({row['mode']}, {row['format']})\" + (f\", mean colour {row['mean_colour']}\" if 'mean_colour' in row else \"\") for row in answer_rows) + \".\"\nSTATUS = \"success\"");
    Some(draft("pictures", code.finish()))
}

fn archive(files: &[&FileBrief], words: &[Token]) -> Option<Reply> {
    let archives: Vec<&&FileBrief> =
        files.iter().filter(|file| ARCHIVES.contains(&file.kind.as_str())).collect();
    let asks = says(words, &["archive", "member", "members", "zip", "contents", "unpack", "extract"])
        || says(words, &["files", "file"]) && says(words, &["how many", "list", "which", "what", "inside"]);
    if archives.is_empty() || !asks {
        return None;
    }
    let named: Vec<&&FileBrief> = archives.iter().copied().filter(|file| is_named(file, words)).collect();
    let file = *named.first().or(archives.first())?;
    let path = format!("files[{}]", text(&file.name));
    let mut code = Code::new(&words.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" "));
    match file.kind.as_str() {
        "zip" => {
            code.import("import zipfile");
            code.add(format!("with zipfile.ZipFile({path}) as archive:\n    members = [(info.filename, info.file_size) for info in archive.infolist() if not info.is_dir()]"));
        }
        "7z" => {
            code.import("import py7zr");
            code.add(format!("with py7zr.SevenZipFile({path}) as archive:\n    members = [(info.filename, info.uncompressed) for info in archive.list() if not info.is_directory]"));
        }
        kind if kind == "tar" || file.facts.get("compressed").is_some() => {
            code.import("import tarfile");
            code.add(format!("with tarfile.open({path}) as archive:\n    members = [(info.name, info.size) for info in archive if info.isfile()]"));
        }
        _ => return None,
    }
    code.add(format!("members.sort()\nanswer_rows = [{{\"member\": name, \"bytes\": size}} for name, size in members[:200]]\nanswer_json = len(members)\nanswer_text = f\"{} holds {{len(members):,}} files of {{sum(size for _, size in members):,}} bytes: \" + \", \".join(name for name, _ in members[:10]) + (\" …\" if len(members) > 10 else \"\") + \".\"\nSTATUS = \"success\"", in_f(&file.name)));
    Some(draft("members of an archive", code.finish()))
}

/// What was found out about the files, for a person who asks what is in them.
pub(super) fn describe(files: &[&FileBrief], words: &[Token]) -> Option<Reply> {
    let asks = says(words, &ASKS);
    let is_plain = words.iter().all(|word| {
        says(std::slice::from_ref(word), &ASKS)
            || is_common(word)
            || files.iter().any(|file| word.lower == file.name.to_lowercase())
    });
    if !asks || !is_plain {
        return None;
    }
    let mut code = Code::new(&words.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" "));
    code.import("import json");
    code.add("# What a look into each file told.");
    code.add("facts = {}");
    for file in files.iter().take(20) {
        // Facts travel as JSON text, so that a hostile name or value in them stays a text.
        let mut facts = file.facts.clone();
        if let Some(tables) = facts.get_mut("tables").and_then(Value::as_array_mut) {
            tables.truncate(10);
            for table in tables {
                if let Some(columns) = table.get_mut("columns").and_then(Value::as_array_mut) {
                    columns.truncate(20);
                }
            }
        }
        code.add(format!("facts[{}] = json.loads({})", text(&file.name), text(&facts.to_string())));
    }
    code.add("answer_rows = [{\"file\": name, **{key: value for key, value in found.items() if not isinstance(value, (dict, list))}} for name, found in facts.items()]\nanswer_json = facts\nanswer_text = \"; \".join(name + \": \" + \", \".join(f\"{key} {value}\" for key, value in list(row.items())[1:6] if key != \"excerpt\") for name, row in zip(facts, answer_rows)) + \".\"\nSTATUS = \"success\"");
    Some(draft("what the files hold", code.finish()))
}
