//! Files of a job as they arrive: put down in a folder of their own, bounded, and gone with the job.
//!
//! A file's name is the caller's and is never used as a name here; the cell crate judges it before code sees it.

use std::fs::File;
use std::io::Write as _;

use ordain_cell::InputFile;
use ordain_types::format_bytes;
use tempfile::TempDir;
use tonic::Status;

use crate::grpc::proto;
use crate::grpc::status::{Reason, status};

/// How many files a job may have.
const FILES_MAX: usize = 256;
/// The longest name that is looked at at all.
const NAME_BYTES_MAX: usize = 1024;

/// The files that have arrived so far.
#[derive(Debug)]
pub(crate) struct Upload {
    folder: Option<TempDir>,
    files: Vec<InputFile>,
    open: Option<Open>,
    bytes: u64,
    file_bytes_max: u64,
    bytes_max: u64,
}

/// The file that is being written.
#[derive(Debug)]
struct Open {
    content: File,
    bytes: u64,
}

impl Upload {
    pub(crate) fn new(file_bytes_max: u64, bytes_max: u64) -> Self {
        Self { folder: None, files: Vec::new(), open: None, bytes: 0, file_bytes_max, bytes_max }
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
        if self.files.last().is_none_or(|file| file.name != chunk.name) {
            self.begin(&chunk.name)?;
        }
        self.append(&chunk.data)
    }

    /// The files. The folder goes when the upload is dropped.
    pub(crate) fn files(&self) -> Vec<InputFile> {
        self.files.clone()
    }

    fn begin(&mut self, name: &str) -> Result<(), Status> {
        if name.len() > NAME_BYTES_MAX {
            return Err(wrong(format!(
                "a file's name has {} bytes; {NAME_BYTES_MAX} is the limit",
                name.len()
            )));
        }
        if self.files.len() >= FILES_MAX {
            return Err(wrong(format!("there are more than {FILES_MAX} files")));
        }
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => tempfile::Builder::new().prefix("ordain-job-").tempdir().map_err(no_room)?,
        };
        let folder = self.folder.insert(folder);
        let path = folder.path().join(self.files.len().to_string());
        self.open = Some(Open { content: File::create_new(&path).map_err(no_room)?, bytes: 0 });
        self.files.push(InputFile { name: name.to_owned(), path });
        Ok(())
    }

    fn append(&mut self, data: &[u8]) -> Result<(), Status> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.bytes += data.len() as u64;
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
        let files = upload.files();
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
}
