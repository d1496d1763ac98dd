//! The example's shop in a folder of its own, with warm cells.

use std::path::Path;
use std::sync::Arc;

use ordain_cell::LocalExecutor;
use ordain_cell::profile::Profile;
use ordain_engine::{Engine, EngineSettings};
use ordain_files::open_store;
use ordain_workspace::{Workspace, init};
use serde_json::Value;
use tempfile::TempDir;

use crate::commands::serve::IDLE_CELLS;

/// More of everything than is sold.
const STOCK: u64 = 1_000_000;

/// A shop to ask. Its folder goes with it.
pub(super) struct Shop {
    _folder: TempDir,
    pub(super) workspace: Workspace,
    pub(super) executor: Arc<LocalExecutor>,
    pub(super) engine: Engine,
}

impl Shop {
    pub(super) async fn open() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().join("shop");
        init(&root, Some("sunglasses"))?;
        fill(&root.join("tables/inventory.json"))?;
        let workspace = Workspace::load(&root)?;
        let executor = crate::engine::executor(&workspace, IDLE_CELLS, None)?;
        executor.warm(Profile::Core).await?;
        let engine =
            Engine::new(open_store(&workspace).await?, executor.clone(), EngineSettings::of(&workspace));
        Ok(Self { _folder: folder, workspace, executor, engine })
    }
}

/// Puts more into the shop than its example has, so that nothing runs out.
fn fill(inventory: &Path) -> anyhow::Result<()> {
    let mut rows: Vec<Value> = serde_json::from_slice(&fs_err::read(inventory)?)?;
    for row in &mut rows {
        row["quantity_in_stock"] = STOCK.into();
    }
    Ok(fs_err::write(inventory, serde_json::to_vec(&rows)?)?)
}
