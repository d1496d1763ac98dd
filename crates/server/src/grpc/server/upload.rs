//! Files of a job as they arrive: put down in a folder of their own, bounded, and gone with the job.
//!
//! A file's name is the caller's and is never used as a name here; the cell crate judges it before code sees it. Files
//! that the caller names by their digests are taken from those that are kept, and what is lacking joins them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use ordain_cell::InputFile;
use ordain_types::format_bytes;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tonic::Status;

use super::caller::Caller;
use super::kept::{Claim, Digest, Found, Kept, KeptFile};
use crate::grpc::proto;
use crate::grpc::status::{Reason, invalid, status};

/// How many files a job may have.
const FILES_MAX: usize = 256;
/// The longest name that is looked at at all.
const NAME_BYTES_MAX: usize = 1024;

/// The files that have arrived so far.
#[derive(Debug)]
pub(crate) struct Upload<'a> {
    folder: Option<TempDir>,
    files: Vec<InputFile>,
    open: Option<Open<'a>>,
    /// Those that have to come, by the name under which the caller was asked for them.
    lacking: HashMap<String, Lacking<'a>>,
    /// Keeps them while the job runs.
    kept: Vec<Arc<KeptFile>>,
    bytes: u64,
    file_bytes_max: u64,
    bytes_max: u64,
    /// What tables that are kept may take together, whatever the job's own limits are.
    known_bytes_max: u64,
    /// What those that were sent have taken so far.
    known_bytes: u64,
}

/// The file that is being written.
#[derive(Debug)]
struct Open<'a> {
    name: String,
    content: File,
    bytes: u64,
    /// Its digest so far, if it is to be kept.
    lacking: Option<(Lacking<'a>, Sha256)>,
}

/// A file that nobody has kept.
#[derive(Debug)]
struct Lacking<'a> {
    claim: Claim<'a>,
    /// The names under which the job knows it.
    names: Vec<String>,
}

impl<'a> Upload<'a> {
    pub(crate) fn new(file_bytes_max: u64, bytes_max: u64) -> Self {
        Self {
            folder: None,
            files: Vec::new(),
            open: None,
            lacking: HashMap::new(),
            kept: Vec::new(),
            bytes: 0,
            file_bytes_max,
            bytes_max,
            known_bytes_max: 0,
            known_bytes: 0,
        }
    }

    /// What the tables of the job take that are kept.
    pub(crate) fn bytes_of_known(&self) -> u64 {
        self.kept.iter().map(|file| file.bytes()).sum()
    }

    /// Takes the files that are kept. Gives the names of those that the caller has to send.
    pub(crate) async fn take_known(
        &mut self,
        kept: &'a Kept,
        caller: &Caller,
        known: Vec<proto::KnownFile>,
    ) -> Result<Vec<String>, Status> {
        self.known_bytes_max = kept.bytes_max();
        let mut by_digest: BTreeMap<Digest, Vec<String>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        check_count(known.len())?;
        for file in known {
            check_name(&file.name)?;
            let digest = read_digest(&file.sha256)
                .ok_or_else(|| invalid("a file is known by something that is no SHA-256"))?;
            if !seen.insert(file.name.clone()) {
                return Err(wrong("a file is named twice".to_owned()));
            }
            by_digest.entry(digest).or_default().push(file.name);
        }
        let mut asked = Vec::new();
        for (digest, names) in by_digest {
            match kept.find(caller, digest).await {
                Found::Here(file) => self.join(file, names),
                Found::Lacking(claim) => {
                    asked.push(names[0].clone());
                    self.lacking.insert(names[0].clone(), Lacking { claim, names });
                }
            }
        }
        Ok(asked)
    }

    /// Takes whole files.
    pub(crate) fn take_all(&mut self, files: Vec<proto::File>) -> Result<(), Status> {
        for file in files {
            // Two whole files of one name are two files, which the cell crate refuses.
            self.begin(&file.name)?;
            self.append(&file.content)?;
        }
        Ok(())
    }

    /// Takes one piece.
    pub(crate) fn take(&mut self, chunk: &proto::FileChunk) -> Result<(), Status> {
        if self.open.as_ref().is_none_or(|open| open.name != chunk.name) {
            self.begin(&chunk.name)?;
        }
        self.append(&chunk.data)
    }

    /// The files, when all have come. The folder goes when the upload is dropped.
    pub(crate) fn files(&mut self) -> Result<Vec<InputFile>, Status> {
        self.finish()?;
        match self.lacking.keys().next() {
            None => Ok(self.files.clone()),
            Some(name) => Err(wrong(format!("`{}` is lacking and was not sent", name.escape_debug()))),
        }
    }

    fn begin(&mut self, name: &str) -> Result<(), Status> {
        self.finish()?;
        check_name(name)?;
        let name = name.to_owned();
        if let Some(lacking) = self.lacking.remove(&name) {
            let content = tempfile::tempfile().map_err(no_room)?;
            self.open = Some(Open { name, content, bytes: 0, lacking: Some((lacking, Sha256::new())) });
            return Ok(());
        }
        check_count(self.files.len() + 1)?;
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => tempfile::Builder::new().prefix("ordain-job-").tempdir().map_err(no_room)?,
        };
        let folder = self.folder.insert(folder);
        let path = folder.path().join(self.files.len().to_string());
        let content = File::create_new(&path).map_err(no_room)?;
        self.open = Some(Open { name: name.clone(), content, bytes: 0, lacking: None });
        self.files.push(InputFile { name, path });
        Ok(())
    }

    fn append(&mut self, data: &[u8]) -> Result<(), Status> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.bytes += data.len() as u64;
        if let Some((_, hash)) = &mut open.lacking {
            hash.update(data);
            self.known_bytes += data.len() as u64;
            if self.known_bytes <= self.known_bytes_max {
                return open.content.write_all(data).map_err(no_room);
            }
        }
        self.bytes += data.len() as u64;
        if open.bytes > self.file_bytes_max {
            let limit = format_bytes(self.file_bytes_max);
            return Err(wrong(format!("a file is larger than {limit}, the limit of one file")));
        }
        if self.bytes > self.bytes_max {
            let limit = format_bytes(self.bytes_max);
            return Err(wrong(format!("the files together are larger than {limit}")));
        }
        open.content.write_all(data).map_err(no_room)
    }

    /// Ends the file that was being written. One that is to be kept has to be what its digest says.
    fn finish(&mut self) -> Result<(), Status> {
        let Some(Open { name, content, bytes, lacking: Some((lacking, hash)) }) = self.open.take() else {
            return Ok(());
        };
        if hash.finalize()[..] != lacking.claim.digest()[..] {
            return Err(wrong(format!("`{}` is not what its digest says", name.escape_debug())));
        }
        let file = lacking.claim.fill(content, bytes);
        self.join(file, lacking.names);
        Ok(())
    }

    fn join(&mut self, file: Arc<KeptFile>, names: Vec<String>) {
        self.files.extend(names.into_iter().map(|name| InputFile { name, path: file.path() }));
        self.kept.push(file);
    }
}

fn check_name(name: &str) -> Result<(), Status> {
    if name.len() <= NAME_BYTES_MAX {
        return Ok(());
    }
    Err(wrong(format!("a file's name has {} bytes; {NAME_BYTES_MAX} is the limit", name.len())))
}

fn check_count(count: usize) -> Result<(), Status> {
    if count <= FILES_MAX { Ok(()) } else { Err(wrong(format!("there are more than {FILES_MAX} files"))) }
}

/// Reads 64 hexadecimal digits.
fn read_digest(text: &str) -> Option<Digest> {
    let mut digest = [0; 32];
    let bytes = text.as_bytes();
    if bytes.len() != 2 * digest.len() || !bytes.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, at) in digest.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(digest)
}

fn wrong(message: String) -> Status {
    status(Reason::File, message, Some("send fewer or smaller files"))
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where a function of the error is wanted")]
fn no_room(error: std::io::Error) -> Status {
    let message = match error.kind() {
        std::io::ErrorKind::StorageFull => "the executor has no room for the files",
        _ => "the executor could not put the files down",
    };
    status(Reason::Lost, message, Some("try another executor, or later"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(name: &str, data: &[u8]) -> proto::FileChunk {
        proto::FileChunk { name: name.to_owned(), data: data.to_vec() }
    }

    #[test]
    fn pieces_become_files_and_the_folder_goes_with_them() {
        let mut upload = Upload::new(10, 15);
        for (name, data) in [("a.csv", &b"12"[..]), ("a.csv", b"34"), ("../b", b""), ("c", b"5")] {
            upload.take(&piece(name, data)).unwrap();
        }
        let files = upload.files().unwrap();
        let read = |at: usize| fs_err::read(&files[at].path).unwrap();
        assert_eq!((read(0), read(1), read(2)), (b"1234".to_vec(), Vec::new(), b"5".to_vec()));
        // The caller's name is kept, and no path is made of it.
        assert_eq!(files[1].name, "../b");
        assert!(files[1].path.ends_with("1"));
        drop(upload);
        assert!(!files[0].path.exists());
    }

    #[test]
    fn one_file_and_all_files_have_a_limit() {
        let mut upload = Upload::new(10, 15);
        assert_eq!(upload.take(&piece("a", &[0; 11])).unwrap_err().code(), tonic::Code::InvalidArgument);
        let mut upload = Upload::new(10, 15);
        upload.take(&piece("a", &[0; 10])).unwrap();
        assert!(upload.take(&piece("b", &[0; 6])).is_err());
        let mut upload = Upload::new(10, 15);
        for number in 0..FILES_MAX {
            upload.take(&piece(&number.to_string(), b"")).unwrap();
        }
        assert!(upload.take(&piece("one too many", b"")).is_err());
    }

    fn known(name: &str, content: &[u8]) -> proto::KnownFile {
        let sha256 = ordain_types::hex(&Sha256::digest(content));
        proto::KnownFile { name: name.to_owned(), sha256 }
    }

    #[tokio::test]
    async fn a_known_file_is_asked_for_once_and_is_what_its_digest_says() {
        let (kept, ann) = (Kept::new(1 << 20, std::time::Duration::from_mins(1)), Caller("ann".to_owned()));
        let files = || vec![known("a", b"rows"), known("same", b"rows"), known("b", b"")];
        let mut upload = Upload::new(10, 15);
        let mut asked = upload.take_known(&kept, &ann, files()).await.unwrap();
        asked.sort();
        assert_eq!(asked, ["a", "b"]);
        assert!(upload.files().is_err(), "nothing has come yet");
        upload.take(&piece("a", b"rows")).unwrap();
        upload.take(&piece("b", b"")).unwrap();
        assert_eq!(upload.files().unwrap().len(), 3);
        drop(upload);
        let mut again = Upload::new(10, 15);
        assert!(again.take_known(&kept, &ann, files()).await.unwrap().is_empty());
        let files = again.files().unwrap();
        let same = files.iter().find(|file| file.name == "same").unwrap();
        assert_eq!(fs_err::read(&same.path).unwrap(), b"rows");
        let mut forged = Upload::new(10, 15);
        assert_eq!(forged.take_known(&kept, &ann, vec![known("c", b"true")]).await.unwrap(), ["c"]);
        forged.take(&piece("c", b"false")).unwrap();
        assert!(forged.files().unwrap_err().message().contains("digest"));
        for sha256 in ["", "abc", &"g".repeat(64), &"é".repeat(32)] {
            let bad = proto::KnownFile { name: "d".to_owned(), sha256: sha256.to_owned() };
            assert!(Upload::new(10, 15).take_known(&kept, &ann, vec![bad]).await.is_err(), "{sha256}");
        }
    }

    #[tokio::test]
    async fn a_known_file_may_be_as_large_as_what_is_kept_and_no_larger() {
        let (kept, ann) = (Kept::new(40, std::time::Duration::from_mins(1)), Caller("ann".to_owned()));
        let (fits, too_large) = ([b'x'; 40], [b'x'; 41]);
        let mut upload = Upload::new(10, 15);
        upload.take_known(&kept, &ann, vec![known("a", &fits)]).await.unwrap();
        upload.take(&piece("a", &fits)).unwrap();
        upload.take(&piece("own", b"1234567890")).unwrap();
        assert!(upload.take(&piece("own", b"1")).is_err(), "other files have the limits of the job");
        let mut upload = Upload::new(10, 15);
        upload.take_known(&kept, &ann, vec![known("b", &too_large)]).await.unwrap();
        assert!(upload.take(&piece("b", &too_large)).is_err());
    }
}
