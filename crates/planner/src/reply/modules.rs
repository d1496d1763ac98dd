//! Takes the further modules out of a reply: a long program may come as several files.
//!
//! Our own form is `<module name="shapes.py">…</module>`. Models also name their fences, in the line that opens one, in
//! the line above it, or in a first comment; such a fence is a module only if another program imports it, because a
//! name alone may stand above anything.

use ordain_types::SourceFile;

use super::clean;

/// Names that stand for the program itself.
const MAIN: [&str; 5] = ["main.py", "plan.py", "program.py", "solution.py", "script.py"];

/// The modules of a reply, in their order, and the reply without them.
pub(super) fn take(reply: &str) -> (Vec<SourceFile>, String) {
    let (mut modules, rest) = tagged(reply);
    let (more, rest) = fenced(&rest);
    modules.extend(more);
    (modules, rest)
}

fn module(name: &str, code: &str) -> SourceFile {
    SourceFile { name: name.to_owned(), code: clean::inside(code, &mut Vec::new()) }
}

fn tagged(reply: &str) -> (Vec<SourceFile>, String) {
    const CLOSE: &str = "</module>";
    let (mut modules, mut rest) = (Vec::new(), String::new());
    let mut left = reply;
    while let Some(at) = left.find("<module ") {
        let inside = &left[at..];
        let found = inside.split_once('>').and_then(|(tag, after)| {
            let name = tag.split_once("name=")?.1.trim_matches(['"', '\'', ' ', '/']);
            let (code, after) = after.split_once(CLOSE)?;
            Some((module(name, code), after))
        });
        // One that never ends was cut off; the search for the program reports it.
        let Some((module, after)) = found else { break };
        rest.push_str(&left[..at]);
        modules.push(module);
        left = after;
    }
    rest.push_str(left);
    (modules, rest)
}

struct Named {
    name: String,
    body: String,
    lines: std::ops::Range<usize>,
}

fn fenced(reply: &str) -> (Vec<SourceFile>, String) {
    let lines: Vec<&str> = reply.lines().collect();
    let mut named = named_fences(&lines);
    named.retain(|fence| !MAIN.contains(&fence.name.as_str()));
    loop {
        let rest = without(&lines, &named);
        // Modules import each other, so what is no module goes one by one.
        let is_imported = |fence: &Named| {
            let others = named.iter().filter(|other| other.name != fence.name).map(|other| &*other.body);
            std::iter::once(&*rest).chain(others).any(|text| imports(text, &fence.name))
        };
        match named.iter().position(|fence| !is_imported(fence)) {
            Some(at) => drop(named.remove(at)),
            None if named.is_empty() => return (Vec::new(), reply.to_owned()),
            None => {
                let modules = named.iter().map(|fence| module(&fence.name, &fence.body)).collect();
                return (modules, rest);
            }
        }
    }
}

fn named_fences(lines: &[&str]) -> Vec<Named> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let opening = lines[at].trim();
        let Some(info) = opening.strip_prefix("```") else {
            at += 1;
            continue;
        };
        let Some(length) = lines[at + 1..].iter().position(|line| line.trim() == "```") else { break };
        let body = &lines[at + 1..at + 1 + length];
        let above = lines[..at].iter().rev().find(|line| !line.trim().is_empty()).copied();
        let first = body.first().copied().and_then(|line| line.trim().strip_prefix('#'));
        let is_python = info.trim().is_empty() || info.trim_start().starts_with("py");
        let name = [Some(info), first, above].into_iter().flatten().find_map(file_name);
        if let Some(name) = name.filter(|_| is_python) {
            found.push(Named { name, body: body.join("\n"), lines: at..at + length + 2 });
        }
        at += length + 2;
    }
    found
}

/// The file that a short line names, if it names one and says little else.
fn file_name(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || "`*:=\"'#()[]".contains(c)).collect();
    let mut words = words.into_iter().filter(|word| !word.is_empty());
    let name = words.clone().find(|word| {
        word.strip_suffix(".py").is_some_and(|stem| {
            !stem.is_empty() && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    })?;
    words
        .all(|word| {
            word == name
                || matches!(
                    word.to_ascii_lowercase().as_str(),
                    "python" | "py" | "file" | "filename" | "title" | "name" | "module"
                )
        })
        .then(|| name.to_owned())
}

fn imports(text: &str, file: &str) -> bool {
    let module = file.trim_end_matches(".py");
    text.lines().any(|line| {
        let mut words = line.trim_start().split(|c: char| c.is_whitespace() || c == ',' || c == '.');
        matches!(words.next(), Some("import" | "from")) && words.any(|word| word == module)
    })
}

fn without(lines: &[&str], fences: &[Named]) -> String {
    let is_kept = |at: &usize| !fences.iter().any(|fence| fence.lines.contains(at));
    let kept: Vec<&str> = (0..lines.len()).filter(is_kept).map(|at| lines[at]).collect();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: &str = "def area(a, b):\n    return a * b";
    const MAIN: &str = "import shapes\nanswer_text = str(shapes.area(3, 4))\nSTATUS = \"success\"";

    #[test]
    fn the_forms_of_several_files_all_give_the_same_module() {
        for reply in [
            format!(
                "<module name=\"shapes.py\">\n{SHAPES}\n</module>\n<execute_python>\n{MAIN}\n</execute_python>"
            ),
            format!("```python shapes.py\n{SHAPES}\n```\nand\n```python\n{MAIN}\n```"),
            format!("```python title=\"shapes.py\"\n{SHAPES}\n```\n```python main.py\n{MAIN}\n```"),
            format!("**shapes.py**\n```python\n{SHAPES}\n```\n\n### `main.py`\n\n```python\n{MAIN}\n```"),
            format!("```py\n# shapes.py\n{SHAPES}\n```\n<execute_python>\n{MAIN}\n</execute_python>"),
        ] {
            let (modules, rest) = take(&reply);
            assert_eq!(modules.len(), 1, "{reply}");
            assert_eq!(modules[0].name, "shapes.py", "{reply}");
            let code = modules[0].code.replace("# shapes.py\n", "");
            assert_eq!(code.trim_end(), SHAPES, "{reply}");
            assert!(rest.contains(MAIN) && !rest.contains("def area"), "{rest}");
        }
    }

    #[test]
    fn what_nobody_imports_is_no_module_and_stays_where_it_is() {
        for reply in [
            format!("```python analysis.py\n{SHAPES}\n```\n```python\nanswer_text = \"x\"\n```"),
            format!("```python shapes.py\n{MAIN}\n```"),
            format!("Put this into the file shapes.py if you like:\n```python\n{SHAPES}\n```\n{MAIN}"),
            "<module name=\"shapes.py\">\ndef area(".to_owned(),
            "no code at all".to_owned(),
        ] {
            assert_eq!(take(&reply), (Vec::new(), reply.clone()));
        }
    }

    #[test]
    fn modules_that_import_each_other_are_taken_together() {
        let reply = format!(
            "```python base_parts.py\nONE = 1\n```\n```python shapes.py\nimport base_parts\n{SHAPES}\n```\n```python\n{MAIN}\n```"
        );
        let names: Vec<String> = take(&reply).0.into_iter().map(|module| module.name).collect();
        assert_eq!(names, ["base_parts.py", "shapes.py"]);
    }
}
