//! Takes one file out of a zip archive that is part of the program.
//!
//! It reads just what such an archive needs: the directory at its end, and files that are stored or deflated.

use std::io::Read as _;

/// Swagger UI as it is published.
pub(crate) const SWAGGER_UI: &[u8] = utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;

const END_MARK: [u8; 4] = *b"PK\x05\x06";
const DIRECTORY_MARK: [u8; 4] = *b"PK\x01\x02";
const FILE_MARK: [u8; 4] = *b"PK\x03\x04";
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The content of the first file whose path ends so.
pub(crate) fn unpack(archive: &[u8], path_end: &str) -> Option<Vec<u8>> {
    let end = archive.windows(4).rposition(|mark| mark == END_MARK)?;
    let mut at = usize::try_from(number(archive, end + 16, 4)?).ok()?;
    while archive.get(at..at + 4)? == DIRECTORY_MARK {
        let length =
            |place: usize| number(archive, at + place, 2).and_then(|length| usize::try_from(length).ok());
        let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
        if archive.get(at + 46..at + 46 + name)?.ends_with(path_end.as_bytes()) {
            return content(archive, at);
        }
        at += 46 + name + extra + comment;
    }
    None
}

/// The content of the file that an item of the directory is about.
fn content(archive: &[u8], item: usize) -> Option<Vec<u8>> {
    let size = |place: usize| number(archive, item + place, 4).and_then(|size| usize::try_from(size).ok());
    let (packed, unpacked, at) = (size(20)?, size(24)?, size(42)?);
    if archive.get(at..at + 4)? != FILE_MARK {
        return None;
    }
    let skipped = usize::try_from(number(archive, at + 26, 2)? + number(archive, at + 28, 2)?).ok()?;
    let data = archive.get(at + 30 + skipped..at + 30 + skipped + packed)?;
    match u16::try_from(number(archive, item + 10, 2)?).ok()? {
        STORED => Some(data.to_vec()),
        DEFLATED => {
            let mut content = Vec::with_capacity(unpacked);
            let reader = flate2::read::DeflateDecoder::new(data);
            reader.take(unpacked as u64).read_to_end(&mut content).ok()?;
            (content.len() == unpacked).then_some(content)
        }
        _ => None,
    }
}

/// A little-endian number.
fn number(archive: &[u8], at: usize, bytes: usize) -> Option<u32> {
    let bytes = archive.get(at..at + bytes)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_explorer_is_in_the_archive() {
        let bundle = unpack(SWAGGER_UI, "/dist/swagger-ui-bundle.js").unwrap();
        assert!(bundle.len() > 1_000_000);
        assert!(String::from_utf8(bundle).unwrap().contains("SwaggerUIBundle"));
        let style = String::from_utf8(unpack(SWAGGER_UI, "/dist/swagger-ui.css").unwrap()).unwrap();
        assert!(style.starts_with('.') && style.contains(".swagger-ui"));
    }

    #[test]
    fn a_missing_file_or_a_damaged_archive_gives_nothing() {
        assert!(unpack(SWAGGER_UI, "/dist/nothing.js").is_none());
        assert!(unpack(b"", "a").is_none() && unpack(b"PK\x05\x06", "a").is_none());
        let cut = &SWAGGER_UI[..SWAGGER_UI.len() - 100];
        assert!(unpack(cut, "/dist/swagger-ui.css").is_none());
    }
}
