//! An S3-compatible server for one test, which knows one key. It ends with the test process, however that ends.

use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use crate::nats::hold;

/// The bucket that it has.
const BUCKET: &str = "files";
/// What its only key is called, and the key itself.
pub const KEY: &str = "S3RVER";

/// A running server.
#[derive(Debug)]
pub struct Server {
    /// The address of its bucket.
    pub address: String,
    /// Its standard input keeps the server alive.
    _holder: Child,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts one with an empty bucket.
    ///
    /// # Panics
    /// If the server is not there or does not start; the message says which.
    pub fn start() -> Self {
        let program =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/s3/node_modules/s3rver/bin/s3rver.js");
        assert!(program.is_file(), "the S3 server is not installed; `cargo xtask test` gets it");
        Self::run(|data| {
            let (program, data) = (program.display(), data.display());
            format!("node {program} -a 127.0.0.1 -p 0 --configure-bucket {BUCKET} -d {data}")
        })
    }

    /// Starts one that takes requests only if botocore, Amazon's own client, would sign them the same way, with the key
    /// `JUDGED` and this secret. What it holds is in its memory.
    ///
    /// # Panics
    /// As [`Self::start`].
    pub fn judging(secret: &str) -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (judge, packages) = (here.join("src/s3_judge.py"), here.join("../../target/botocore"));
        assert!(packages.is_dir(), "botocore is not installed; `cargo xtask test` gets it");
        Self::run(|_| format!("PYTHONPATH={} python3 {} {secret}", packages.display(), judge.display()))
    }

    fn run(program: impl FnOnce(&Path) -> String) -> Self {
        let folder = tempfile::Builder::new().prefix("ordain-s3-").tempdir().expect("a folder");
        let (log, data) = (folder.path().join("log"), folder.path().join("data"));
        fs_err::create_dir(&data).expect("a folder");
        let command = format!("{} >{} 2>&1", program(&data), log.display());
        let holder = hold(&command).expect("its shell");
        let mut server = Self { address: String::new(), _holder: holder, folder };
        let mut said = String::new();
        for _ in 0..600 {
            said = fs_err::read_to_string(&log).unwrap_or_default();
            if let Some(address) =
                said.split_once("listening on ").and_then(|(_, rest)| rest.split_once('\n'))
            {
                server.address = format!("http://{}/{BUCKET}", address.0.trim());
                return server;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("the S3 server does not start: {said}")
    }

    /// How many files with these bytes are on its disk.
    pub fn holding(&self, content: &[u8]) -> usize {
        let walk = |folder: &Path| {
            fs_err::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
        };
        let (mut folders, mut count) = (vec![self.folder.path().join("data")], 0);
        while let Some(folder) = folders.pop() {
            for path in walk(&folder) {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    count += usize::from(fs_err::read(path).is_ok_and(|found| found == content));
                }
            }
        }
        count
    }
}
