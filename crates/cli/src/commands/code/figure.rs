//! Shows a picture in the terminal, where the terminal can.
//!
//! Only a file whose content is a PNG by its signature is sent, and only as base 64: nothing in it can steer the
//! terminal. Where it is not known how to show pictures, the path has to do.

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use ordain_types::Artifact;

/// Larger pictures are not for a terminal.
const BYTES_MAX: u64 = 4 << 20;
/// Kitty takes this much at once.
const PIECE: usize = 4096;

/// How a terminal wants pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Kitty,
    Iterm,
}

/// Shows a picture if it is one and the terminal can.
pub(crate) fn show(out: &mut impl Write, path: &Path, artifact: &Artifact) -> io::Result<()> {
    let is_picture = artifact.media_type == "image/png" && artifact.bytes <= BYTES_MAX;
    let Some(protocol) = protocol().filter(|_| is_picture) else { return Ok(()) };
    // A picture that cannot be read again is still named by its path.
    let Ok(bytes) = std::fs::read(path) else { return Ok(()) };
    write(out, protocol, &bytes)
}

fn protocol() -> Option<Protocol> {
    if !io::stdout().is_terminal() {
        return None;
    }
    known(|name| std::env::var(name).ok())
}

fn known(variable: impl Fn(&str) -> Option<String>) -> Option<Protocol> {
    let value = |name: &str| variable(name).unwrap_or_default();
    // Inside a multiplexer the outer terminal's name says nothing about what arrives there.
    if !value("TMUX").is_empty() || value("TERM").starts_with("screen") {
        return None;
    }
    let program = value("TERM_PROGRAM");
    if value("TERM").contains("kitty") || !value("KITTY_WINDOW_ID").is_empty() || program == "ghostty" {
        return Some(Protocol::Kitty);
    }
    let is_iterm = program == "iTerm.app" || value("LC_TERMINAL") == "iTerm2" || program == "WezTerm";
    is_iterm.then_some(Protocol::Iterm)
}

fn write(out: &mut impl Write, protocol: Protocol, bytes: &[u8]) -> io::Result<()> {
    let text = base64(bytes);
    match protocol {
        Protocol::Kitty => {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(PIECE).collect();
            for (at, piece) in pieces.iter().enumerate() {
                let more = u8::from(at + 1 < pieces.len());
                let control = if at == 0 { format!("f=100,a=T,m={more}") } else { format!("m={more}") };
                write!(out, "\u{1b}_G{control};")?;
                out.write_all(piece)?;
                write!(out, "\u{1b}\\")?;
            }
        }
        Protocol::Iterm => {
            write!(out, "\u{1b}]1337;File=inline=1;size={};preserveAspectRatio=1:{text}\u{7}", bytes.len())?;
        }
    }
    writeln!(out)?;
    out.flush()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let byte = |at: usize| u32::from(part.get(at).copied().unwrap_or_default());
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let is_there = place <= part.len();
            let digit = DIGITS[(group >> (18 - 6 * place)) as usize & 63];
            text.push(if is_there { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_written_as_base_64() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        let mut out = Vec::new();
        write(&mut out, Protocol::Kitty, &[0; 4000]).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.starts_with("\u{1b}_Gf=100,a=T,m=1;AAAA") && out.contains("\u{1b}_Gm=0;"), "{out:.60}");
    }

    #[test]
    fn terminals_are_known_by_their_names() {
        let env = |pairs: &'static [(&str, &str)]| {
            known(move |name| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(env(&[("TERM", "xterm-kitty")]), Some(Protocol::Kitty));
        assert_eq!(env(&[("TERM_PROGRAM", "iTerm.app")]), Some(Protocol::Iterm));
        assert_eq!(env(&[("TERM", "xterm-256color")]), None);
        assert_eq!(env(&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/x")]), None);
    }
}
