//! A form whose parts have short headers.
//!
//! The header of a part is gathered whole before anybody looks at it, so its length is watched on the way.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

/// The longest header of one part: a name, a file name and a kind.
const HEADER_BYTES_MAX: usize = 8 << 10;
/// What ends it.
const HEADER_END: &[u8] = b"\r\n\r\n";

/// A body that is a form.
#[derive(Debug)]
pub(crate) struct ShortHeaders {
    body: Body,
    scan: Scan,
}

/// The header of a part is too long.
#[derive(Debug, thiserror::Error)]
#[error("the header of a part is longer than {HEADER_BYTES_MAX} bytes")]
pub(crate) struct HeaderTooLong;

impl ShortHeaders {
    pub(crate) fn new(body: Body, boundary: &str) -> Self {
        Self { body, scan: Scan::new(boundary) }
    }
}

impl HttpBody for ShortHeaders {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(bytes) = frame.data_ref()
            && self.scan.take(bytes).is_err()
        {
            return Poll::Ready(Some(Err(axum::Error::new(HeaderTooLong))));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Where in the form the bytes are.
#[derive(Debug)]
struct Scan {
    /// The separator before every header.
    delimiter: Vec<u8>,
    /// Bytes of the header so far, if one is open.
    header: Option<usize>,
    /// The last bytes, in which what is looked for may have begun.
    tail: Vec<u8>,
}

impl Scan {
    fn new(boundary: &str) -> Self {
        // The first delimiter stands at the very beginning, as if a line had ended before it.
        Self { delimiter: format!("\r\n--{boundary}").into_bytes(), header: None, tail: b"\r\n".to_vec() }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), HeaderTooLong> {
        let mut window = std::mem::take(&mut self.tail);
        window.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            let wanted = if self.header.is_some() { HEADER_END } else { self.delimiter.as_slice() };
            let found = find(&window[at..], wanted);
            let end = found.map_or(window.len(), |place| at + place + wanted.len());
            if let Some(length) = &mut self.header {
                *length += end - at;
                if *length > HEADER_BYTES_MAX + wanted.len() {
                    return Err(HeaderTooLong);
                }
            }
            if found.is_none() {
                let keep = (wanted.len() - 1).min(window.len() - at);
                self.tail = window[window.len() - keep..].to_vec();
                if let Some(length) = &mut self.header {
                    // What is kept is counted when it is looked at again.
                    *length -= keep;
                }
                return Ok(());
            }
            // The line that ends a header may be the one that begins the next delimiter.
            (self.header, at) = if self.header.is_some() { (None, end - 2) } else { (Some(0), end) };
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut from = 0;
    while let Some(place) = bytes[from..].iter().position(|byte| *byte == first) {
        let at = from + place;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(name: usize, content: usize) -> Vec<u8> {
        let head = format!("--X\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n", "a".repeat(name));
        let part = [head.as_bytes(), &vec![b'\r'; content], b"\r\n"].concat();
        [part.clone(), part, b"--X--\r\n".to_vec()].concat()
    }

    fn reads(bytes: &[u8], piece: usize) -> bool {
        let mut scan = Scan::new("X");
        bytes.chunks(piece).all(|piece| scan.take(piece).is_ok())
    }

    #[test]
    fn a_long_name_of_a_part_is_noticed_however_it_is_cut_and_long_content_is_not() {
        for piece in [1, 2, 3, 7, 4096, 1 << 20] {
            assert!(reads(&form(100, 0), piece) && reads(&form(100, 100_000), piece), "{piece}");
            assert!(reads(&form(7 << 10, 10), piece), "{piece}");
            assert!(!reads(&form(9 << 10, 10), piece), "{piece}");
        }
    }
}
