//! Reads a stream of server-sent events, however it is cut into pieces.

use super::ProviderError;

/// The longest event that is read.
const EVENT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Turns pieces of a stream into the data of its events.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: String,
    has_data: bool,
    /// The last byte was a carriage return: a line feed after it belongs to it.
    after_return: bool,
}

impl Events {
    /// Takes a piece; gives the data of the events that are complete now.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<Vec<String>, ProviderError> {
        let mut complete = Vec::new();
        for &byte in piece {
            let was_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if was_return => {}
                b'\n' | b'\r' => complete.extend(self.end_line()),
                byte => self.line.push(byte),
            }
            if self.line.len() + self.data.len() > EVENT_BYTES_MAX {
                return Err(ProviderError::TooLarge { limit: EVENT_BYTES_MAX as u64 });
            }
        }
        Ok(complete)
    }

    /// The stream has ended: an event without its blank line counts, too.
    pub(super) fn finish(&mut self) -> Option<String> {
        let last = self.end_line();
        last.or_else(|| self.end_event())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event();
        }
        let line = String::from_utf8_lossy(&line);
        // Comments, event names and whatever else is there are of no use here.
        if let Some(data) = line.strip_prefix("data:") {
            if self.has_data {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            self.has_data = true;
        }
        None
    }

    fn end_event(&mut self) -> Option<String> {
        let has_data = std::mem::take(&mut self.has_data);
        let data = std::mem::take(&mut self.data);
        has_data.then_some(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let stream = ": ping\r\nevent: x\r\ndata: one\r\n\r\ndata:two\ndata: lines\n\ngarbage\n\ndata: ä\r\rdata: last";
        for size in 1..stream.len() {
            let mut events = Events::default();
            let mut found = Vec::new();
            for piece in stream.as_bytes().chunks(size) {
                found.extend(events.push(piece).unwrap());
            }
            found.extend(events.finish());
            assert_eq!(found, ["one", "two\nlines", "ä", "last"], "pieces of {size}");
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut events = Events::default();
        let piece = vec![b'x'; 1024 * 1024];
        assert!(events.push(&piece).is_ok());
        assert!(events.push(&piece).is_ok());
        assert!(matches!(events.push(&piece), Err(ProviderError::TooLarge { .. })));
    }
}
