//! Sends calls of tools after the commits of their runs, for as long as the server serves.

use std::time::Duration;

use super::service::Service;

/// How often the outbox is looked at while nothing happens here: another process may have put something into it.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl Service {
    /// Sends what may be sent, again and again. Where nothing is ever sent there is nothing to do.
    pub(crate) async fn keep_sending(self) {
        let tools = &self.engine().settings().tools;
        if tools.is_empty() && tools.notify().next().is_none() {
            return;
        }
        let mut changes = self.inner.live.changes();
        loop {
            if let Err(error) = self.engine().deliver().await {
                self.inner.log.trouble("outbox", &error.to_string());
            }
            tokio::select! {
                // The sender lives as long as the service.
                _ = changes.changed() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }
}
