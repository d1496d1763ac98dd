//! Sends spans to a collector, from a bounded queue, by a task of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::context::TraceContext;
use super::json;
use super::settings::{TraceSettings, TraceSettingsError};
use super::span::Span;
use crate::figures::Gauge;

/// Spans in one request to the collector.
const BATCH_MAX: usize = 512;
/// How often a batch is sent before it is given up, and how long the first pause is; later ones are twice as long.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
/// The most of a collector's answer that is read.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Takes spans, and never holds up who gives them. Clones share one queue. Without settings it takes none.
#[derive(Debug, Clone, Default)]
pub struct Tracer(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    queue: mpsc::Sender<Item>,
    counts: Arc<Counts>,
    share: f64,
    asks_caller: bool,
}

#[derive(Debug, Default)]
struct Counts {
    exported: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

enum Item {
    Span(Box<Span>),
    Flush(oneshot::Sender<()>),
}

impl Tracer {
    /// Begins to send what it is given. Has to be called inside a tokio runtime.
    pub fn new(settings: TraceSettings) -> Result<Self, TraceSettingsError> {
        let client = reqwest::Client::builder()
            .timeout(settings.timeout)
            .redirect(reqwest::redirect::Policy::none())
            .build();
        let client = client.map_err(|error| TraceSettingsError::endpoint(&error))?;
        let (queue, items) = mpsc::channel(settings.queue_max);
        let counts = Arc::new(Counts::default());
        let (share, asks_caller) = (settings.share, settings.asks_caller);
        tokio::spawn(Exporter { client, settings, counts: Arc::clone(&counts) }.work(items));
        Ok(Self(Some(Arc::new(Inner { queue, counts, share, asks_caller }))))
    }

    /// Whether spans are sent at all.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The place of a request in its trace: below its caller's, or the first of a new trace. Without a collector a
    /// caller's trace is still handed on.
    pub(crate) fn place(&self, caller: Option<&TraceContext>) -> Option<TraceContext> {
        let Some(inner) = &self.0 else { return caller.map(TraceContext::child) };
        match caller {
            Some(caller) if inner.asks_caller => Some(caller.child()),
            Some(caller) => {
                let is_sampled = is_chosen(caller.trace_id, inner.share);
                Some(TraceContext { is_sampled, ..caller.child() })
            }
            None => {
                let root = TraceContext::root(true);
                Some(TraceContext { is_sampled: is_chosen(root.trace_id, inner.share), ..root })
            }
        }
    }

    /// Takes a span. If the queue is full it is dropped and counted.
    pub(crate) fn take(&self, span: Span) {
        let Some(inner) = &self.0 else { return };
        if span.context.is_sampled && inner.queue.try_send(Item::Span(Box::new(span))).is_err() {
            inner.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until what was taken has been sent or given up, but no longer than so.
    pub async fn flush(&self, time: Duration) {
        let Some(inner) = &self.0 else { return };
        let (done, is_done) = oneshot::channel();
        let flush = async {
            if inner.queue.send(Item::Flush(done)).await.is_ok() {
                let _ = is_done.await;
            }
        };
        let _ = tokio::time::timeout(time, flush).await;
    }

    /// How many spans came to which end, for `/metrics`.
    pub(crate) fn figures(&self) -> Vec<Gauge> {
        let Some(inner) = &self.0 else { return Vec::new() };
        let counts = &inner.counts;
        [("exported", &counts.exported), ("dropped", &counts.dropped), ("failed", &counts.failed)]
            .map(|(result, count)| {
                let value = count.load(Ordering::Relaxed).to_string();
                ("ordain_trace_spans_total", format!("result=\"{result}\""), value)
            })
            .into()
    }
}

/// Whether a trace belongs to the share that is recorded. All tools that see the same trace decide alike.
#[expect(clippy::cast_precision_loss, reason = "a share of traces need not be exact to the last of them")]
fn is_chosen(trace_id: [u8; 16], share: f64) -> bool {
    let number = trace_id[9..].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    share >= 1.0 || (number as f64) < share * (1_u64 << 56) as f64
}

struct Exporter {
    client: reqwest::Client,
    settings: TraceSettings,
    counts: Arc<Counts>,
}

impl Exporter {
    async fn work(self, mut items: mpsc::Receiver<Item>) {
        while let Some(first) = items.recv().await {
            let mut asked = Vec::new();
            let mut batch = Vec::new();
            take(first, &mut batch, &mut asked);
            let gathered = tokio::time::sleep(self.settings.gather);
            tokio::pin!(gathered);
            while batch.len() < BATCH_MAX && asked.is_empty() {
                tokio::select! {
                    biased;
                    item = items.recv() => match item {
                        Some(item) => take(item, &mut batch, &mut asked),
                        None => break,
                    },
                    () = &mut gathered => break,
                }
            }
            self.send(&batch).await;
            for done in asked {
                let _ = done.send(());
            }
        }
    }

    async fn send(&self, batch: &[Span]) {
        if batch.is_empty() {
            return;
        }
        let count = batch.len() as u64;
        let body = json::request(&self.settings.resource, batch).to_string();
        let mut pause = PAUSE;
        for tried in 1..=TRIES {
            match self.post(body.clone()).await {
                Sent::Taken { refused } => {
                    self.counts.exported.fetch_add(count.saturating_sub(refused), Ordering::Relaxed);
                    self.counts.failed.fetch_add(refused.min(count), Ordering::Relaxed);
                    return;
                }
                Sent::Later if tried < TRIES => tokio::time::sleep(pause).await,
                Sent::Later | Sent::Never => break,
            }
            pause *= 2;
        }
        self.counts.failed.fetch_add(count, Ordering::Relaxed);
    }

    async fn post(&self, body: String) -> Sent {
        let mut request =
            self.client.post(&self.settings.endpoint).header("content-type", "application/json").body(body);
        for (name, value) in &self.settings.headers {
            request = request.header(name, value);
        }
        match request.send().await {
            Ok(answer) if answer.status().is_success() => Sent::Taken { refused: refused(answer).await },
            Ok(answer) if matches!(answer.status().as_u16(), 429 | 502 | 503 | 504) => Sent::Later,
            Ok(_) => Sent::Never,
            Err(error) if error.is_builder() => Sent::Never,
            Err(_) => Sent::Later,
        }
    }
}

enum Sent {
    Taken { refused: u64 },
    Later,
    Never,
}

/// How many spans the collector did not want.
async fn refused(mut answer: reqwest::Response) -> u64 {
    let mut bytes = Vec::new();
    while let Ok(Some(piece)) = answer.chunk().await {
        bytes.extend_from_slice(&piece);
        if bytes.len() > ANSWER_BYTES_MAX {
            return 0;
        }
    }
    let said: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let refused = &said["partialSuccess"]["rejectedSpans"];
    refused.as_u64().or_else(|| refused.as_str()?.parse().ok()).unwrap_or(0)
}

fn take(item: Item, batch: &mut Vec<Span>, asked: &mut Vec<oneshot::Sender<()>>) {
    match item {
        Item::Span(span) => batch.push(*span),
        Item::Flush(done) => asked.push(done),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_traces_is_chosen_by_their_ids_alone() {
        let mut low = [0; 16];
        let high = [255; 16];
        low[0] = 255;
        assert!(is_chosen(high, 1.0) && is_chosen(low, 1.0));
        assert!(!is_chosen(high, 0.5) && is_chosen(low, 0.5));
        assert!(!is_chosen(low, 0.0));
        let chosen = (0..1000).filter(|_| is_chosen(TraceContext::root(true).trace_id, 0.3)).count();
        assert!((150..450).contains(&chosen), "{chosen}");
    }

    #[test]
    fn without_a_collector_a_callers_trace_is_handed_on_and_none_is_begun() {
        let tracer = Tracer::default();
        assert_eq!(tracer.place(None), None);
        let caller = TraceContext::root(true);
        assert_eq!(tracer.place(Some(&caller)).unwrap().trace_id, caller.trace_id);
        assert!(tracer.figures().is_empty());
    }
}
