//! Writes the tables of a store into files, whatever the format of its own tables is: for a store that another version
//! wrote.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use ordain_types::Row;

use crate::Answer;
use crate::catalog::{self, Definition};
use crate::error::StoreError;
use crate::options::StoreOptions;
use crate::relation::Relation;
use crate::session::{Intent, Pool, Session};

/// Rows that are read at once.
const PAGE: i64 = 1000;
const UNWRITTEN: &str = "name a folder that can be made, and in which no such file is yet";

/// Writes every table that Ordain made into a file of a folder, one JSON object a line: the tables and their rows. The
/// store is not changed.
pub fn export(options: StoreOptions, folder: PathBuf) -> Answer<'static, Vec<(String, u64)>> {
    Box::pin(async move {
        let pool = Pool::new(&options)?;
        let mut session = pool.begin(Intent::Read).await?;
        let definitions = catalog::definitions(&mut session).await?;
        fs_err::create_dir_all(&folder).map_err(|error| unwritten(&error))?;
        let mut written = Vec::new();
        for relation in definitions.into_iter().map(Definition::relation) {
            let rows = write(&mut session, &relation, &folder).await?;
            written.push((relation.table.name, rows));
        }
        session.roll_back().await?;
        Ok(written)
    })
}

async fn write(session: &mut Session, relation: &Relation, folder: &Path) -> Result<u64, StoreError> {
    let name = &relation.table.name;
    // The name comes from the database, and becomes that of a file.
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(relation.broken("its name is not a plain word"));
    }
    let path = folder.join(format!("{name}.jsonl"));
    let mut file = fs_err::File::create_new(path).map_err(|error| unwritten(&error))?;
    let (mut count, mut last) = (0, i64::MIN);
    loop {
        let mut sql = session.sql("SELECT ");
        relation.push_image(&mut sql);
        sql.push(" FROM ").push(&relation.sql_rows()).push(" WHERE doc_id > ").integer_param(last);
        sql.push(" ORDER BY doc_id LIMIT ").integer_param(PAGE);
        let rows = session.read(sql).await?;
        if rows.is_empty() {
            file.sync_all().map_err(|error| unwritten(&error))?;
            return Ok(count);
        }
        for row in rows {
            let image = relation.image(row)?;
            last = image.doc_id;
            count += 1;
            let columns = relation.table.columns.iter().enumerate();
            let row: Row = columns
                .filter_map(|(position, column)| {
                    Some((column.name.clone(), relation.shown(position, &image)?))
                })
                .collect();
            let mut line = serde_json::to_vec(&row).unwrap_or_default();
            line.push(b'\n');
            file.write_all(&line).map_err(|error| unwritten(&error))?;
        }
    }
}

fn unwritten(error: &std::io::Error) -> StoreError {
    StoreError::File { message: error.to_string(), hint: UNWRITTEN }
}
