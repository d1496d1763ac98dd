//! The example's shop in a folder of its own, with warm cells.

use std::path::Path;
use std::sync::Arc;

use ordain_cell::profile::Profile;
use ordain_cell::{CellError, LocalExecutor, LocalOptions};
use ordain_engine::{Engine, EngineSettings};
use ordain_files::open_store;
use ordain_workspace::{Workspace, init};
use serde_json::Value;
use tempfile::TempDir;

/// As many as a server has.
const IDLE_CELLS: usize = 4;
/// More of everything than is sold.
const STOCK: u64 = 1_000_000;

/// A shop to ask. Its folder goes with it.
pub(crate) struct Shop {
    _folder: TempDir,
    pub(crate) workspace: Workspace,
    pub(crate) executor: Arc<LocalExecutor>,
    pub(crate) engine: Engine,
}

impl Shop {
    pub(crate) async fn open() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().join("shop");
        init(&root, Some("sunglasses"))?;
        fill(&root.join("tables/inventory.json"))?;
        let workspace = Workspace::load(&root)?;
        let executor = executor(&workspace, IDLE_CELLS)?;
        executor.warm(Profile::Core).await?;
        let engine =
            Engine::new(open_store(&workspace).await?, executor.clone(), EngineSettings::of(&workspace));
        Ok(Self { _folder: folder, workspace, executor, engine })
    }
}

/// Cells of this machine, as a server of the workspace has them.
pub(crate) fn executor(workspace: &Workspace, idle_cells: usize) -> Result<Arc<LocalExecutor>, CellError> {
    let mut options = LocalOptions::new(workspace.own_packages.data_dir()?);
    options.limits = workspace.limits.clone();
    options.idle_cells = idle_cells;
    options.minimum = workspace.minimum_isolation;
    LocalExecutor::new(options).map(Arc::new)
}

/// Puts more into the shop than its example has, so that nothing runs out.
fn fill(inventory: &Path) -> anyhow::Result<()> {
    let mut rows: Vec<Value> = serde_json::from_slice(&fs_err::read(inventory)?)?;
    for row in &mut rows {
        row["quantity_in_stock"] = STOCK.into();
    }
    Ok(fs_err::write(inventory, serde_json::to_vec(&rows)?)?)
}
