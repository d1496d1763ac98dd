//! Files that the command line names. Never more is read of one than may be used, whatever it is: it may be a device.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ordain_types::{SourceFile, format_bytes};

/// The longest plan or module; the verifier accepts no longer one.
const PLAN_BYTES_MAX: u64 = 1 << 20;

/// What to name where a program is asked for.
pub(crate) const PROGRAM_HINT: &str = "name a Python file, or `-` for standard input";

/// What a file holds; `-` is standard input.
pub(crate) fn bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    let wrong = |problem: &dyn Display| format!("cannot read `{}`: {problem}", path.display());
    let mut reader: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else if path.is_dir() {
        return Err(wrong(&"it is a folder"));
    } else {
        Box::new(File::open(path).map_err(|error| wrong(&error))?)
    };
    let mut bytes = Vec::new();
    reader.by_ref().take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| wrong(&error))?;
    if bytes.len() as u64 > bytes_max {
        return Err(wrong(&format!("it is larger than {}", format_bytes(bytes_max))));
    }
    Ok(bytes)
}

/// The text of a file; `-` is standard input.
pub(crate) fn text(path: &Path, bytes_max: u64) -> Result<String, String> {
    let bytes = bytes(path, bytes_max)?;
    String::from_utf8(bytes).map_err(|_| format!("cannot read `{}`: it is not UTF-8 text", path.display()))
}

/// A program in the bytes that it has, and the name that tracebacks show.
pub(crate) fn program(path: &Path, bytes_max: u64) -> Result<(Vec<u8>, String), String> {
    let mut code = bytes(path, bytes_max)?;
    // Some editors put a mark before the text that Python does not take in a text.
    if code.starts_with(b"\xef\xbb\xbf") {
        code.drain(..3);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok((code, name.filter(|name| name != "-").unwrap_or_else(|| "stdin.py".to_owned())))
}

/// A plan or a module.
pub(crate) fn plan(path: &Path) -> Result<SourceFile, String> {
    let (code, name) = program(path, PLAN_BYTES_MAX)?;
    let code = String::from_utf8(code)
        .map_err(|_| format!("cannot read `{}`: it is not UTF-8 text", path.display()))?;
    Ok(SourceFile { code, name: if path == Path::new("-") { "plan.py".to_owned() } else { name } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_end_and_a_long_file_are_refused_after_their_limit() {
        for (path, limit) in [("/dev/zero", 1 << 20), ("/proc/self/exe", 1000), ("/proc", 1)] {
            let problem = bytes(Path::new(path), limit).unwrap_err();
            assert!(problem.contains(path) && problem.contains("it is "), "{problem}");
        }
        assert!(plan(Path::new("/dev/zero")).unwrap_err().contains("larger than 1MiB"));
        assert_eq!(text(Path::new("/dev/null"), 0).unwrap(), "");
    }
}
