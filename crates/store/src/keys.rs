//! Keys of callers: who may use a served workspace, and for what.
//!
//! A key is `ordain_<id>_<secret>`: the prefix lets secret scanners find one that leaked, the id finds its row, and the
//! secret has 256 random bits, so a plain SHA-256 of it cannot be searched through. The secret itself is never
//! kept. Every change of a key is in the ledger, and a row counts only as long as it is what its newest ledger
//! entry says: one that was inserted or edited without Ordain is refused.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::Answer;
use crate::access::CallerLimits;
use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::ledger::{self, EntryNote, Ledger};
use crate::options::Secret;
use crate::session::{Intent, Session};
use crate::sql::{Datum, Sql};
use crate::store::{Inner, Store};

/// What every key begins with.
const PREFIX: &str = "ordain_";
/// The longest name of a key.
const NAME_BYTES_MAX: usize = 200;
/// Keys that a store has at most, revoked ones too.
const KEYS_MAX: usize = 10_000;

/// The columns, in the order in which [`key`] reads them.
const COLUMNS: [&str; 14] = [
    "key_id",
    "name",
    "scopes",
    "secret_sha256",
    "created_at",
    "expires_at",
    "last_used_at",
    "revoked_at",
    "requests_per_minute",
    "cells",
    "tokens_per_day",
    "limits",
    "previous_sha256",
    "previous_until",
];

/// A key that is to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewKey {
    /// What it is for, in words.
    pub name: String,
    /// What it allows.
    pub scopes: Vec<String>,
    /// How long it is good.
    pub expires_in: Option<Duration>,
    /// Requests a minute; the server's default where it is not given.
    pub requests_per_minute: Option<u64>,
    /// Cells at once; the server's default where it is not given.
    pub cells: Option<u64>,
    /// Tokens of models a day; the server's default where it is not given.
    pub tokens_per_day: Option<u64>,
    /// What its runs may see and change.
    pub limits: CallerLimits,
}

/// A key as it is kept: without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallerKey {
    /// Names the key; the ledger knows callers by it.
    pub key_id: String,
    /// What it is for, in words.
    pub name: String,
    /// What it allows.
    pub scopes: Vec<String>,
    /// When it was made.
    pub created_at: String,
    /// When it ends.
    pub expires_at: Option<String>,
    /// When it was last used, to the minute or so.
    pub last_used_at: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<String>,
    /// Requests a minute, where it has a limit of its own.
    pub requests_per_minute: Option<u64>,
    /// Cells at once, where it has a limit of its own.
    pub cells: Option<u64>,
    /// Tokens of models a day, where it has a limit of its own.
    pub tokens_per_day: Option<u64>,
    /// What its runs may see and change.
    pub limits: CallerLimits,
    /// Until when the secret is good too that it had before it was rotated.
    pub previous_until: Option<String>,
    /// Whether it is another than its ledger entry says.
    pub altered: bool,
    #[serde(skip)]
    secret_sha256: String,
    #[serde(skip)]
    previous_sha256: Option<String>,
}

/// How a key stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It may be used.
    Good,
    /// It was revoked.
    Revoked,
    /// Its time is over.
    Expired,
    /// Somebody wrote it into the database: the ledger does not know it so.
    Altered,
}

ordain_types::names!(KeyState, as_str {
    Good = "good", Revoked = "revoked", Expired = "expired", Altered = "altered",
});

impl CallerKey {
    /// Whether this is its secret at a time, which is written as in records. It takes the same time whatever the
    /// difference.
    pub fn has_secret(&self, secret: &str, now: &str) -> bool {
        let given = hash_of(secret);
        let is = |kept: &str| bool::from(given.as_bytes().ct_eq(kept.as_bytes()));
        let is_before = is(self.previous_sha256.as_deref().unwrap_or_default());
        is(&self.secret_sha256) || is_before && self.previous_until.as_deref().is_some_and(|end| end > now)
    }

    /// How it stands at a time, which is written as in records.
    pub fn state(&self, now: &str) -> KeyState {
        if self.altered {
            KeyState::Altered
        } else if self.revoked_at.is_some() {
            KeyState::Revoked
        // Timestamps of records sort as texts.
        } else if self.expires_at.as_deref().is_some_and(|end| end <= now) {
            KeyState::Expired
        } else {
            KeyState::Good
        }
    }

    /// Whether it may be used at a time.
    pub fn is_good(&self, now: &str) -> bool {
        self.state(now) == KeyState::Good
    }

    /// The part of it that its ledger entry signs: all that does not change with its use.
    fn told(&self) -> Value {
        let mut told = json!(self);
        if let Some(fields) = told.as_object_mut() {
            fields.remove("last_used_at");
            fields.remove("altered");
            fields.insert("secret_sha256".to_owned(), json!(self.secret_sha256));
            fields.insert("previous_sha256".to_owned(), json!(self.previous_sha256));
        }
        told
    }

    /// Whether its newest ledger entry says the same.
    fn is_as(&self, told: &Value) -> bool {
        let own = self.told();
        if told.get("secret_sha256").is_some() {
            return own == *told;
        }
        // Entries of earlier versions have no hash of the secret and do not tell when a rotated key ends.
        ["scopes", "created_at", "limits"]
            .iter()
            .all(|name| told.get(name).is_none_or(|told| own[name] == *told))
    }
}

/// The id and the secret of a key as callers send it; `None` if it has not the form of one.
pub fn split_key(text: &str) -> Option<(&str, &str)> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let is_plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (id.len() == 12 && secret.len() == 64 && is_plain(id) && is_plain(secret)).then_some((id, secret))
}

impl Store {
    /// Makes a key for callers. Its secret is given back this once and kept only as a hash.
    pub fn create_key(&self, key: NewKey, note: EntryNote) -> Answer<'_, (CallerKey, Secret)> {
        Box::pin(async move { create(&self.inner, key, note).await })
    }

    /// All keys, revoked and expired ones too, the oldest first.
    pub fn keys(&self) -> Answer<'_, Vec<CallerKey>> {
        Box::pin(async move {
            // One look at both, or a key that is being revoked would seem altered.
            let mut session = self.inner.pool.begin(Intent::Read).await?;
            let keys = list(&self.inner.ledger, &mut session).await?;
            session.roll_back().await?;
            Ok(keys)
        })
    }

    /// Makes a key useless from now on.
    pub fn revoke_key<'a>(&'a self, key_id: &'a str, note: EntryNote) -> Answer<'a, CallerKey> {
        Box::pin(async move { revoke(&self.inner, key_id, note).await })
    }

    /// Gives a key another secret. The one before stays good for the overlap and no longer; everything else stays as it
    /// is, so that it is the same caller.
    pub fn rotate_key<'a>(
        &'a self,
        key_id: &'a str,
        overlap: Duration,
        note: EntryNote,
    ) -> Answer<'a, (CallerKey, Secret)> {
        Box::pin(async move { rotate(&self.inner, key_id, overlap, note).await })
    }

    /// Remembers that a key was used just now.
    pub fn key_used<'a>(&'a self, key_id: &'a str) -> Answer<'a, ()> {
        Box::pin(async move { used(&self.inner, key_id).await })
    }
}

/// Makes a key.
async fn create(store: &Arc<Inner>, new: NewKey, note: EntryNote) -> Result<(CallerKey, Secret), StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    if list(&store.ledger, &mut session).await?.len() >= KEYS_MAX {
        return Err(StoreError::Limit { limit: "keys", value: KEYS_MAX as u64 });
    }
    new.limits.check(&store.catalog())?;
    let made = insert(store, &mut session, new).await?;
    finish(store, session, "create", &made.0, note).await?;
    Ok(made)
}

/// All keys, the oldest first, each held against its newest ledger entry.
pub(crate) async fn list(ledger: &Ledger, session: &mut Session) -> Result<Vec<CallerKey>, StoreError> {
    let mut sql = select(session);
    sql.push(" ORDER BY created_at, key_id");
    let rows = session.read(sql).await?;
    let mut newest = HashMap::new();
    for entry in ledger::about_keys(session).await? {
        let body: Value = serde_json::from_str(entry.body.get()).unwrap_or_default();
        if let Some(id) = body["content"]["key"]["key_id"].as_str() {
            newest.insert(id.to_owned(), entry);
        }
    }
    let held = |mut key: CallerKey| {
        let told = newest.get(&key.key_id).and_then(|entry| ledger.genuine(entry));
        key.altered = !told.is_some_and(|body| key.is_as(&body["content"]["key"]));
        key
    };
    rows.iter().map(|row| key(row).map(held)).collect()
}

/// Makes a key useless. One that already is stays as it is.
async fn revoke(store: &Arc<Inner>, key_id: &str, note: EntryNote) -> Result<CallerKey, StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    let mut found = get(store, &mut session, key_id).await?;
    if found.revoked_at.is_some() && !found.altered {
        session.roll_back().await?;
        return Ok(found);
    }
    let now = store.clock.timestamp();
    set(&mut session, "revoked_at", &now, &found.key_id).await?;
    (found.revoked_at, found.altered) = (Some(now), false);
    finish(store, session, "revoke", &found, note).await?;
    Ok(found)
}

/// Gives a key another secret.
async fn rotate(
    store: &Arc<Inner>,
    key_id: &str,
    overlap: Duration,
    note: EntryNote,
) -> Result<(CallerKey, Secret), StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    let mut found = get(store, &mut session, key_id).await?;
    let state = found.state(&store.clock.timestamp());
    if state != KeyState::Good {
        let message = format!("key `{}` is {}; make a new one", found.key_id, state.as_str());
        return Err(StoreError::BadCall { message });
    }
    let secret = random::<32>()?;
    let previous = std::mem::replace(&mut found.secret_sha256, hash_of(&secret));
    let until = later(store, overlap);
    for (column, value) in
        [("secret_sha256", &found.secret_sha256), ("previous_sha256", &previous), ("previous_until", &until)]
    {
        set(&mut session, column, value, &found.key_id).await?;
    }
    (found.previous_sha256, found.previous_until) = (Some(previous), Some(until));
    finish(store, session, "rotate", &found, note).await?;
    let text = format!("{PREFIX}{}_{secret}", found.key_id);
    Ok((found, Secret(text)))
}

fn hash_of(secret: &str) -> String {
    ordain_types::hex(&Sha256::digest(secret.as_bytes()))
}

/// Remembers that a key was used. That changes nothing, so it is not in the ledger.
async fn used(store: &Arc<Inner>, key_id: &str) -> Result<(), StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    set(&mut session, "last_used_at", &store.clock.timestamp(), key_id).await?;
    session.commit().await
}

async fn insert(
    store: &Arc<Inner>,
    session: &mut Session,
    new: NewKey,
) -> Result<(CallerKey, Secret), StoreError> {
    if new.name.len() > NAME_BYTES_MAX || new.name.contains('\0') {
        let message = format!("a key's name has at most {NAME_BYTES_MAX} bytes of text");
        return Err(StoreError::BadCall { message });
    }
    let (id, secret) = (random::<6>()?, random::<32>()?);
    let made = CallerKey {
        key_id: id,
        name: new.name,
        scopes: new.scopes,
        created_at: store.clock.timestamp(),
        expires_at: new.expires_in.map(|time| later(store, time)),
        last_used_at: None,
        revoked_at: None,
        requests_per_minute: new.requests_per_minute,
        cells: new.cells,
        tokens_per_day: new.tokens_per_day,
        limits: new.limits,
        altered: false,
        previous_until: None,
        secret_sha256: hash_of(&secret),
        previous_sha256: None,
    };
    let keys = own(session.dialect(), "keys");
    let mut sql = session.sql(&format!("INSERT INTO {keys} ({}) VALUES (", COLUMNS.join(", ")));
    sql.text_param(&made.key_id);
    let scopes = made.scopes.join(",");
    for text in [&made.name, &scopes, &made.secret_sha256, &made.created_at] {
        sql.push(", ").text_param(text);
    }
    for text in [&made.expires_at, &made.last_used_at, &made.revoked_at] {
        sql.push(", ").bind(text.clone().map_or(Datum::Null, Datum::Text), "text");
    }
    for number in [made.requests_per_minute, made.cells, made.tokens_per_day] {
        let number = number.and_then(|number| i64::try_from(number).ok());
        sql.push(", ").bind(number.map_or(Datum::Null, Datum::Integer), "bigint");
    }
    let limits = serde_json::to_string(&made.limits)
        .map_err(|error| StoreError::Database { message: error.to_string() })?;
    sql.push(", ").text_param(&limits).push(", NULL, NULL)");
    session.write(sql).await?;
    let text = format!("{PREFIX}{}_{secret}", made.key_id);
    Ok((made, Secret(text)))
}

/// Writes the entry about a key that was made or changed, and commits.
async fn finish(
    store: &Arc<Inner>,
    session: Session,
    action: &str,
    key: &CallerKey,
    note: EntryNote,
) -> Result<(), StoreError> {
    store.commit_with_entry(session, "key", json!({ "action": action, "key": key.told() }), note).await
}

async fn get(store: &Inner, session: &mut Session, key_id: &str) -> Result<CallerKey, StoreError> {
    let found = list(&store.ledger, session).await?.into_iter().find(|key| key.key_id == key_id);
    found.ok_or_else(|| StoreError::UnknownKey { key: crate::relation::shortened(key_id) })
}

async fn set(
    session: &mut Session,
    column: &'static str,
    value: &str,
    key_id: &str,
) -> Result<(), StoreError> {
    let keys = own(session.dialect(), "keys");
    let mut sql = session.sql(&format!("UPDATE {keys} SET {column} = "));
    sql.text_param(value).push(" WHERE key_id = ").text_param(key_id);
    session.write(sql).await.map(drop)
}

fn select(session: &Session) -> Sql {
    let keys = own(session.dialect(), "keys");
    let mut sql = session.sql("SELECT ");
    sql.list(", ", COLUMNS, |sql, column| {
        match column {
            "requests_per_minute" | "cells" | "tokens_per_day" => sql.result(column),
            _ => sql.push(column),
        };
    });
    sql.push(&format!(" FROM {keys}"));
    sql
}

fn key(row: &[Datum]) -> Result<CallerKey, StoreError> {
    let text = |place: usize| row[place].as_text().unwrap_or_default().to_owned();
    let maybe = |place: usize| row[place].as_text().map(str::to_owned);
    let number = |place: usize| row[place].as_integer().and_then(|number| u64::try_from(number).ok());
    let scopes = text(2);
    // Limits that cannot be read are not taken for none.
    let limits = row[11].as_text().map(serde_json::from_str).transpose();
    let limits =
        limits.map_err(|error| StoreError::Database { message: format!("the limits of a key: {error}") })?;
    Ok(CallerKey {
        key_id: text(0),
        name: text(1),
        scopes: scopes.split(',').filter(|scope| !scope.is_empty()).map(str::to_owned).collect(),
        secret_sha256: text(3),
        created_at: text(4),
        expires_at: maybe(5),
        last_used_at: maybe(6),
        revoked_at: maybe(7),
        requests_per_minute: number(8),
        cells: number(9),
        tokens_per_day: number(10),
        limits: limits.unwrap_or_default(),
        previous_sha256: maybe(12),
        previous_until: maybe(13),
        altered: false,
    })
}

fn later(store: &Arc<Inner>, time: Duration) -> String {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    // Beyond the year 9999 timestamps would no longer sort as texts.
    ordain_types::format_unix_millis(
        store.clock.unix_millis().saturating_add(millis).min(253_402_300_799_999),
    )
}

/// Random bytes in hexadecimal.
fn random<const N: usize>() -> Result<String, StoreError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Database { message: error.to_string() })?;
    Ok(ordain_types::hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_keys_are_taken_apart() {
        let (id, secret) = ("0123456789ab", "f".repeat(64));
        assert_eq!(split_key(&format!("ordain_{id}_{secret}")), Some((id, secret.as_str())));
        for wrong in ["", "ordain_", "sk-anything", "ordain_0123456789ab_", "ordain_0123456789ab_é"] {
            assert_eq!(split_key(wrong), None, "{wrong}");
        }
    }
}
