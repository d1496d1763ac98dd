//! Keeps the files of this node as they are published, as far as that can be done while it serves.
//!
//! Files of `data` are taken up at once: every run of checks reads them anew. Policy, rules and settings are read at the
//! start, and what goes on was begun under them, so that they wait for a restart, whose moment the operator chooses.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ordain_workspace::{Followed, Version, VersionError};

use crate::http::service::Service;

/// How often a newer version is looked for.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How long to wait after it could not be taken up: all files of `data` are read for that.
const TROUBLE_WAIT: Duration = Duration::from_mins(1);

/// The version of the workspace's files that this node has.
#[derive(Debug)]
pub(crate) struct HeldVersion(Mutex<Version>);

impl HeldVersion {
    pub(crate) fn new(version: &Version) -> Self {
        Self(Mutex::new(version.clone()))
    }

    pub(super) fn get(&self) -> Version {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, version: Version) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = version;
    }
}

impl Service {
    pub(super) async fn keep_following(&self) {
        let mut told = 0;
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            match self.follow_version().await {
                Ok(Some(newest)) if newest != told => {
                    let what = format!(
                        "version {newest} of the workspace is published; restart this node to take it in"
                    );
                    self.inner.log.event(&what);
                    told = newest;
                }
                Ok(_) => {}
                Err(error) => {
                    self.trouble(&error);
                    tokio::time::sleep(TROUBLE_WAIT).await;
                }
            }
        }
    }

    /// Takes up changed files of `data`. Gives the newest version, if that takes a restart.
    async fn follow_version(&self) -> Result<Option<u64>, VersionError> {
        let Some(checks) = &self.inner.options.checks else { return Ok(None) };
        let here = self.inner.version.get();
        match here.follow(&checks.workspace().root, self.engine().store()).await? {
            Followed::Newest => Ok(None),
            Followed::NeedsRestart { version } => Ok(Some(version)),
            Followed::Data(arrival) => {
                let version = checks.take_up(arrival).await?;
                let difference = version.difference(&here).unwrap_or_default();
                self.inner
                    .log
                    .event(&format!("took up version {} of the workspace; {difference}", version.number));
                self.inner.version.set(version);
                Ok(None)
            }
        }
    }
}
