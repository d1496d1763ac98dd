//! A folder on disk is there for an executor that is given one, holds what its quota says, and leads nowhere else.

use std::os::unix::fs::PermissionsExt as _;

use ordain_cell::Scratch;
use ordain_types::Cause;

use crate::world::{Folder, World, printed};

/// A world whose cells may write so much to a folder on disk.
fn world_with(folder: &Folder, bytes: u64) -> World {
    let path = folder.path().join("scratch");
    std::fs::create_dir_all(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
    World::with(|options| options.scratch = Some(Scratch { folder: path, bytes }))
}

#[tokio::test]
async fn a_cell_writes_more_to_disk_than_fits_into_its_work_folder() {
    let folder = Folder::new();
    let world = world_with(&folder, 1 << 30);
    let code = "\
import os
with open('/scratch/rows', 'wb') as file:
    for _ in range(80):
        file.write(bytes(1 << 20))
print(os.stat('/scratch/rows').st_size >> 20)
os.unlink('/scratch/rows')
";
    let execution = world.run_limited(code, |limits| limits.memory_bytes = 64 << 20).await;
    assert_eq!(printed(&execution), "80\n");
}

#[tokio::test]
async fn who_writes_more_to_disk_than_allowed_is_ended_with_a_named_cause() {
    let folder = Folder::new();
    let world = world_with(&folder, 4 << 20);
    let code = "n = 0\nwhile True:\n    n += 1\n    open(f'/scratch/{n}', 'wb').write(bytes(1 << 16))\n";
    let execution = world.run(code).await;
    assert_eq!(execution.cause, Cause::DiskLimit, "{execution:?}");
    assert_eq!(execution.detail.as_deref(), Some("it wrote more than 4MiB to disk"));
}

#[tokio::test]
async fn the_folder_on_disk_takes_plain_files_and_nothing_else() {
    let folder = Folder::new();
    let world = world_with(&folder, 1 << 20);
    let code = "\
import os
attempts = {
    'folder': lambda: os.mkdir('/scratch/a'),
    'link': lambda: os.symlink('/etc/passwd', '/scratch/b'),
    'pipe': lambda: os.mkfifo('/scratch/c'),
    'above': lambda: open('/scratch/../above', 'w'),
    'outside': lambda: open('/outside', 'w'),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name, 'worked')
    except OSError:
        pass
";
    assert_eq!(printed(&world.run(code).await), "");
    assert_eq!(std::fs::read_dir(folder.path().join("scratch")).unwrap().count(), 0);
}

#[tokio::test]
async fn other_cells_see_no_folder_on_disk() {
    let code = "import os\nprint(os.path.lexists('/scratch'))";
    assert_eq!(printed(&World::new().run(code).await), "False\n");
}
