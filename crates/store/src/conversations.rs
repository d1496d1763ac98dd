//! Conversations: what was asked and answered before, so that a follow-up can refer to it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::session::{Intent, Session};
use crate::sql::Datum;
use crate::store::Inner;

/// The longest name of a conversation.
const NAME_BYTES_MAX: usize = 300;

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ConversationTurn {
    /// Its place, counted from one.
    pub seq: u64,
    /// When it was.
    pub at: String,
    /// The run that answered.
    pub run_id: String,
    /// What was asked.
    pub request: String,
    /// What was answered.
    pub answer: String,
    /// With which status.
    pub status: Option<String>,
}

/// A conversation as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Conversation {
    /// Its name.
    pub conversation: String,
    /// How many turns it has.
    pub turns: u64,
    /// When the last one was.
    pub last_at: String,
    /// What was asked first.
    pub title: String,
}

/// Adds a turn at the end.
pub(crate) async fn add(
    store: &Arc<Inner>,
    conversation: &str,
    turn: &ConversationTurn,
) -> Result<(), StoreError> {
    if conversation.is_empty() || conversation.len() > NAME_BYTES_MAX || conversation.contains('\0') {
        let message = format!("a conversation's name has 1 to {NAME_BYTES_MAX} bytes of text");
        return Err(StoreError::BadCall { message });
    }
    let mut session = store.pool.begin(Intent::Own).await?;
    let turns = own(session.dialect(), "turns");
    let mut sql = session.sql(&format!(
        "INSERT INTO {turns} (conversation, seq, at, run_id, request, answer, status) SELECT "
    ));
    sql.text_param(conversation).push(", coalesce(max(seq), 0) + 1, ").text_param(&store.clock.timestamp());
    for text in [&turn.run_id, &turn.request, &turn.answer] {
        sql.push(", ").text_param(text);
    }
    sql.push(", ").bind(turn.status.clone().map_or(Datum::Null, Datum::Text), "text");
    sql.push(&format!(" FROM {turns} WHERE conversation = ")).text_param(conversation);
    session.write(sql).await?;
    session.commit().await
}

/// The last turns of a conversation, oldest first.
pub(crate) async fn turns(
    session: &mut Session,
    conversation: &str,
    limit: u64,
) -> Result<Vec<ConversationTurn>, StoreError> {
    let turns = own(session.dialect(), "turns");
    let mut sql = session.sql("SELECT ");
    sql.result("seq")
        .push(&format!(", at, run_id, request, answer, status FROM {turns} WHERE conversation = "));
    sql.text_param(conversation).push(&format!(" ORDER BY {turns}.seq DESC LIMIT "));
    sql.integer_param(i64::try_from(limit).unwrap_or(i64::MAX));
    let mut rows: Vec<ConversationTurn> = session.read(sql).await?.iter().map(|row| turn(row)).collect();
    rows.reverse();
    Ok(rows)
}

/// The conversations, the latest first; those behind the one with this name and time, and those whose names begin in one
/// of these ways, where that is given.
pub(crate) async fn list(
    session: &mut Session,
    beginnings: &[String],
    after: Option<(&str, &str)>,
    limit: u64,
) -> Result<Vec<Conversation>, StoreError> {
    let turns = own(session.dialect(), "turns");
    let first = format!("SELECT request FROM {turns} AS first WHERE first.conversation = last.conversation");
    let mut sql = session.sql("SELECT conversation, ");
    // Turns are counted from one and stay, so the place of the last one is their number.
    sql.result("seq")
        .push(&format!(", at, ({first} ORDER BY first.seq LIMIT 1) FROM {turns} AS last WHERE "));
    sql.push(if beginnings.is_empty() { "(1 = 1" } else { "(1 = 0" });
    for beginning in beginnings {
        let length = i64::try_from(beginning.chars().count()).unwrap_or(i64::MAX);
        sql.push(" OR substr(conversation, 1, ").integer_param(length).push(") = ").text_param(beginning);
    }
    sql.push(&format!(
        ") AND NOT EXISTS (SELECT 1 FROM {turns} AS later WHERE later.conversation = last.conversation \
         AND later.seq > last.seq)"
    ));
    if let Some((name, at)) = after {
        sql.push(" AND (at < ").text_param(at).push(" OR (at = ").text_param(at);
        sql.push(" AND conversation > ").text_param(name).push("))");
    }
    sql.push(" ORDER BY at DESC, conversation LIMIT ");
    sql.integer_param(i64::try_from(limit).unwrap_or(i64::MAX));
    let rows = session.read(sql).await?;
    let text = |datum: &Datum| datum.as_text().unwrap_or_default().to_owned();
    let conversation = |row: &Vec<Datum>| Conversation {
        conversation: text(&row[0]),
        turns: row[1].as_integer().and_then(|turns| u64::try_from(turns).ok()).unwrap_or_default(),
        last_at: text(&row[2]),
        title: text(&row[3]),
    };
    Ok(rows.iter().map(conversation).collect())
}

fn turn(row: &[Datum]) -> ConversationTurn {
    let text = |place: usize| row[place].as_text().unwrap_or_default().to_owned();
    ConversationTurn {
        seq: row[0].as_integer().and_then(|seq| u64::try_from(seq).ok()).unwrap_or_default(),
        at: text(1),
        run_id: text(2),
        request: text(3),
        answer: text(4),
        status: row[5].as_text().map(str::to_owned),
    }
}
