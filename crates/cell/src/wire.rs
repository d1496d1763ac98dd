//! The frames on the wire between supervisor and cell.
//!
//! A frame is its payload's length (four bytes, little-endian), its kind (one byte) and the payload. Frames from a
//! cell are hostile: the length is checked before anything is reserved, memory grows only as bytes arrive, and
//! whatever does not read ends the cell with `protocol_error`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::compiled::Compiled;
use crate::host::{HostCall, HostError};
use crate::job::{FailingRows, Raised};

/// The largest payload either way.
pub const FRAME_BYTES_MAX: usize = 32 << 20;
/// How much is read at once.
const PIECE_BYTES: usize = 64 * 1024;
const HEADER_BYTES: usize = 5;
/// How much memory a payload may take once it is read. A list of small values takes many times its length.
pub const UNFOLDED_BYTES_MAX: usize = 80 << 20;

const READY: u8 = b'R';
const FILES: u8 = b'F';
const JOB: u8 = b'J';
const RESULT: u8 = b'T';
const CALL: u8 = b'C';
const REPLY: u8 = b'P';

/// What a cell says.
#[derive(Debug)]
pub(crate) enum FromCell {
    /// It has warmed up and waits for a job.
    Ready,
    /// The code came to its end. A claim.
    Result(Box<Claim>),
    /// The code calls its host; or it did so with proper arguments that are more than is read here, and why.
    Call(Result<HostCall, HostError>),
}

/// What a cell says about the end of its job.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub(crate) exit: i32,
    pub(crate) error: Option<Raised>,
    /// The limit that the exception tells of.
    pub(crate) limit: Option<ClaimedLimit>,
    pub(crate) values: Map<String, Value>,
    pub(crate) notes: Map<String, Value>,
}

/// A limit that code can run into and then report itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClaimedLimit {
    Memory,
    Processes,
}

/// The part of a job that travels beside its code.
#[derive(Debug, Serialize)]
pub(crate) struct JobHeader<'a> {
    pub(crate) name: &'a str,
    pub(crate) memory_bytes: u64,
    pub(crate) processes: u32,
    pub(crate) cpu_seconds: u64,
    pub(crate) files: Vec<&'a str>,
    pub(crate) values: &'a Map<String, Value>,
    pub(crate) tables: &'a [String],
    pub(crate) frames: &'a BTreeMap<String, String>,
    pub(crate) failing: Option<&'a FailingRows>,
    pub(crate) helpers: &'a str,
    pub(crate) collect: &'a [String],
    pub(crate) session: bool,
    pub(crate) fresh: bool,
    /// Whether the code is only to be compiled.
    pub(crate) compile: bool,
    /// How many bytes of compiled helpers and of the compiled program stand before the code.
    pub(crate) compiled: [usize; 2],
}

/// Why a frame did not read. The text is the supervisor's own; nothing of the frame is repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireError {
    #[error("a frame of {0} bytes, more than a frame may have")]
    TooLarge(usize),
    #[error("a frame that unfolds to about {0} bytes, more than is read")]
    Unfolded(usize),
    #[error("a frame of unknown kind")]
    UnknownKind,
    #[error("a frame that does not read as what it claims to be")]
    Malformed,
    #[error("a frame that may not come now")]
    OutOfTurn,
}

/// Collects bytes from a cell and cuts them into frames.
#[derive(Debug, Default)]
pub(crate) struct FrameBuffer {
    bytes: Vec<u8>,
}

impl FrameBuffer {
    /// Where bytes are put as they come.
    pub(crate) fn space(&mut self) -> &mut Vec<u8> {
        self.bytes.reserve(PIECE_BYTES);
        &mut self.bytes
    }

    /// Whether nothing has come that was not taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next whole frame, if there is one.
    pub(crate) fn next(&mut self) -> Result<Option<FromCell>, WireError> {
        let Some((header, rest)) = self.bytes.split_at_checked(HEADER_BYTES) else {
            return Ok(None);
        };
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(WireError::TooLarge(length));
        }
        let kind = header[4];
        if ![READY, RESULT, CALL].contains(&kind) {
            return Err(WireError::UnknownKind);
        }
        let Some(payload) = rest.get(..length) else {
            return Ok(None);
        };
        let frame = decode(kind, payload)?;
        self.bytes.drain(..HEADER_BYTES + length);
        Ok(Some(frame))
    }
}

fn decode(kind: u8, payload: &[u8]) -> Result<FromCell, WireError> {
    match kind {
        READY if payload.is_empty() => Ok(FromCell::Ready),
        RESULT if unfolded_bytes(payload) > UNFOLDED_BYTES_MAX => {
            Err(WireError::Unfolded(unfolded_bytes(payload)))
        }
        RESULT => serde_json::from_slice(payload)
            .map(|claim| FromCell::Result(Box::new(claim)))
            .map_err(|_| WireError::Malformed),
        CALL if unfolded_bytes(payload) > UNFOLDED_BYTES_MAX => {
            let message = "the arguments hold too many values; send them in several calls";
            Ok(FromCell::Call(Err(HostError::new("too_large", message))))
        }
        CALL => match serde_json::from_slice(payload) {
            Ok(call) => Ok(FromCell::Call(Ok(call))),
            Err(error) if is_beyond_reading(&error) => {
                let message = "the arguments nest too deep, or hold a number that is too large";
                Ok(FromCell::Call(Err(HostError::new("malformed", message))))
            }
            Err(_) => Err(WireError::Malformed),
        },
        _ => Err(WireError::Malformed),
    }
}

/// About how much memory a JSON text takes once it is read, beyond its own length: what its objects, lists, members,
/// items and texts take at least on the heap. The runner counts its values in the same way before it sends them.
pub fn unfolded_bytes(payload: &[u8]) -> usize {
    let (mut bytes, mut is_text, mut is_escaped) = (0_usize, false, false);
    for byte in payload {
        if is_text {
            is_text = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            continue;
        }
        bytes += match byte {
            b'{' => 704,
            b'[' => 160,
            b',' | b':' => 48,
            b'"' => {
                is_text = true;
                32
            }
            _ => 0,
        };
    }
    bytes
}

/// Whether an honest cell could have sent this: JSON that nests deeper, or has a larger number, than is read here.
/// The library tells these two apart from garbage by their text alone.
fn is_beyond_reading(error: &serde_json::Error) -> bool {
    let text = error.to_string();
    text.starts_with("recursion limit exceeded") || text.starts_with("number out of range")
}

/// The names of a job's files as they travel.
pub(crate) fn encode_files(names: &[&str]) -> Vec<u8> {
    let payload = serde_json::to_vec(names).expect("names are strings");
    let mut frame = Vec::with_capacity(HEADER_BYTES + payload.len());
    push_header(&mut frame, payload.len(), FILES);
    frame.extend_from_slice(&payload);
    frame
}

/// A job as it travels: its header, compiled helpers and program where there are such, and its code. `None` if it is
/// larger than a frame may be.
pub(crate) fn encode_job(header: &JobHeader<'_>, compiled: &Compiled, code: &str) -> Option<Vec<u8>> {
    let header = serde_json::to_vec(header).expect("a job header holds only strings and numbers");
    let parts = [&compiled.helpers, &compiled.program, code.as_bytes()];
    let length = 4 + header.len() + parts.iter().map(|part| part.len()).sum::<usize>();
    if length > FRAME_BYTES_MAX {
        return None;
    }
    let mut frame = Vec::with_capacity(HEADER_BYTES + length);
    push_header(&mut frame, length, JOB);
    frame.extend_from_slice(&u32::try_from(header.len()).expect("checked just above").to_le_bytes());
    frame.extend_from_slice(&header);
    for part in parts {
        frame.extend_from_slice(part);
    }
    Some(frame)
}

/// The answer to a host call as it travels. An answer that is too large becomes an error that says so.
pub(crate) fn encode_reply(answer: &Result<Value, HostError>) -> Vec<u8> {
    let payload = match answer {
        Ok(value) => serde_json::json!({ "value": value }),
        Err(error) => serde_json::json!({ "error": { "kind": error.kind, "message": error.message } }),
    };
    let payload = payload.to_string().into_bytes();
    if payload.len() > FRAME_BYTES_MAX {
        let message = format!("the answer of {} bytes is larger than a frame may be", payload.len());
        return encode_reply(&Err(HostError::new("too_large", message)));
    }
    let mut frame = Vec::with_capacity(HEADER_BYTES + payload.len());
    push_header(&mut frame, payload.len(), REPLY);
    frame.extend_from_slice(&payload);
    frame
}

fn push_header(frame: &mut Vec<u8>, length: usize, kind: u8) {
    frame
        .extend_from_slice(&u32::try_from(length).expect("payloads are below the frame limit").to_le_bytes());
    frame.push(kind);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        push_header(&mut frame, payload.len(), kind);
        frame.extend_from_slice(payload);
        frame
    }

    #[test]
    fn a_frame_is_read_however_its_bytes_arrive() {
        let whole = frame(CALL, br#"{"name":"x","arguments":{"a":1}}"#);
        let mut buffer = FrameBuffer::default();
        for byte in &whole[..whole.len() - 1] {
            buffer.space().extend(&[*byte]);
            assert!(buffer.next().unwrap().is_none());
        }
        buffer.space().extend(&whole[whole.len() - 1..]);
        assert!(matches!(buffer.next(), Ok(Some(FromCell::Call(Ok(call)))) if call.name == "x"));
        assert!(buffer.next().unwrap().is_none());
    }

    #[test]
    fn an_oversized_frame_is_refused_by_its_header_alone() {
        let mut buffer = FrameBuffer::default();
        buffer.space().extend(b"\xff\xff\xff\xffT");
        assert_eq!(buffer.next().unwrap_err(), WireError::TooLarge(u32::MAX as usize));
    }

    #[test]
    fn garbage_is_refused_and_never_a_panic() {
        let forged = br#"{"exit":0,"error":null,"values":{},"notes":{},"cause":"FORGED"}"#;
        for bytes in [
            frame(b'?', b""),
            frame(RESULT, b"{}"),
            frame(RESULT, forged),
            frame(RESULT, b"\xff\xfe"),
            frame(CALL, b"[["),
            frame(READY, b"not empty"),
            frame(JOB, b""),
        ] {
            let mut buffer = FrameBuffer::default();
            buffer.space().extend(&bytes);
            assert!(buffer.next().is_err());
        }
    }

    #[test]
    fn a_call_that_is_too_deep_or_too_large_a_number_is_no_garbage() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let large = format!("1{}", "0".repeat(400));
        for value in [deep, large] {
            let call = format!(r#"{{"name":"x","arguments":{{"value":{value}}}}}"#);
            let mut buffer = FrameBuffer::default();
            buffer.space().extend(&frame(CALL, call.as_bytes()));
            assert!(matches!(buffer.next(), Ok(Some(FromCell::Call(Err(_))))), "{call}");
            assert!(buffer.is_empty());
        }
    }

    #[test]
    fn a_frame_that_would_unfold_to_too_much_is_not_read() {
        let result = |value: &str| {
            let payload = format!(r#"{{"exit":0,"error":null,"values":{{"a":[{value}0]}},"notes":{{}}}}"#);
            let mut buffer = FrameBuffer::default();
            buffer.space().extend(&frame(RESULT, payload.as_bytes()));
            buffer.next().map(|_| ())
        };
        for small in ["0,", "{},", r#"{"a":0},"#, "[0],", r#""","#] {
            assert!(matches!(result(&small.repeat(3_000_000)), Err(WireError::Unfolded(_))), "{small}");
            assert_eq!(result(&small.repeat(10_000)), Ok(()), "{small}");
        }
        // The length of text does not depend on its characters.
        assert_eq!(result(&format!("{:?},", r#"{"a\":[,"#.repeat(2_000_000))), Ok(()));
        let call = format!(r#"{{"name":"x","arguments":{{"a":[{}0]}}}}"#, "0,".repeat(3_000_000));
        let mut buffer = FrameBuffer::default();
        buffer.space().extend(&frame(CALL, call.as_bytes()));
        assert!(matches!(buffer.next(), Ok(Some(FromCell::Call(Err(error)))) if error.kind == "too_large"));
    }

    #[test]
    fn random_bytes_are_refused_or_wait_for_more() {
        // A small generator with a fixed seed: the same bytes in every run.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..2000 {
            let mut buffer = FrameBuffer::default();
            let mut bytes = Vec::new();
            for _ in 0..64 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                bytes.push((state >> 56) as u8);
            }
            buffer.space().extend(&bytes);
            while let Ok(Some(_)) = buffer.next() {}
        }
    }

    #[test]
    fn an_answer_too_large_for_a_frame_says_so() {
        let reply = encode_reply(&Ok(Value::String("x".repeat(FRAME_BYTES_MAX))));
        let payload: Value = serde_json::from_slice(&reply[HEADER_BYTES..]).unwrap();
        assert_eq!(payload["error"]["kind"], "too_large");
    }

    /// Frames that a cell may send, spoiled, in pieces of any size.
    #[test]
    fn fuzz_wire_frames() {
        let frame = |kind: u8, payload: &str| {
            let mut bytes = u32::try_from(payload.len()).unwrap().to_le_bytes().to_vec();
            bytes.push(kind);
            bytes.extend_from_slice(payload.as_bytes());
            bytes
        };
        let result =
            frame(b'T', r#"{"exit":0,"error":null,"limit":null,"values":{"a":[1,{"b":"c"}]},"notes":{}}"#);
        let call = frame(b'C', r#"{"name":"table.search","arguments":{"table":"a","where":null}}"#);
        let ready = frame(b'R', "");
        ordain_testkit::fuzz::run("wire_frames", &[&result, &call, &ready], |input| {
            let mut frames = FrameBuffer::default();
            for piece in input.chunks(1 + input.len() / 7) {
                frames.space().extend(piece);
                while let Ok(Some(_)) = frames.next() {}
            }
        });
    }
}
