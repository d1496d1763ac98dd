//! A role of PostgreSQL for plan SQL: rights on the columns that plans may see, and nothing else.
//!
//! The judgement of plan SQL does not depend on it. It is a second wall, of the database's own making, for owners who
//! may make roles.

use std::fmt::Write as _;

use crate::Answer;
use crate::error::StoreError;
use crate::session::Intent;
use crate::sql::{Dialect, literal, quoted};
use crate::store::Store;

impl Store {
    /// The SQL that makes the role, or brings its rights up to date.
    pub fn role_sql(&self, role: &str) -> String {
        let (name, text) = (quoted(role), literal(role));
        let mut sql = format!(
            "DO $do$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = {text}) THEN \
             CREATE ROLE {name} NOLOGIN; END IF; END $do$;\nGRANT {name} TO CURRENT_USER;\n"
        );
        let catalog = self.inner().catalog();
        for relation in catalog.relations() {
            let table = relation.sql_name();
            let _ = writeln!(sql, "REVOKE ALL ON {table} FROM {name};");
            if relation.table.hidden {
                continue;
            }
            if let Some(schema) = &relation.namespace {
                let _ = writeln!(sql, "GRANT USAGE ON SCHEMA {} TO {name};", quoted(schema));
            }
            let own = relation.is_kept().then(|| quoted(crate::relation::DOC_ID));
            let visible = relation.visible_columns().map(|(_, column)| quoted(&column.name));
            let columns: Vec<String> = own.into_iter().chain(visible).collect();
            let _ = writeln!(sql, "GRANT SELECT ({}) ON {table} TO {name};", columns.join(", "));
        }
        sql
    }

    /// Makes the role, or brings its rights up to date.
    pub fn apply_role<'a>(&'a self, role: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let mut session = self.inner().pool.begin(Intent::Write).await?;
            if session.dialect() == Dialect::Sqlite {
                return Err(StoreError::Declaration {
                    what: "the store".to_owned(),
                    message: "SQLite has no roles; its authorizer holds plan SQL".to_owned(),
                    hint: None,
                });
            }
            session.script(self.role_sql(role)).await?;
            // A grant by one who may not grant is no error of PostgreSQL's.
            let catalog = self.inner().catalog();
            let visible: Vec<_> = catalog.relations().filter(|relation| !relation.table.hidden).collect();
            let statements = visible.iter().map(|relation| {
                let mut sql = session.sql("SELECT has_any_column_privilege(");
                sql.text_param(role)
                    .push("::name, ")
                    .text_param(&relation.sql_name())
                    .push(", 'SELECT')::text");
                sql
            });
            let statements = statements.collect();
            let granted = session.read_all(statements).await?;
            let lacks = std::iter::zip(visible, granted)
                .filter(|(_, rows)| rows.first().is_none_or(|row| row[0].as_text() != Some("true")));
            let lacking: Vec<&str> = lacks.map(|(relation, _)| relation.table.name.as_str()).collect();
            if !lacking.is_empty() {
                session.roll_back().await?;
                return Err(StoreError::Declaration {
                    what: format!("the role `{role}`"),
                    message: format!("it could not be given rights on {}; nothing was changed", lacking.join(", ")),
                    hint: Some("let the owner of the tables run `ordain config store-role`, or grant this user the right to grant".to_owned()),
                });
            }
            session.commit().await
        })
    }
}
