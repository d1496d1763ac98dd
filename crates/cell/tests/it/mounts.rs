//! Mounted files are seen in place by every cell of an executor, and nobody can write to them.

use std::os::unix::fs::PermissionsExt;

use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::{CellError, Executor as _, InputFile, LocalExecutor, LocalOptions, Shared, Sharing};
use ordain_types::{Cause, Limits};

use crate::world::{Folder, World, input, job, printed, raised};

/// A world whose cells see these files.
fn world_with(mounts: Vec<InputFile>) -> World {
    World::with(|options| options.mounts = mounts)
}

#[track_caller]
fn refusal(mounts: Vec<InputFile>) -> String {
    let mut options = LocalOptions::new(DataDir::from_env().unwrap());
    options.mounts = mounts;
    let error = LocalExecutor::new(options).unwrap_err();
    assert!(matches!(error, CellError::File { .. }), "{error}");
    assert!(error.hint().is_some());
    error.to_string()
}

#[tokio::test]
async fn every_cell_sees_the_mounted_files_beside_its_own() {
    let folder = Folder::new();
    let world = world_with(vec![
        input(&folder.file("orders.arrow", "table")),
        input(&folder.file("Größe (1).csv", "groß")),
    ]);
    let code = "for name in sorted(files):\n    print(name, files[name], files[name].read_text())";
    let shown = "Größe (1).csv /mounts/Größe (1).csv groß\norders.arrow /mounts/orders.arrow table\n";
    assert_eq!(printed(&world.run(code).await), shown);
    let mut with_own = job(code);
    with_own.files = vec![input(&folder.file("own.txt", "mine"))];
    let execution = world.run_job(with_own).await.unwrap();
    assert_eq!(printed(&execution), format!("{shown}own.txt /work/data/own.txt mine\n"));
    assert_eq!(printed(&world.run_in("s", code).await), shown, "a session sees them too");
}

#[tokio::test]
async fn a_mounted_file_cannot_be_written_replaced_or_removed() {
    let folder = Folder::new();
    let path = folder.file("a.txt", "original");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let world = world_with(vec![input(&path)]);
    let code = "\
import os
path = files['a.txt']
attempts = {
    'write': lambda: open(path, 'w'),
    'append': lambda: open(path, 'a'),
    'update': lambda: open(path, 'r+b'),
    'remove': lambda: os.remove(path),
    'rename': lambda: os.rename(path, '/mounts/b.txt'),
    'replace': lambda: os.replace('/work/tmp', path),
    'mode': lambda: os.chmod(path, 0o777),
    'times': lambda: os.utime(path),
    'truncate': lambda: os.truncate(path, 0),
    'new file': lambda: open('/mounts/new', 'w'),
    'execute': lambda: os.execv(path, ['a']),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name, 'WORKED')
    except OSError as error:
        pass
print(path.read_text())
";
    assert_eq!(printed(&world.run(code).await), "original\n");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "original");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o666);
}

#[tokio::test]
async fn a_file_larger_than_every_limit_is_mapped_without_using_memory() {
    let folder = Folder::new();
    let path = folder.path().join("large.bin");
    let bytes: u64 = 3 << 30;
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(bytes).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"end", bytes - 3).unwrap();
    let world = world_with(vec![input(&path)]);
    let code = "\
import mmap
with open(files['large.bin'], 'rb') as file:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        print(len(mapped), mapped[-3:], mapped[0])
";
    let mut mapping = job(code);
    mapping.limits = Limits { memory_bytes: 64 << 20, file_bytes: 1 << 20, ..Limits::default() };
    let execution = world.run_job(mapping).await.unwrap();
    assert_eq!(printed(&execution), "3221225472 b'end' 0\n");
    let mut reading = job("files['large.bin'].read_bytes()");
    reading.limits = Limits { memory_bytes: 64 << 20, ..Limits::default() };
    let execution = world.run_job(reading).await.unwrap();
    assert_eq!(execution.cause, Cause::MemoryLimit, "memory of its own is limited as ever: {execution:?}");
}

#[tokio::test]
async fn a_link_is_followed_on_the_host_and_the_rest_of_its_folder_stays_hidden() {
    let folder = Folder::new();
    folder.file("secret.txt", "secret");
    let target = folder.file("target.txt", "content");
    let link = folder.path().join("link.txt");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let world = world_with(vec![input(&link)]);
    let code = "import os\npath = files['link.txt']\n\
                print(path.read_text(), os.path.islink(path), os.listdir('/mounts'))";
    assert_eq!(printed(&world.run(code).await), "content False ['link.txt']\n");
    let hidden = format!("open({:?})", folder.path().join("secret.txt"));
    assert_eq!(raised(&world.run(&hidden).await).0, "FileNotFoundError");
}

#[tokio::test]
async fn what_cannot_be_mounted_is_refused_before_anything_starts() {
    let folder = Folder::new();
    let named = |name: &str| InputFile { name: name.to_owned(), path: folder.file("content", "x") };
    for name in ["", "..", "../a", "a/b", "a\nb"] {
        let told = refusal(vec![named(name)]);
        assert!(told.ends_with("has a name that is not plain"), "{name:?}: {told}");
    }
    assert_eq!(refusal(vec![named("a"), named("a")]), "input file `a` is given twice");
    let many = (0..1001).map(|n| named(&n.to_string())).collect();
    assert!(refusal(many).contains("is one of 1001 mounts; 1000 is the limit"));
    let at = |path: std::path::PathBuf| vec![InputFile { name: "a".to_owned(), path }];
    let told = refusal(at(folder.path().join("missing")));
    assert_eq!(told, "input file `a` cannot be read: No such file or directory (os error 2)");
    assert_eq!(refusal(at(folder.path().to_owned())), "input file `a` cannot be read: it is a folder");
    assert_eq!(refusal(at("/dev/zero".into())), "input file `a` cannot be read: it is not an ordinary file");
    if rustix::process::geteuid().is_root() {
        let private = folder.file("private", "x");
        std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(refusal(at(private)).contains("can be read by its owner alone"));
    }
}

#[tokio::test]
async fn a_thousand_files_can_be_mounted() {
    let folder = Folder::new();
    let mounts = (0..1000).map(|n| input(&folder.file(&format!("{n:04}.txt"), n.to_string()))).collect();
    let world = world_with(mounts);
    let code = "print(len(files), files['0999.txt'].read_text())";
    assert_eq!(printed(&world.run(code).await), "1000 999\n");
    assert!(world.executor.zygote_process(Profile::Core).await.is_some());
}

#[tokio::test]
async fn files_are_copied_where_that_is_quicker_than_showing_them() {
    let folder = Folder::new();
    let executor = LocalExecutor::new(LocalOptions::new(DataDir::from_env().unwrap())).unwrap();
    let sharing = |mib: u64, cells: usize| {
        let path = folder.file("table.arrow", "");
        // It has a size and takes no room.
        std::fs::File::options().write(true).open(&path).unwrap().set_len(mib << 20).unwrap();
        let files = vec![input(&path)];
        executor.sharing(Shared { files, running_max: 2, jobs: cells, cells, scratch: None }).unwrap()
    };
    assert!(matches!(sharing(60, 2), Sharing::Copied));
    assert!(matches!(sharing(0, 1000), Sharing::Copied));
    assert!(matches!(sharing(60, 10), Sharing::Shown(_)), "many copies take longer than one zygote");
    assert!(matches!(sharing(300, 1), Sharing::Shown(_)), "a cell has no room for it");
}
