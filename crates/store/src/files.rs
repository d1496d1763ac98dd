//! Files that every process on the store can read: what came with runs and what they left.
//!
//! A file has an owner and a name, and is kept in parts of a bounded size. Its digest is part of its key, so that parts of
//! two versions never mix, and it is compared whenever the file is read. Where the workspace names
//! a folder that all nodes reach, the content is there and the database has none of it.

mod contents;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::Answer;
use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::sql::Sql;
use crate::store::{Inner, Store};

/// Bytes of one part.
const PART_BYTES: usize = 512 << 10;
/// The largest file.
const FILE_BYTES_MAX: usize = 256 << 20;
/// The longest name.
const NAME_BYTES_MAX: usize = 500;
/// Files of one owner that are listed.
const LISTED_MAX: i64 = 10_000;

/// A file that is kept in the store, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// Its name; no other file of the same owner has it.
    pub name: String,
    /// The digest of its content, in hexadecimal digits.
    pub sha256: String,
}

impl Store {
    /// Keeps a file, and gives its digest. It replaces another one of the same owner and name.
    pub fn keep_file<'a>(&'a self, owner: &'a str, name: &'a str, content: &'a [u8]) -> Answer<'a, String> {
        Box::pin(keep(self.inner(), owner, name, content))
    }

    /// A file that is kept; `None` if there is none, or it is being written at this moment.
    pub fn kept_file<'a>(&'a self, owner: &'a str, name: &'a str) -> Answer<'a, Option<Vec<u8>>> {
        Box::pin(read(self.inner(), owner, name))
    }

    /// Keeps a file with a signature of the ledger's key: what it says is acted on.
    pub fn keep_signed_file<'a>(
        &'a self,
        owner: &'a str,
        name: &'a str,
        content: &'a [u8],
    ) -> Answer<'a, ()> {
        Box::pin(async move {
            let seal = self.inner().ledger.seal(&message(owner, name, content));
            let signed = [seal.as_bytes(), b"\n", content].concat();
            keep(self.inner(), owner, name, &signed).await.map(drop)
        })
    }

    /// A file that was kept with a signature; `None` as for [`Self::kept_file`].
    pub fn signed_file<'a>(&'a self, owner: &'a str, name: &'a str) -> Answer<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let Some(signed) = read(self.inner(), owner, name).await? else { return Ok(None) };
            let mut halves = signed.splitn(2, |byte| *byte == b'\n');
            let (seal, content) = (halves.next().unwrap_or_default(), halves.next().unwrap_or_default());
            let is_sealed = std::str::from_utf8(seal)
                .is_ok_and(|seal| self.inner().ledger.is_sealed(&message(owner, name, content), seal));
            if is_sealed { Ok(Some(content.to_vec())) } else { Err(altered(name)) }
        })
    }

    /// The files of an owner, by name. One of which a part is missing is none.
    pub fn kept_files<'a>(&'a self, owner: &'a str) -> Answer<'a, Vec<KeptFile>> {
        Box::pin(async move {
            let mut session = self.inner().pool.session().await?;
            let files = own(session.dialect(), "files");
            let mut sql = session.sql(&format!("SELECT name, sha256 FROM {files} WHERE owner = "));
            sql.text_param(owner).push(" GROUP BY name, sha256, parts HAVING count(*) = parts");
            sql.push(" ORDER BY name, max(made_ms) LIMIT ").integer_param(LISTED_MAX);
            let rows = session.read(sql).await?;
            let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
            let mut found: Vec<KeptFile> = Vec::new();
            for row in &rows {
                let file = KeptFile { name: text(row[0].as_text()), sha256: text(row[1].as_text()) };
                // Of two versions the newer one counts.
                match found.last_mut() {
                    Some(last) if last.name == file.name => *last = file,
                    _ => found.push(file),
                }
            }
            Ok(found)
        })
    }

    /// Removes the files of an owner.
    pub fn remove_files<'a>(&'a self, owner: &'a str) -> Answer<'a, ()> {
        Box::pin(remove(self.inner(), owner, None))
    }

    /// Removes one file of an owner.
    pub fn remove_file<'a>(&'a self, owner: &'a str, name: &'a str) -> Answer<'a, ()> {
        Box::pin(remove(self.inner(), owner, Some(name)))
    }
}

async fn remove(store: &Inner, owner: &str, name: Option<&str>) -> Result<(), StoreError> {
    let mut session = store.pool.session().await?;
    let files = own(session.dialect(), "files");
    let of = |mut sql: Sql| {
        sql.text_param(owner);
        if let Some(name) = name {
            sql.push(" AND name = ").text_param(name);
        }
        sql
    };
    let rows = match &store.files {
        Some(_) => {
            let sql = session.sql(&format!("SELECT name, sha256 FROM {files} WHERE part = 0 AND owner = "));
            session.read(of(sql)).await?
        }
        None => Vec::new(),
    };
    let sql = session.sql(&format!("DELETE FROM {files} WHERE owner = "));
    session.write(of(sql)).await?;
    drop(session);
    for row in &rows {
        let [name, sha256] = [0, 1].map(|at| row[at].as_text().unwrap_or_default());
        if let Some(folder) = &store.files {
            contents::remove(folder, owner, name, sha256).await?;
        }
    }
    Ok(())
}

async fn keep(store: &Inner, owner: &str, name: &str, content: &[u8]) -> Result<String, StoreError> {
    let is_name = |text: &str| !text.is_empty() && text.len() <= NAME_BYTES_MAX && !text.contains('\0');
    if !is_name(owner) || !is_name(name) {
        let message = format!("a file has a name of 1 to {NAME_BYTES_MAX} bytes");
        return Err(StoreError::BadCall { message });
    }
    if content.len() > FILE_BYTES_MAX {
        let message = format!("a file of {} bytes is larger than the store keeps", content.len());
        return Err(StoreError::BadCall { message });
    }
    let sha256 = digest(content);
    let parts: Vec<&[u8]> = if content.is_empty() || store.files.is_some() {
        vec![&[]]
    } else {
        content.chunks(PART_BYTES).collect()
    };
    if let Some(folder) = &store.files {
        contents::keep(folder, owner, name, content).await?;
    }
    let made = i64::try_from(store.clock.unix_millis()).unwrap_or(i64::MAX);
    // Each part is a statement of its own: a large file keeps nobody waiting. It counts once all of them are there.
    let mut session = store.pool.session().await?;
    let files = own(session.dialect(), "files");
    for (place, part) in parts.iter().enumerate() {
        let mut sql = session
            .sql(&format!("INSERT INTO {files} (owner, name, sha256, part, parts, made_ms, data) VALUES ("));
        sql.text_param(owner).push(", ").text_param(name).push(", ").text_param(&sha256).push(", ");
        sql.integer_param(count(place)).push(", ").integer_param(count(parts.len())).push(", ");
        sql.integer_param(made).push(", ").text_param(&STANDARD.encode(part));
        // Since then the place may have been named, or named no more.
        sql.push(") ON CONFLICT (owner, name, sha256, part) DO UPDATE SET made_ms = excluded.made_ms, ");
        sql.push("parts = excluded.parts, data = excluded.data");
        session.write(sql).await?;
    }
    let older = |mut sql: Sql| {
        sql.text_param(owner).push(" AND name = ").text_param(name);
        sql.push(" AND sha256 <> ").text_param(&sha256).push(" AND made_ms <= ").integer_param(made);
        sql
    };
    let rows = match &store.files {
        Some(_) => {
            let sql = session.sql(&format!("SELECT sha256 FROM {files} WHERE part = 0 AND owner = "));
            session.read(older(sql)).await?
        }
        None => Vec::new(),
    };
    let sql = session.sql(&format!("DELETE FROM {files} WHERE owner = "));
    session.write(older(sql)).await?;
    drop(session);
    for row in &rows {
        if let Some(folder) = &store.files {
            contents::remove(folder, owner, name, row[0].as_text().unwrap_or_default()).await?;
        }
    }
    Ok(sha256)
}

async fn read(store: &Inner, owner: &str, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let mut session = store.pool.session().await?;
    let files = own(session.dialect(), "files");
    let mut sql = session.sql("SELECT sha256, ");
    sql.result("parts").push(&format!(" FROM {files} WHERE owner = ")).text_param(owner);
    sql.push(" AND name = ").text_param(name).push(" GROUP BY sha256, parts HAVING count(*) = parts");
    sql.push(" ORDER BY max(made_ms) DESC LIMIT 1");
    let rows = session.read(sql).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let (sha256, parts) = (row[0].as_text().unwrap_or_default(), row[1].as_integer().unwrap_or_default());
    if let Some(folder) = &store.files
        && let Some(content) = contents::read(folder, owner, name, sha256).await?
    {
        return if digest(&content) == sha256 { Ok(Some(content)) } else { Err(altered(name)) };
    }
    // It may have been kept before the place was named.
    let mut content = Vec::new();
    for part in 0..parts {
        let mut sql = session.sql(&format!("SELECT data FROM {files} WHERE owner = "));
        sql.text_param(owner).push(" AND name = ").text_param(name).push(" AND sha256 = ").text_param(sha256);
        sql.push(" AND part = ").integer_param(part);
        let rows = session.read(sql).await?;
        let Some(text) = rows.first().and_then(|row| row[0].as_text()) else { return Ok(None) };
        let Ok(bytes) = STANDARD.decode(text) else { return Err(altered(name)) };
        content.extend_from_slice(&bytes);
        if content.len() > FILE_BYTES_MAX {
            return Err(altered(name));
        }
    }
    match &store.files {
        _ if digest(&content) == sha256 => Ok(Some(content)),
        Some(_) if content.is_empty() => Ok(None),
        _ => Err(altered(name)),
    }
}

/// What the signature of a file covers.
fn message(owner: &str, name: &str, content: &[u8]) -> String {
    format!("file\0{owner}\0{name}\0{}", digest(content))
}

fn altered(name: &str) -> StoreError {
    StoreError::Declaration {
        what: format!("the file `{name}` in the store"),
        message: "its content is not what was kept, so it is not used".to_owned(),
        hint: Some("somebody changed it where files are kept; carry out the run again".to_owned()),
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn digest(content: &[u8]) -> String {
    ordain_types::hex(&Sha256::digest(content))
}
