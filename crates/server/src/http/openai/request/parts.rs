//! Files and pictures among the parts of a message.
//!
//! They come as data URIs or plain base64. An address is refused: the server fetches nothing from elsewhere.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::{GivenFile, Part, refused};
use crate::http::problem::Problem;
use crate::http::requests::shortened;

/// Files with one request.
const FILES_MAX: usize = 50;

/// The files of the last message.
pub(super) fn files(parts: Option<&[Part]>, messages: usize) -> Result<Vec<GivenFile>, Problem> {
    let mut files = Vec::new();
    for (place, part) in parts.unwrap_or_default().iter().enumerate() {
        if part.as_text().is_some() {
            continue;
        }
        let pointer = format!("/messages/{}/content/{place}", messages.saturating_sub(1));
        let file = file(part, place).map_err(|message| {
            refused(&pointer, &message).hint(
                "send a file as `{\"type\": \"file\", \"file\": {\"filename\": …, \
                 \"file_data\": \"data:text/csv;base64,…\"}}`",
            )
        })?;
        files.push(file);
        if files.len() > FILES_MAX {
            return Err(refused(&pointer, &format!("at most {FILES_MAX} files come with one request")));
        }
    }
    Ok(files)
}

fn file(part: &Part, place: usize) -> Result<GivenFile, String> {
    let text = |value: &Value, name: &str| value[name].as_str().map(str::to_owned);
    let (name, data) = match part.kind.as_str() {
        "file" | "input_file" => {
            let given = part.file.as_ref();
            let name = given.and_then(|file| text(file, "filename")).or_else(|| part.filename.clone());
            let data = given.and_then(|file| text(file, "file_data")).or_else(|| part.file_data.clone());
            (name, data)
        }
        "image_url" | "input_image" => {
            let url = part.image_url.as_ref();
            let data = url.and_then(|url| url.as_str().map(str::to_owned).or_else(|| text(url, "url")));
            (None, data)
        }
        kind => return Err(format!("a part of the kind `{}` is not taken here", shortened(kind))),
    };
    let data = data.ok_or("the part has no content; ids of files kept elsewhere mean nothing here")?;
    let (media_type, content) = decoded(&data)?;
    let name = name.unwrap_or_else(|| format!("file-{}.{}", place + 1, ending(&media_type)));
    if let Some(problem) = ordain_cell::name_problem(&name) {
        return Err(format!("the name of the file does not do: {problem}"));
    }
    Ok(GivenFile { name, content })
}

/// The media type and the bytes of a data URI, or of plain base64.
fn decoded(data: &str) -> Result<(String, Vec<u8>), String> {
    let (media_type, base64) = match data.strip_prefix("data:") {
        Some(rest) => {
            let (head, body) = rest.split_once(',').ok_or("the data URI has no comma")?;
            let media_type = head.strip_suffix(";base64").ok_or("the data URI is not base64")?;
            (media_type.split(';').next().unwrap_or_default().to_ascii_lowercase(), body)
        }
        None if data.contains("://") => {
            return Err("nothing is fetched from other addresses; send the content as a data URI".to_owned());
        }
        None => (String::new(), data),
    };
    let content = STANDARD.decode(base64.trim()).map_err(|error| format!("it is not base64: {error}"))?;
    Ok((media_type, content))
}

fn ending(media_type: &str) -> &'static str {
    match media_type {
        "text/csv" => "csv",
        "text/plain" => "txt",
        "application/json" => "json",
        "application/pdf" => "pdf",
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(part: Value) -> Result<GivenFile, String> {
        file(&serde_json::from_value(part).unwrap(), 0)
    }

    #[test]
    fn files_and_pictures_are_read_as_clients_send_them() {
        let csv = "data:text/csv;charset=utf-8;base64,YSxiCg==";
        let wanted = GivenFile { name: "a.csv".to_owned(), content: b"a,b\n".to_vec() };
        let nested = json!({ "type": "file", "file": { "filename": "a.csv", "file_data": csv } });
        let flat = json!({ "type": "input_file", "filename": "a.csv", "file_data": "YSxiCg==" });
        for part in [nested, flat] {
            assert_eq!(read(part), Ok(wanted.clone()));
        }
        let picture = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } });
        assert_eq!(read(picture).unwrap().name, "file-1.png");
    }

    #[test]
    fn what_is_elsewhere_or_badly_named_is_refused() {
        for part in [
            json!({ "type": "file", "file": { "file_id": "file-1" } }),
            json!({ "type": "image_url", "image_url": { "url": "https://example.com/a.png" } }),
            json!({ "type": "file", "file": { "filename": "../../etc/passwd", "file_data": "AAAA" } }),
            json!({ "type": "file", "file": { "filename": "a.csv", "file_data": "data:text/csv,a" } }),
            json!({ "type": "file", "file": { "filename": "a.csv", "file_data": "not base64!" } }),
            json!({ "type": "input_audio" }),
        ] {
            assert!(read(part.clone()).is_err(), "{part}");
        }
    }
}
