//! Whether the database itself is sound.

use crate::Answer;
use crate::session::Intent;
use crate::sql::Dialect;
use crate::store::Store;

impl Store {
    /// What the database says of its own pages; nothing, if they are sound. PostgreSQL has tools of its own for that.
    pub fn damaged_pages(&self) -> Answer<'_, Vec<String>> {
        Box::pin(async move {
            let mut session = self.inner().pool.begin(Intent::Read).await?;
            if session.dialect() == Dialect::Postgres {
                return Ok(Vec::new());
            }
            let sql = session.sql("SELECT integrity_check FROM pragma_integrity_check");
            let rows = session.read(sql).await?;
            session.roll_back().await?;
            let told = rows.iter().filter_map(|row| row[0].as_text()).filter(|told| *told != "ok");
            Ok(told.map(str::to_owned).collect())
        })
    }
}
