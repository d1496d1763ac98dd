//! Sessions: a cell kept alive across the jobs of one conversation, never shared with another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::cell::Cell;
use crate::error::CellError;
use crate::zygote::lock;

/// The cell of a session, if it has one; jobs of one session run one after the other.
type Kept = Arc<tokio::sync::Mutex<Option<Cell>>>;

/// The open sessions of an executor.
#[derive(Debug)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<String, Kept>>,
    open_max: usize,
}

impl Sessions {
    pub(crate) fn new(open_max: usize) -> Self {
        Self { open: Mutex::default(), open_max }
    }

    /// The session of that name, opened if there is none.
    pub(crate) fn get(&self, name: &str) -> Result<Kept, CellError> {
        let mut open = lock(&self.open);
        if let Some(kept) = open.get(name) {
            return Ok(Arc::clone(kept));
        }
        if open.len() >= self.open_max {
            return Err(CellError::Sessions { open: open.len() });
        }
        let kept = Kept::default();
        open.insert(name.to_owned(), Arc::clone(&kept));
        Ok(kept)
    }

    /// Forgets a session whose cell is gone.
    pub(crate) fn forget(&self, name: &str) {
        lock(&self.open).remove(name);
    }

    /// Ends a session and its cell.
    pub(crate) async fn end(&self, name: &str) -> bool {
        let kept = lock(&self.open).remove(name);
        match kept {
            Some(kept) => {
                if let Some(mut cell) = kept.lock().await.take() {
                    cell.end().await;
                }
                true
            }
            None => false,
        }
    }

    /// Ends all of them.
    pub(crate) async fn close(&self) {
        let names: Vec<String> = lock(&self.open).keys().cloned().collect();
        for name in names {
            self.end(&name).await;
        }
    }
}
