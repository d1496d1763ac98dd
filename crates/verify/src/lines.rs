//! From byte offsets to lines and columns.

/// Where each line starts. Lines end at `\n`, `\r\n` and `\r`, as Python reads them.
#[derive(Debug)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn new(source: &str) -> Self {
        let bytes = source.as_bytes();
        let mut starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Self { starts }
    }

    /// The line of an offset, counted from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    /// Line and column of an offset, both counted from 1; the column counts characters, a byte order mark not.
    pub(crate) fn position(&self, source: &str, offset: usize) -> (usize, usize) {
        let offset = source.floor_char_boundary(offset);
        let line = self.line(offset);
        let before = &source[self.starts[line - 1]..offset];
        (line, before.trim_start_matches('\u{feff}').chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_every_kind_of_line_end() {
        let source = "é = 1\r\nb\rc\n";
        let lines = Lines::new(source);
        assert_eq!(lines.position(source, 0), (1, 1));
        assert_eq!(lines.position(source, 1), (1, 1), "inside a character");
        assert_eq!(lines.position(source, 2), (1, 2));
        assert_eq!(lines.position(source, 8), (2, 1));
        assert_eq!(lines.position(source, 10), (3, 1));
        assert_eq!(lines.position(source, 12), (4, 1));
        assert_eq!(lines.position(source, 999), (4, 1), "past the end");
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        let source = "\u{feff}x";
        assert_eq!(Lines::new(source).position(source, 3), (1, 1));
        assert_eq!(Lines::new(source).position(source, 4), (1, 2));
    }
}
