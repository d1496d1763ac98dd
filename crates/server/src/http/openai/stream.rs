//! The chunks of a streamed answer.
//!
//! While the run goes on, what its planner says and how its steps go comes as `reasoning_content`; at its end come the answer, the reason
//! why it ended, and `[DONE]`. Losing the connection drops the stream, and with it the last one who waits for the run.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use ordain_types::unmarked;
use serde_json::{Value, json};

use super::error;
use super::reply::{Head, Reply, fingerprint, usage};
use super::request::Stream;
use super::{Wanted, retries::Watching, settled};

/// The largest piece of an answer in one chunk.
const PIECE_CHARS: usize = 160;
/// The largest piece of reasoning: code is long, and nobody watches it being written.
const REASON_CHARS: usize = 4_000;

/// An answer on its way.
struct Flow {
    head: Head,
    stream: Stream,
    queue: VecDeque<String>,
    live: Option<Live>,
}

/// A run that is watched.
struct Live {
    watching: Watching,
    wanted: Wanted,
    place: u64,
    /// Whether the planner's own words were shown; the code is among them.
    has_text: bool,
}

/// Streams an answer that is there already.
pub(super) fn of_reply(head: Head, stream: Stream, reply: &Reply) -> Response {
    let mut flow = Flow { head, stream, queue: VecDeque::new(), live: None };
    flow.begin(reply.run_id.as_ref().map(ordain_types::RunId::as_str));
    flow.reason(&reply.reasoning);
    flow.end(reply);
    flow.into_events().into_response()
}

/// Streams a run.
pub(super) fn of_run(head: Head, stream: Stream, watching: Watching, wanted: Wanted) -> Response {
    let ping_every = watching.service.inner.options.ping_every;
    let mut flow = Flow { head, stream, queue: VecDeque::new(), live: None };
    flow.begin(Some(watching.run.about.run_id.as_str()));
    flow.live = Some(Live { watching, wanted, place: 0, has_text: false });
    let ping = KeepAlive::new().interval(ping_every).text("ping");
    flow.into_events().keep_alive(ping).into_response()
}

impl Flow {
    fn into_events(self) -> Sse<impl futures_util::Stream<Item = Result<Event, Infallible>>> {
        let events = stream::unfold(self, |mut flow| async move {
            let data = flow.next().await?;
            Some((Ok::<_, Infallible>(Event::default().data(data)), flow))
        });
        Sse::new(events)
    }

    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(data) = self.queue.pop_front() {
                return Some(data);
            }
            let mut live = self.live.take()?;
            live.watching.run.more_than(live.place).await;
            let (events, is_over) = live.watching.run.events_after(live.place);
            for event in &events {
                live.place = event.id;
                self.tell(&event.name, &event.data, &mut live.has_text);
            }
            if !is_over {
                self.live = Some(live);
                continue;
            }
            match settled(&live.watching, &live.wanted).await {
                Ok((record, reply)) => {
                    self.reason(&super::reply::reasoning(&record, !live.has_text));
                    self.end(&reply);
                }
                // The status line is out already, so the error is a chunk, and nothing comes behind it.
                Err(problem) => self.queue.push_back(error::body(&problem).to_string()),
            }
        }
    }

    /// One event of a run.
    fn tell(&mut self, name: &str, data: &str, has_text: &mut bool) {
        let data: Value = serde_json::from_str(data).unwrap_or_default();
        match name {
            "text" => {
                *has_text = true;
                self.reason(&unmarked(data["text"].as_str().unwrap_or_default()));
            }
            "stage" => self.reason(&format!("{}…\n", data["stage"].as_str().unwrap_or_default())),
            // The words that a person reads of an event are the same as on the terminal.
            _ => {
                if let Some(line) = data["line"].as_str() {
                    self.reason(&format!("{}\n", unmarked(line)));
                }
            }
        }
    }

    fn begin(&mut self, run: Option<&str>) {
        let mut chunk = self.chunk(&json!({ "role": "assistant", "content": "" }), None);
        if let Some(run) = run {
            chunk["ordain"] = json!({ "run_id": run });
        }
        self.queue.push_back(chunk.to_string());
    }

    fn reason(&mut self, text: &str) {
        for piece in pieces(text, REASON_CHARS) {
            let chunk = self.chunk(&json!({ "reasoning_content": piece }), None);
            self.queue.push_back(chunk.to_string());
        }
    }

    fn end(&mut self, reply: &Reply) {
        for piece in pieces(&reply.content, PIECE_CHARS) {
            let chunk = self.chunk(&json!({ "content": piece }), None);
            self.queue.push_back(chunk.to_string());
        }
        let mut last = self.chunk(&json!({}), Some(reply.finish_reason()));
        if let Some(ordain) = &reply.ordain {
            last["ordain"] = ordain.clone();
        }
        self.queue.push_back(last.to_string());
        if self.stream.has_usage {
            let mut chunk = self.chunk(&json!({}), None);
            chunk["choices"] = json!([]);
            chunk["usage"] = usage(reply.usage);
            self.queue.push_back(chunk.to_string());
        }
        self.queue.push_back("[DONE]".to_owned());
    }

    fn chunk(&self, delta: &Value, finish_reason: Option<&str>) -> Value {
        let mut chunk = json!({ "id": self.head.id, "object": "chat.completion.chunk", "created": self.head.created,
            "model": self.head.model, "system_fingerprint": fingerprint(),
            "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason }] });
        if self.stream.has_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    }
}

/// A text in pieces, each of whole characters.
fn pieces(text: &str, chars: usize) -> impl Iterator<Item = String> {
    let mut letters = text.chars().peekable();
    std::iter::from_fn(move || {
        letters.peek()?;
        Some(letters.by_ref().take(chars).collect())
    })
}
