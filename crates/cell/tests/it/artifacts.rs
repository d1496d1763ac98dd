//! Artifacts: what code leaves is taken safely, described truly and saved whole.

use std::os::unix::fs::PermissionsExt;

use ordain_cell::{Artifact, Execution, NoHost};
use ordain_types::Cause;

use crate::world::{Folder, World, job, printed};

fn names(execution: &Execution) -> Vec<&str> {
    execution.artifacts.iter().map(|artifact| artifact.name.as_str()).collect()
}

fn refusals(execution: &Execution) -> Vec<(&str, &str)> {
    execution.refused.iter().map(|refusal| (refusal.name.as_str(), refusal.reason.as_str())).collect()
}

async fn artifact(world: &World, name: &str, content: &str) -> Artifact {
    let code = format!("(artifacts / {name:?}).write_bytes({content})");
    let mut execution = world.run(&code).await;
    assert_eq!(execution.cause, Cause::Ok, "{execution:?}");
    execution.artifacts.remove(0)
}

#[tokio::test]
async fn files_in_the_artifacts_folder_come_back_with_size_type_and_hash() {
    let world = World::new();
    let code = "(artifacts / 'b.txt').write_text('hello')\nopen('artifacts/a.json', 'w').write('{}')\n\
                open('/work/artifacts/empty', 'w').close()";
    let execution = world.run(code).await;
    assert_eq!(names(&execution), ["a.json", "b.txt", "empty"], "in the order of their names");
    let hello = &execution.artifacts[1];
    assert_eq!((hello.bytes, hello.media_type), (5, "text/plain"));
    assert_eq!(hello.sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    assert_eq!(hello.read().unwrap(), b"hello");
    assert_eq!(hello.read().unwrap(), b"hello", "it can be read again");
    assert_eq!((execution.artifacts[0].media_type, execution.artifacts[2].bytes), ("application/json", 0));
    assert!(execution.refused.is_empty() && execution.left_behind.is_empty(), "{execution:?}");
}

#[tokio::test]
async fn media_types_and_warnings_go_by_name_and_content_together() {
    let world = World::new();
    for (name, content, media_type, warnings) in [
        ("plot.png", r"b'\x89PNG\r\n\x1a\n'", "image/png", &[][..]),
        (
            "lie.png",
            "b'<script>alert(1)</script>'",
            "application/octet-stream",
            &["mislabelled", "active-content"],
        ),
        ("page.html", "b'<p>hi'", "text/html", &["active-content"]),
        ("table.csv", r"b'a,b\n1,-2\n'", "text/csv", &[]),
        ("table.csv", r"b'a\n=HYPERLINK(1)\n'", "text/csv", &["formula"]),
        ("book.xlsm", r"b'PK\x03\x04'", "application/vnd.ms-excel.sheet.macroEnabled.12", &["macros"]),
        ("thing.xyz", "b'x'", "application/octet-stream", &[]),
    ] {
        let artifact = artifact(&world, name, content).await;
        assert_eq!((artifact.media_type, &*artifact.warnings), (media_type, warnings), "{name}");
    }
}

#[tokio::test]
async fn what_is_no_plain_file_is_refused_by_name_and_reason() {
    let world = World::new();
    let code = "import os\nos.symlink('/etc/passwd', artifacts / 'link')\nos.symlink('.', artifacts / 'loop')\n\
                os.makedirs(artifacts / 'folder' / 'deep')\n(artifacts / 'folder' / 'a.txt').write_text('x')\n\
                (artifacts / 'good.txt').write_text('good')\nos.link(artifacts / 'good.txt', artifacts / 'same.txt')\n\
                (artifacts / '-rf').write_text('x')\n(artifacts / 'a\\nb').write_text('x')\n\
                open(b'/work/artifacts/\\xff', 'w').close()\n\
                try: os.mkfifo(artifacts / 'pipe')\nexcept OSError: pass\nelse: print('a pipe was made')";
    let execution = world.run(code).await;
    assert_eq!(printed(&execution), "", "Landlock forbids pipes in the work folder");
    assert_eq!(names(&execution), ["good.txt", "same.txt"], "a hard link is a file");
    let expected = [
        ("-rf", "its name starts with a dash"),
        ("a\\u{a}b", "its name contains control or text-direction characters"),
        ("folder", "it is a folder; write files to the artifacts folder itself"),
        ("link", "it is a symbolic link"),
        ("loop", "it is a symbolic link"),
        ("\u{fffd}", "its name is not UTF-8"),
    ];
    assert_eq!(refusals(&execution), expected);
}

#[tokio::test]
async fn a_replaced_artifacts_folder_gives_nothing() {
    let world = World::new();
    for replacement in [
        "os.symlink('/etc', 'artifacts')",
        "os.symlink('/work/data', 'artifacts')",
        "open('artifacts', 'w').write('x')",
        "pass",
    ] {
        let code = format!("import os\nos.rmdir('artifacts')\n{replacement}");
        let execution = world.run(&code).await;
        assert_eq!((execution.cause, names(&execution)), (Cause::Ok, vec![]), "{replacement}");
        let expected = ("artifacts", "the artifacts folder was replaced by something else");
        assert_eq!(refusals(&execution), [expected], "{replacement}");
    }
}

#[tokio::test]
async fn a_sparse_file_counts_with_the_size_it_shows() {
    let world = World::new();
    let code = "with open('artifacts/sparse.bin', 'wb') as file: file.truncate(100_000_000)\n\
                open('artifacts/small.txt', 'w').write('x')";
    let execution = world.run_limited(code, |limits| limits.artifact_bytes = 1_000_000).await;
    assert_eq!((execution.cause, names(&execution)), (Cause::ArtifactLimit, vec!["small.txt"]));
    assert_eq!(refusals(&execution), [("sparse.bin", "artifacts together are larger than 976.6KiB")]);
}

#[tokio::test]
async fn a_flood_of_files_is_cut_and_counted() {
    let world = World::new();
    let code = "for n in range(5000): open(f'artifacts/{n:04}', 'w').close()";
    let execution = world.run(code).await;
    assert_eq!(execution.cause, Cause::ArtifactLimit);
    assert_eq!((execution.artifacts.len(), execution.refused.len()), (100, 100), "both lists are bounded");
    assert_eq!(execution.refused[0].reason, "more than 300 files; the rest was not looked at");
    assert_eq!(execution.detail.as_deref(), Some("it left more than 100 artifacts"));
}

#[tokio::test]
async fn artifacts_of_a_program_that_failed_are_kept() {
    let world = World::new();
    let execution = world.run("(artifacts / 'partial.txt').write_text('so far')\n1 / 0").await;
    assert_eq!((execution.cause, names(&execution)), (Cause::Error, vec!["partial.txt"]));
    let code =
        "(artifacts / 'partial.txt').write_text('so far')\nprint('written', flush=True)\nwhile True: pass";
    let execution = world.run_out_of_time(job(code), &mut NoHost).await;
    assert_eq!(names(&execution), ["partial.txt"]);
    for (end, cause) in
        [("import os\nos._exit(0)", Cause::NoResult), ("import ctypes\nctypes.string_at(0)", Cause::Crash)]
    {
        let execution = world.run(&format!("(artifacts / 'partial.txt').write_text('so far')\n{end}")).await;
        assert_eq!((execution.cause, names(&execution)), (cause, vec!["partial.txt"]));
    }
}

#[tokio::test]
async fn files_left_beside_the_artifacts_folder_are_named() {
    let world = World::new();
    let code =
        "open('report.csv', 'w').close()\nopen('/tmp/cache', 'w').close()\nopen('.hidden', 'w').close()";
    assert_eq!(world.run(code).await.left_behind, ["report.csv"]);
    let both = world.run(&format!("{code}\nopen('artifacts/a.txt', 'w').close()")).await;
    assert_eq!((names(&both), &*both.left_behind), (vec!["a.txt"], &["report.csv".to_owned()][..]));
}

#[tokio::test]
async fn an_artifact_is_saved_under_its_name_with_ordinary_rights() {
    let (world, folder) = (World::new(), Folder::new());
    let artifact = artifact(&world, "a.txt", "b'hello'").await;
    let path = artifact.save(folder.path()).unwrap();
    assert_eq!(path, folder.path().join("a.txt"));
    assert_eq!(std::fs::read(&path).unwrap(), b"hello");
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0, "nothing that comes out is executable");
    assert_eq!(folder.names(), ["a.txt"], "no partial file is left");
}

#[tokio::test]
async fn saving_never_replaces_what_is_there() {
    let (world, folder) = (World::new(), Folder::new());
    let artifact = artifact(&world, "a.txt", "b'new'").await;
    let elsewhere = folder.path().join("elsewhere");
    for taken in ["file", "folder", "dangling link"] {
        let path = folder.path().join("a.txt");
        match taken {
            "file" => std::fs::write(&path, "old").unwrap(),
            "folder" => std::fs::create_dir(&path).unwrap(),
            _ => std::os::unix::fs::symlink(&elsewhere, &path).unwrap(),
        }
        let error = artifact.save(folder.path()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{taken}");
        assert_eq!(folder.names(), ["a.txt"], "{taken}: no partial file is left");
        match taken {
            "file" => {
                assert_eq!(std::fs::read(&path).unwrap(), b"old");
                std::fs::remove_file(&path).unwrap();
            }
            "folder" => std::fs::remove_dir(&path).unwrap(),
            _ => assert!(!elsewhere.exists(), "a link is not followed"),
        }
    }
}

#[tokio::test]
async fn artifacts_of_the_same_content_can_be_saved_at_once() {
    let (world, folder) = (World::new(), Folder::new());
    let code = "for n in range(40): (artifacts / f'{n}.bin').write_bytes(bytes(100_000))";
    let execution = world.run(code).await;
    let path = folder.path();
    std::thread::scope(|scope| {
        let saving: Vec<_> =
            execution.artifacts.iter().map(|artifact| scope.spawn(|| artifact.save(path))).collect();
        for saved in saving {
            saved.join().unwrap().unwrap();
        }
    });
    assert_eq!(folder.names().len(), 40);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_to_is_an_error_and_no_file() {
    let (world, folder) = (World::new(), Folder::new());
    let artifact = artifact(&world, "a.txt", "b'x'").await;
    assert_eq!(
        artifact.save(&folder.path().join("missing")).unwrap_err().kind(),
        std::io::ErrorKind::NotFound
    );
    let file = folder.file("file", "");
    assert_eq!(artifact.save(&file).unwrap_err().kind(), std::io::ErrorKind::NotADirectory);
    assert_eq!(folder.names(), ["file"]);
}
