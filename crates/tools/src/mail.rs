//! E-mail over SMTP (RFC 5321): with TLS (`smtps://`) or STARTTLS; unencrypted to this machine alone.

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ordain_types::format_unix_millis;
use reqwest::Url;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::error::ToolError;
use crate::notify::{NotifySettings, TIME, is_here};
use crate::toolbox::{no_answer, refused, unreachable};

/// Lines of one reply, and bytes of one line.
const LINES_MAX: usize = 100;
const LINE_BYTES_MAX: u64 = 2000;
/// Characters of a subject.
const SUBJECT_CHARS_MAX: usize = 200;
/// Bytes of text in an encoded word of a header: with its marks it has at most 75 (RFC 2047).
const WORD_BYTES_MAX: usize = 45;
/// Characters of a line of encoded text.
const TEXT_LINE_CHARS: usize = 76;

/// A mail server, the sender and the recipients.
#[derive(Clone)]
pub(crate) struct Mail {
    host: String,
    port: u16,
    encryption: Encryption,
    /// What `AUTH PLAIN` sends.
    login: Option<String>,
    from: String,
    to: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
enum Encryption {
    Tls,
    StartTls,
    None,
}

/// Why a message was not accepted.
#[derive(Debug)]
enum SmtpError {
    /// The server refused it for good (5xx).
    Refused(String),
    /// The server did not take it now (4xx).
    Later(String),
    /// There was no connection, or it broke.
    Lost(String),
    /// It broke after the whole message was sent: the message may have been accepted.
    Unknown(String),
}

impl From<io::Error> for SmtpError {
    fn from(error: io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

impl Mail {
    /// A mail server by its address. The error says what is wrong with the settings.
    pub(crate) fn new(settings: &NotifySettings, url: &Url, secret: Option<&str>) -> Result<Self, String> {
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or("`url` names no mail server")?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "`url` takes no user: use `user`, and `secret` for the variable with the password".to_owned()
            );
        }
        let (port, encryption) = match url.scheme() {
            "smtps" => (465, Encryption::Tls),
            _ if is_here(url) => (25, Encryption::None),
            _ => (587, Encryption::StartTls),
        };
        let login = match (&settings.user, secret) {
            (Some(user), Some(secret)) => Some(BASE64.encode(format!("\0{user}\0{secret}"))),
            (None, None) => None,
            _ => return Err("`user` and `secret` belong together".to_owned()),
        };
        let from = settings.from.clone().ok_or("`from` is missing: the sender's address")?;
        if settings.to.is_empty() {
            return Err("`to` is missing: the recipients' addresses".to_owned());
        }
        if let Some(wrong) = settings.to.iter().chain([&from]).find(|address| !is_address(address)) {
            return Err(format!("`{}` is not an e-mail address", wrong.escape_debug()));
        }
        let (host, port) = (host.trim_matches(['[', ']']).to_owned(), url.port().unwrap_or(port));
        Ok(Self { host, port, encryption, login, from, to: settings.to.clone() })
    }

    /// Sends a text, with a subject or under its first line. A repeated message has the same `Message-ID`.
    pub(crate) async fn send(&self, tool: &str, message: &Value, key: &str) -> Result<Value, ToolError> {
        let message = self.message(message, key);
        match tokio::time::timeout(TIME, self.deliver(&message)).await {
            Ok(Ok(())) => Ok(json!({ "recipients": self.to.len() })),
            Ok(Err(SmtpError::Refused(said))) => Err(refused(tool, &said)),
            Ok(Err(SmtpError::Later(said) | SmtpError::Lost(said))) => Err(unreachable(tool, &said)),
            Ok(Err(SmtpError::Unknown(said))) => Err(no_answer(tool, &said)),
            Err(_) => Err(no_answer(tool, &format!("it took longer than {} s", TIME.as_secs()))),
        }
    }

    async fn deliver(&self, message: &str) -> Result<(), SmtpError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        match self.encryption {
            Encryption::None => self.submit(Connection::open(stream).await?, message).await,
            Encryption::Tls => {
                self.submit(Connection::open(self.encrypt(stream).await?).await?, message).await
            }
            Encryption::StartTls => {
                let mut connection = Connection::open(stream).await?;
                connection.command("EHLO ordain", b'2').await?;
                connection.command("STARTTLS", b'2').await?;
                // Anybody on the way could have added what came before the encryption.
                if !connection.stream.buffer().is_empty() {
                    return Err(SmtpError::Lost(
                        "it sent more than a reply before the encryption".to_owned(),
                    ));
                }
                let stream = self.encrypt(connection.stream.into_inner()).await?;
                self.submit(Connection { stream: BufReader::new(stream) }, message).await
            }
        }
    }

    async fn encrypt(&self, stream: TcpStream) -> Result<TlsStream<TcpStream>, SmtpError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let failed = |error: String| SmtpError::Lost(format!("TLS cannot be set up: {error}"));
        let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(error.to_string()))?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        let name = ServerName::try_from(self.host.clone()).map_err(|error| failed(error.to_string()))?;
        Ok(TlsConnector::from(Arc::new(config)).connect(name, stream).await?)
    }

    async fn submit(
        &self,
        mut connection: Connection<impl AsyncRead + AsyncWrite + Unpin>,
        message: &str,
    ) -> Result<(), SmtpError> {
        connection.command("EHLO ordain", b'2').await?;
        if let Some(login) = &self.login {
            connection.command(&format!("AUTH PLAIN {login}"), b'2').await?;
        }
        connection.command(&format!("MAIL FROM:<{}>", self.from), b'2').await?;
        for to in &self.to {
            connection.command(&format!("RCPT TO:<{to}>"), b'2').await?;
        }
        connection.command("DATA", b'3').await?;
        let accepted = connection.command(&format!("{message}\r\n."), b'2').await;
        accepted.map_err(|error| match error {
            SmtpError::Lost(said) => SmtpError::Unknown(said),
            error => error,
        })?;
        // The message is accepted, whatever the server says to this.
        let _ = connection.command("QUIT", b'2').await;
        Ok(())
    }

    /// The message with its headers. The text is encoded, so that no line of it can end the message.
    fn message(&self, message: &Value, key: &str) -> String {
        let part = |name: &str| message.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let text = part("text").unwrap_or_default();
        let title = part("subject").or_else(|| text.lines().next()).unwrap_or_default();
        let to: Vec<String> = self.to.iter().map(|to| format!("<{to}>")).collect();
        let mut written = format!(
            "From: <{}>\r\nTo: {}\r\nSubject: {}\r\nMessage-ID: <{}@ordain>\r\nDate: {}\r\n\
             MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Transfer-Encoding: base64\r\n",
            self.from,
            to.join(", "),
            subject(title),
            key.replace(':', "."),
            date(),
        );
        let text = BASE64.encode(text);
        for at in (0..text.len()).step_by(TEXT_LINE_CHARS) {
            let _ = write!(written, "\r\n{}", &text[at..text.len().min(at + TEXT_LINE_CHARS)]);
        }
        written
    }
}

/// A connection to a mail server that has greeted.
struct Connection<S> {
    stream: BufReader<S>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    async fn open(stream: S) -> Result<Self, SmtpError> {
        let mut connection = Self { stream: BufReader::new(stream) };
        connection.reply(b'2').await?;
        Ok(connection)
    }

    /// Sends a line and waits for a reply whose code begins with the digit `wanted`.
    async fn command(&mut self, line: &str, wanted: u8) -> Result<(), SmtpError> {
        self.stream.write_all(format!("{line}\r\n").as_bytes()).await?;
        self.stream.flush().await?;
        self.reply(wanted).await
    }

    async fn reply(&mut self, wanted: u8) -> Result<(), SmtpError> {
        for _ in 0..LINES_MAX {
            let mut line = Vec::new();
            (&mut self.stream).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await?;
            if line.last() != Some(&b'\n') || line.len() < 4 {
                return Err(SmtpError::Lost("the connection ended, or its reply is too long".to_owned()));
            }
            if line[3] == b'-' {
                continue;
            }
            let said = format!("it answered {}", String::from_utf8_lossy(&line).trim_end());
            return match line[0] {
                digit if digit == wanted => Ok(()),
                b'5' => Err(SmtpError::Refused(said)),
                _ => Err(SmtpError::Later(said)),
            };
        }
        Err(SmtpError::Lost(format!("its reply has more than {LINES_MAX} lines")))
    }
}

/// Whether a text is a plain address that can be written into a command.
fn is_address(text: &str) -> bool {
    let is_plain = |sign: char| sign.is_ascii_graphic() && !"<>()[]\\,;:\"".contains(sign);
    let parts = text.split_once('@').filter(|(user, host)| !user.is_empty() && !host.is_empty());
    text.len() <= 254 && text.chars().all(is_plain) && parts.is_some_and(|(_, host)| !host.contains('@'))
}

/// A subject on one line, encoded where it is not plain ASCII (RFC 2047).
fn subject(text: &str) -> String {
    let text: String =
        text.chars().take(SUBJECT_CHARS_MAX).map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    if text.is_ascii() {
        return text;
    }
    let (mut words, mut word) = (Vec::new(), String::new());
    for sign in text.chars() {
        if word.len() + sign.len_utf8() > WORD_BYTES_MAX {
            words.push(std::mem::take(&mut word));
        }
        word.push(sign);
    }
    words.push(word);
    let words = words.iter().map(|word| format!("=?utf-8?B?{}?=", BASE64.encode(word)));
    words.collect::<Vec<_>>().join("\r\n ")
}

/// Now, as headers have it: `16 Nov 2026 03:12:00 +0000`.
fn date() -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = format_unix_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    let month = now[5..7].parse().ok().and_then(|month: usize| MONTHS.get(month.checked_sub(1)?));
    format!("{} {} {} {} +0000", &now[8..10], month.unwrap_or(&MONTHS[0]), &now[..4], &now[11..19])
}
