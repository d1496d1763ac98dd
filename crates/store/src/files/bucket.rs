//! A bucket of an S3-compatible service, for the content of files.
//!
//! Objects are written, read and removed by path (`ADDRESS/KEY`), with requests signed by AWS Signature Version 4.

use std::fmt::Write as _;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{Client, Method, Response, StatusCode, Url};
use sha2::Sha256;

use super::{FILE_BYTES_MAX, digest};
use crate::error::StoreError;
use crate::options::{BucketOptions, Clock};

/// How long connecting may take.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);
/// How long the service may say nothing.
const QUIET_TIME_MAX: Duration = Duration::from_secs(30);
/// How often a request is sent that the service could not carry out.
const TRIES: u32 = 3;
/// How long to wait before the second time; twice as long before the third.
const WAIT: Duration = Duration::from_millis(200);
/// Characters of an answer that an error repeats.
const SHOWN_MAX: usize = 300;
/// The name of the signature's method.
const METHOD: &str = "AWS4-HMAC-SHA256";

/// A bucket, and what its requests are signed with.
#[derive(Debug)]
pub(crate) struct Bucket {
    options: BucketOptions,
    address: Url,
    client: Client,
    clock: Clock,
}

impl Bucket {
    pub(super) fn open(options: BucketOptions, clock: Clock) -> Result<Self, StoreError> {
        let problem = |message: &str| failed(&options.address, message.to_owned());
        let address = Url::parse(&options.address).map_err(|error| problem(&error.to_string()))?;
        let is_here = matches!(address.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if address.scheme() != "https" && !(address.scheme() == "http" && is_here) {
            return Err(problem("it is an https:// address; http:// is for this machine alone"));
        }
        // Anything else would have to be written differently in the signature than in the address.
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._/".contains(letter);
        let is_named = !address.path().trim_matches('/').is_empty() && address.path().chars().all(is_plain);
        if !is_named || address.query().is_some() || !address.username().is_empty() {
            return Err(problem("it is https://HOST/BUCKET or https://HOST/BUCKET/FOLDER, in plain letters"));
        }
        let client = Client::builder()
            .connect_timeout(CONNECT_TIME_MAX)
            .read_timeout(QUIET_TIME_MAX)
            .redirect(reqwest::redirect::Policy::none())
            .build();
        let client = client.map_err(|error| problem(&error.to_string()))?;
        Ok(Self { options, address, client, clock })
    }

    pub(super) async fn keep(&self, key: &str, content: &[u8]) -> Result<(), StoreError> {
        self.send(Method::PUT, key, content).await.map(drop)
    }

    /// An object's content; `None` if there is none.
    pub(super) async fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(mut response) = self.send(Method::GET, key, &[]).await? else { return Ok(None) };
        let mut content = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            content.extend_from_slice(&part);
            if content.len() > FILE_BYTES_MAX {
                return Err(failed(&self.options.address, "a file is larger than what is kept".to_owned()));
            }
        }
        Ok(Some(content))
    }

    pub(super) async fn remove(&self, key: &str) -> Result<(), StoreError> {
        self.send(Method::DELETE, key, &[]).await.map(drop)
    }

    /// Sends a request until the service carries it out or refuses it; `None` if there is no such object.
    async fn send(&self, method: Method, key: &str, content: &[u8]) -> Result<Option<Response>, StoreError> {
        let mut wait = WAIT;
        for attempt in 1.. {
            let sent = self.send_once(&method, key, content).await;
            let problem = match sent {
                Ok(response) if response.status().is_success() => return Ok(Some(response)),
                // A missing bucket is no missing object.
                Ok(response) if response.status() == StatusCode::NOT_FOUND && method != Method::PUT => {
                    let text = response.text().await.unwrap_or_default();
                    if text.contains("NoSuchBucket") {
                        return Err(failed(&self.options.address, "there is no such bucket".to_owned()));
                    }
                    return Ok(None);
                }
                Ok(response) if response.status().is_server_error() => {
                    let message = format!("the files' bucket answered {}", response.status());
                    StoreError::Unreachable { message }
                }
                Ok(response) => {
                    let status = response.status();
                    let text = response.text().await.unwrap_or_default();
                    let shown: String = text.chars().filter(|c| !c.is_control()).take(SHOWN_MAX).collect();
                    return Err(failed(&self.options.address, format!("it answered {status}: {shown}")));
                }
                Err(error) => self.unreachable(&error),
            };
            if attempt >= TRIES {
                return Err(problem);
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
        Ok(None)
    }

    async fn send_once(&self, method: &Method, key: &str, content: &[u8]) -> reqwest::Result<Response> {
        let mut address = self.address.clone();
        address.set_path(&format!("{}/{key}", self.address.path().trim_end_matches('/')));
        let time: String = self.clock.timestamp().chars().filter(|c| !"-:".contains(*c)).take(15).collect();
        let time = format!("{time}Z");
        let mut headers = vec![
            ("host", host(&address)),
            ("x-amz-content-sha256", digest(content)),
            ("x-amz-date", time.clone()),
        ];
        if let Some(token) = &self.options.token {
            headers.push(("x-amz-security-token", token.0.clone()));
        }
        let authorization = self.authorization(method, address.path(), &headers, &time);
        let mut request = self.client.request(method.clone(), address).body(content.to_vec());
        for (name, value) in headers.iter().filter(|(name, _)| *name != "host") {
            request = request.header(*name, value);
        }
        request.header("authorization", authorization).send().await
    }

    /// The header that shows who asks. The other headers are in the order of their names, and all of them are signed.
    fn authorization(&self, method: &Method, path: &str, headers: &[(&str, String)], time: &str) -> String {
        let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
        let mut asked = format!("{method}\n{path}\n\n");
        for (name, value) in headers {
            let _ = writeln!(asked, "{name}:{value}");
        }
        let content = headers.iter().find(|(name, _)| *name == "x-amz-content-sha256");
        let content = content.map_or("", |(_, value)| value);
        let _ = write!(asked, "\n{names}\n{content}");
        let day = &time[..8];
        let scope = format!("{day}/{}/s3/aws4_request", self.options.region);
        let signed = format!("{METHOD}\n{time}\n{scope}\n{}", digest(asked.as_bytes()));
        let first = format!("AWS4{}", self.options.secret.0).into_bytes();
        let parts = [day, &self.options.region, "s3", "aws4_request", &signed];
        let signature = parts.iter().fold(first, |key, part| hmac(&key, part));
        let (key_id, signature) = (&self.options.key_id, ordain_types::hex(&signature));
        format!("{METHOD} Credential={key_id}/{scope}, SignedHeaders={names}, Signature={signature}")
    }

    fn unreachable(&self, error: &reqwest::Error) -> StoreError {
        let mut message = format!("the files' bucket at {} does not answer: {error}", host(&self.address));
        if let Some(source) = std::error::Error::source(error) {
            let _ = write!(message, ": {source}");
        }
        StoreError::Unreachable { message }
    }
}

fn host(address: &Url) -> String {
    let host = address.host_str().unwrap_or_default();
    address.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    // Keys of every length are good, so that this always gives something.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn failed(address: &str, message: String) -> StoreError {
    StoreError::Declaration {
        what: format!("the bucket for files `{address}`"),
        message,
        hint: Some(
            "see `files` under `[store]`, that the bucket is there, and that AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and \
             AWS_REGION are those of somebody who may read, write and remove there"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Secret;

    #[test]
    fn an_address_that_is_no_bucket_is_refused() {
        for address in
            ["http://example.com/files", "https://example.com", "https://a/b?c", "https://u@a/b", "x"]
        {
            let options = BucketOptions {
                address: address.to_owned(),
                region: "us-east-1".to_owned(),
                key_id: "key".to_owned(),
                secret: Secret("secret".to_owned()),
                token: None,
            };
            let error = Bucket::open(options, Clock::default()).unwrap_err();
            assert!(error.to_string().contains(&format!("the bucket for files `{address}`")), "{error}");
        }
    }

    /// The example of Amazon's manual, "Signature Calculations for the Authorization Header".
    #[test]
    fn a_request_is_signed_as_the_services_manual_says() {
        let options = BucketOptions {
            address: "https://examplebucket.s3.amazonaws.com/x".to_owned(),
            region: "us-east-1".to_owned(),
            key_id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned()),
            token: None,
        };
        let bucket = Bucket::open(options, Clock::default()).unwrap();
        let headers = [
            ("host", "examplebucket.s3.amazonaws.com".to_owned()),
            ("range", "bytes=0-9".to_owned()),
            ("x-amz-content-sha256", digest(b"")),
            ("x-amz-date", "20130524T000000Z".to_owned()),
        ];
        let signed = bucket.authorization(&Method::GET, "/test.txt", &headers, "20130524T000000Z");
        let expected = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
        assert!(signed.ends_with(&format!("Signature={expected}")), "{signed}");
    }
}
