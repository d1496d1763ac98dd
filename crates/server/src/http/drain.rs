//! Bodies that nobody read to their end.
//!
//! A request can be answered before its body is read: the route is not there, the key is wrong. What is left of the body
//! then stands between this request and the next one on the same connection, and a client that sends the next one finds
//! the connection closed under it. So a short rest is read and thrown away, and before a long one the answer says that
//! the connection ends.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};

use super::frame::Context as RequestContext;

/// The longest rest that is read.
const REST_BYTES_MAX: usize = 256 << 10;
/// How long reading it may take.
const REST_TIME_MAX: Duration = Duration::from_secs(1);

/// A request's body, which its route reads, and of which the rest can be read behind it.
#[derive(Debug, Clone)]
pub(crate) struct Rest {
    body: Arc<Mutex<Body>>,
    context: RequestContext,
    /// The client sends its body only on request.
    waits: bool,
}

impl Rest {
    /// Takes part in reading a request's body. `None` if it has none.
    pub(crate) fn of(request: Request, context: &RequestContext) -> (Request, Option<Self>) {
        let (parts, body) = request.into_parts();
        if body.is_end_stream() {
            return (Request::from_parts(parts, body), None);
        }
        let waits = parts.headers.contains_key(header::EXPECT);
        let rest = Self { body: Arc::new(Mutex::new(body)), context: context.clone(), waits };
        (Request::from_parts(parts, Body::new(rest.clone())), Some(rest))
    }

    /// Makes sure that the connection is fit for the next request, or says that there will be none.
    pub(crate) async fn clear(mut self, response: &mut Response) {
        let is_slow = response.status() == StatusCode::REQUEST_TIMEOUT;
        let is_clear = self.is_end_stream()
            || (!self.waits
                && !is_slow
                && tokio::time::timeout(REST_TIME_MAX, self.read()).await.unwrap_or_default());
        if !is_clear {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }

    /// Reads the rest, if it is short. Gives whether the end was reached.
    async fn read(&mut self) -> bool {
        let mut bytes = 0;
        while let Some(frame) = self.frame().await {
            let Ok(frame) = frame else { return false };
            bytes += frame.data_ref().map_or(0, Bytes::len);
            if bytes > REST_BYTES_MAX {
                return false;
            }
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Body> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpBody for Rest {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut *self.lock()).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Err(error) = self.context.takes(frame.data_ref().map_or(0, Bytes::len))
        {
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.lock().size_hint()
    }
}
