//! Input files are copies under plain names, and what cannot be given is refused before anything runs.

use std::os::unix::fs::PermissionsExt;

use ordain_cell::{CellError, InputFile, Job};
use ordain_types::Limits;

use crate::world::{Folder, World, input, job, printed, raised};

fn job_with(code: &str, files: Vec<InputFile>) -> Job {
    Job { files, ..job(code) }
}

fn named(name: &str, folder: &Folder) -> InputFile {
    InputFile { name: name.to_owned(), path: folder.file("content", "x") }
}

/// The messages about wrong files.
async fn refusal(world: &World, files: Vec<InputFile>, limits: Limits) -> String {
    let job = Job { limits, ..job_with("print('must not run')", files) };
    let error = world.run_job(job).await.unwrap_err();
    assert!(matches!(error, CellError::File { .. }), "{error}");
    assert!(error.hint().is_some());
    error.to_string()
}

#[tokio::test]
async fn code_reads_its_files_by_name() {
    let (world, folder) = (World::new(), Folder::new());
    let files = vec![
        input(&folder.file("sales.csv", "a,b\n1,2\n")),
        input(&folder.file("Größe (1).txt", "groß")),
        input(&folder.file("empty.bin", "")),
        input(&folder.file(".hidden", "h")),
    ];
    let code = "for name in sorted(files):\n    print(name, files[name], repr(files[name].read_text()))\n\
                import os\nprint(sorted(os.listdir('data')))";
    let execution = world.run_job(job_with(code, files)).await.unwrap();
    let expected = ".hidden /work/data/.hidden 'h'\nGröße (1).txt /work/data/Größe (1).txt 'groß'\n\
                    empty.bin /work/data/empty.bin ''\nsales.csv /work/data/sales.csv 'a,b\\n1,2\\n'\n\
                    ['.hidden', 'Größe (1).txt', 'empty.bin', 'sales.csv']\n";
    assert_eq!(printed(&execution), expected);
    assert_eq!(printed(&world.run("print(files)").await), "{}\n", "without files there is an empty mapping");
}

#[tokio::test]
async fn a_large_file_comes_whole() {
    let (world, folder) = (World::new(), Folder::new());
    let content: Vec<u8> = (0..20_000_000_u32).map(|n| (n % 251) as u8).collect();
    let file = input(&folder.file("large.bin", &content));
    let code = "data = files['large.bin'].read_bytes()\n\
                print(len(data), data == bytes(n % 251 for n in range(251)) * (len(data) // 251) + \
                bytes(n % 251 for n in range(len(data) % 251)))";
    let execution = world.run_job(job_with(code, vec![file])).await.unwrap();
    assert_eq!(printed(&execution), "20000000 True\n");
}

#[tokio::test]
async fn a_copy_is_read_only_and_the_original_stays_as_it_is() {
    let (world, folder) = (World::new(), Folder::new());
    let path = folder.file("a.txt", "original");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let execution =
        world.run_job(job_with("files['a.txt'].write_text('new')", vec![input(&path)])).await.unwrap();
    assert_eq!(raised(&execution).0, "PermissionError");

    // Whatever code does to its copy, and it may do everything, is done to a copy.
    let code = "import os\npath = files['a.txt']\nos.chmod(path, 0o600)\npath.write_text('new')\nos.remove(path)\n\
                path.write_text('again')\nprint(path.read_text())";
    let execution = world.run_job(job_with(code, vec![input(&path)])).await.unwrap();
    assert_eq!(printed(&execution), "again\n");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "original");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(folder.names(), ["a.txt"]);
}

#[tokio::test]
async fn a_link_is_followed_on_the_host_and_nowhere_else() {
    let (world, folder) = (World::new(), Folder::new());
    folder.file("target.txt", "content");
    let link = folder.path().join("link.txt");
    std::os::unix::fs::symlink("target.txt", &link).unwrap();
    let code = "import os\nprint(files['link.txt'].read_text(), os.path.islink(files['link.txt']))";
    let execution = world.run_job(job_with(code, vec![input(&link)])).await.unwrap();
    assert_eq!(printed(&execution), "content False\n", "the cell gets what the user pointed at");
}

#[tokio::test]
async fn names_that_are_not_plain_or_given_twice_are_refused() {
    let (world, folder) = (World::new(), Folder::new());
    for name in ["", ".", "..", "../a", "/etc/passwd", "a/b", "a\\b", "a\nb", "-rf", "\u{202e}gpj.exe", " a"]
    {
        let told = refusal(&world, vec![named(name, &folder)], Limits::default()).await;
        assert!(told.ends_with("has a name that is not plain"), "{name:?}: {told}");
        assert!(!told.contains('\n') && !told.contains('\u{202e}'), "{told:?}");
    }
    let long = refusal(&world, vec![named(&"x".repeat(256), &folder)], Limits::default()).await;
    assert!(long.len() < 200, "a long name is not repeated whole: {long}");
    let twice = vec![named("a.txt", &folder), named("a.txt", &folder)];
    assert_eq!(refusal(&world, twice, Limits::default()).await, "input file `a.txt` is given twice");
    let many = (0..1001).map(|n| named(&format!("{n}"), &folder)).collect();
    let told = refusal(&world, many, Limits::default()).await;
    assert!(told.contains("is one of 1001 files; 1000 is the limit"), "{told}");
}

#[tokio::test]
async fn what_is_no_readable_file_is_refused() {
    let (world, folder) = (World::new(), Folder::new());
    let fifo = folder.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
    for (path, problem) in [
        (folder.path().join("missing.csv"), "cannot be read: No such file or directory (os error 2)"),
        (folder.path().to_owned(), "cannot be read: it is a folder"),
        (fifo, "cannot be read: it is not an ordinary file"),
        ("/dev/zero".into(), "cannot be read: it is not an ordinary file"),
    ] {
        let file = InputFile { name: "a.csv".to_owned(), path };
        let told = refusal(&world, vec![file], Limits::default()).await;
        assert_eq!(told, format!("input file `a.csv` {problem}"));
    }
}

#[tokio::test]
async fn files_that_are_too_large_are_refused_by_their_size_alone() {
    let (world, folder) = (World::new(), Folder::new());
    let sparse = folder.path().join("sparse.bin");
    std::fs::File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(
        refusal(&world, vec![input(&sparse)], Limits::default()).await,
        "input file `sparse.bin` has 1024GiB, more than the limit of 50MiB for one file"
    );
    let files = || vec![input(&folder.file("a.bin", [0; 3000])), input(&folder.file("b.bin", [0; 3000]))];
    let limits = Limits { file_bytes: 2999, ..Limits::default() };
    let told = refusal(&world, files(), limits).await;
    assert_eq!(told, "input file `a.bin` has 2.9KiB, more than the limit of 2.9KiB for one file");
    let limits = Limits { work_bytes: Some(5000), ..Limits::default() };
    let told = refusal(&world, files(), limits).await;
    assert_eq!(told, "input file `b.bin` does not fit: all files together may have 4.9KiB");
}

#[tokio::test]
async fn files_that_do_not_fit_beside_the_folder_s_own_needs_are_refused() {
    // Each file takes whole pages, so two files of one byte do not fit into one page.
    let (world, folder) = (World::new(), Folder::new());
    let files = (0..3).map(|n| input(&folder.file(&format!("{n}.txt"), "x"))).collect();
    let limits = Limits { work_bytes: Some(4096), ..Limits::default() };
    let told = refusal(&world, files, limits).await;
    assert!(told.contains("could not be copied into the cell: No space left on device"), "{told}");
    assert_eq!(printed(&world.run("print('next')").await), "next\n");
}

#[tokio::test]
async fn the_work_folder_ends_where_its_limit_is() {
    let world = World::new();
    let code = "try:\n    with open('/tmp/fill', 'wb') as file:\n        while True: file.write(bytes(100_000))\n\
                except OSError as error:\n    print(error.errno)\n\
                import os\nprint(os.path.getsize('/tmp/fill') <= 4_000_000)";
    let execution = world.run_limited(code, |limits| limits.work_bytes = Some(4_000_000)).await;
    let text = printed(&execution);
    assert!(text == "28\nTrue\n" || text == "27\nTrue\n", "no space, or the file too large: {text}");
}
