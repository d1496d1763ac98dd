//! Builds a profile's folder and puts it in place, one process at a time.

use std::{
    fs::TryLockError,
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{
    DataDir, Installed, Interpreter, Phase, Profile, ProfileError, Progress,
    install::{self, InstallPaths},
    interpreter, lock,
    manifest::{self, Manifest},
};

/// Ends the names of folders that are being built or on their way out.
const PARTIAL_SUFFIX: &str = ".partial";
/// The lock file's name in a folder that is being built.
const REQUIREMENTS: &str = "requirements.txt";

/// Sets the profile up for the machine's Python, or finds that it is there and sound.
///
/// With `force` it is built anew even so. The folder in use stays in place until the new one is complete. When
/// another process is setting up the same profile, this one waits and then uses what the other built.
pub fn set_up(
    profile: Profile,
    data_dir: &DataDir,
    force: bool,
    progress: &mut dyn Progress,
) -> Result<Installed, ProfileError> {
    // A set-up is the moment to notice that a shim now leads elsewhere.
    let interpreter = interpreter::find_anew(data_dir)?;
    match manifest::read(profile, data_dir, &interpreter) {
        Ok(Some(installed)) if !force => return Ok(installed),
        Err(error @ ProfileError::Lock { .. }) => return Err(error),
        _ => {}
    }
    let root = data_dir.python_root();
    fs_err::create_dir_all(&root).map_err(ProfileError::file(&root))?;
    make_readable(&root)?;
    let name = lock::folder_name(profile, data_dir, &interpreter);
    let began_unix_s = manifest::now_unix_s();
    // Held until the end of this function; the kernel releases it if the process dies.
    let _lock = exclude_others(&root.join(format!(".{name}.lock")), profile, progress)?;
    remove_leftovers(&root, &name)?;

    let in_place = manifest::read(profile, data_dir, &interpreter);
    match in_place {
        // A folder that another process finished while this one waited is as fresh as one built now.
        Ok(Some(installed)) if !force || installed.created_unix_s > began_unix_s => return Ok(installed),
        Ok(_) => {}
        Err(ProfileError::Damaged { what, .. }) => {
            progress.message(&format!("the installed profile is damaged ({what}); building it again"));
        }
        Err(error) => return Err(error),
    }
    let partial = root.join(format!(".{name}.{}{PARTIAL_SUFFIX}", std::process::id()));
    let built = build(profile, data_dir, &interpreter, &partial, progress)
        .and_then(|()| put_in_place(&partial, &root.join(&name)));
    // After success this is the folder that was replaced, after a failure the unfinished one.
    let removed = remove(&partial);
    built?;
    removed?;
    let damaged = || ProfileError::Damaged { profile, folder: root.join(&name), what: "it vanished".into() };
    manifest::read(profile, data_dir, &interpreter)?.ok_or_else(damaged)
}

/// Takes the exclusive lock, after any process that has it.
fn exclude_others(
    path: &Path,
    profile: Profile,
    progress: &mut dyn Progress,
) -> Result<fs_err::File, ProfileError> {
    let failed = |error| ProfileError::file(path)(error);
    let file =
        fs_err::OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            progress.phase(Phase::Waiting, None);
            progress.message(&format!("another process is setting up `{profile}`; waiting for it"));
            file.lock().map_err(failed)?;
            Ok(file)
        }
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Removes what a crashed set-up of the same profile left. The lock says that none is at work.
fn remove_leftovers(root: &Path, name: &str) -> Result<(), ProfileError> {
    let prefix = format!(".{name}.");
    for entry in fs_err::read_dir(root).map_err(ProfileError::file(root))? {
        let entry = entry.map_err(ProfileError::file(root))?;
        let file_name = entry.file_name();
        let file_name = file_name.to_string_lossy();
        if file_name.starts_with(&prefix) && file_name.ends_with(PARTIAL_SUFFIX) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Makes the whole folder under its temporary name; the manifest comes last.
fn build(
    profile: Profile,
    data_dir: &DataDir,
    interpreter: &Interpreter,
    partial: &Path,
    progress: &mut dyn Progress,
) -> Result<(), ProfileError> {
    let (site, temporary) = (partial.join(manifest::SITE), partial.join("tmp"));
    for folder in [partial, &site, &temporary] {
        fs_err::create_dir(folder).map_err(ProfileError::file(folder))?;
    }
    let requirements = partial.join(REQUIREMENTS);
    fs_err::write(&requirements, &*lock::text(profile, data_dir))
        .map_err(ProfileError::file(&requirements))?;

    let place = InstallPaths { site: &site, requirements: &requirements, temporary: &temporary };
    let wanted = lock::requirements(profile, data_dir, interpreter);
    install::packages(data_dir, interpreter, &place, &wanted, progress)?;
    let packages = install::distributions(&site);
    compare(&wanted, &packages)?;
    install::compile(data_dir, interpreter, &place, progress)?;

    fs_err::remove_dir_all(&temporary).map_err(ProfileError::file(&temporary))?;
    let bytes = make_readable_below(partial)?;
    Manifest::describe(profile, interpreter, packages, bytes, partial)?.write(partial)?;
    make_readable(&partial.join(manifest::FILE))
}

/// The installed packages must be exactly the locked ones.
fn compare(wanted: &[lock::Requirement], found: &[(String, String)]) -> Result<(), ProfileError> {
    let incomplete = |what| Err(ProfileError::Incomplete { tool: "the installer", what });
    for lock::Requirement { name, version } in wanted {
        if !found.iter().any(|(found_name, found_version)| found_name == name && found_version == version) {
            return incomplete(format!("`{name}` {version} is missing"));
        }
    }
    match found.iter().find(|(name, _)| !wanted.iter().any(|wanted| wanted.name == *name)) {
        Some((name, version)) => incomplete(format!("`{name}` {version} was not asked for")),
        None => Ok(()),
    }
}

/// Gives the finished folder its name in one step, swapping it with whatever had the name before.
fn put_in_place(partial: &Path, folder: &Path) -> Result<(), ProfileError> {
    let failed = |error: io::Error| ProfileError::file(folder)(error);
    if folder.symlink_metadata().is_err() {
        return fs_err::rename(partial, folder).map_err(failed);
    }
    match renameat_with(CWD, partial, CWD, folder, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        // Some file systems can't exchange; there the name is free for a moment, in which `find` sees no profile.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            let aside = aside(partial);
            fs_err::rename(folder, &aside).map_err(failed)?;
            fs_err::rename(partial, folder).map_err(failed)?;
            remove(&aside)
        }
        Err(error) => Err(failed(error.into())),
    }
}

/// A second temporary name, which [`remove_leftovers`] knows too.
fn aside(partial: &Path) -> PathBuf {
    let name = partial.file_name().unwrap_or_default().to_string_lossy();
    partial.with_file_name(format!("{}.old{PARTIAL_SUFFIX}", name.trim_end_matches(PARTIAL_SUFFIX)))
}

/// Removes a file or folder; one that does not exist counts as removed.
fn remove(path: &Path) -> Result<(), ProfileError> {
    let removed = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs_err::remove_dir_all(path),
        Ok(_) => fs_err::remove_file(path),
        Err(_) => Ok(()),
    };
    removed.map_err(ProfileError::file(path))
}

/// Lets every user read the tree, because a cell runs under another user when Ordain runs as root; returns its size.
fn make_readable_below(folder: &Path) -> Result<u64, ProfileError> {
    let failed = |path: &Path| ProfileError::file(path);
    let mut bytes = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        make_readable(&folder)?;
        for entry in fs_err::read_dir(&folder).map_err(failed(&folder))? {
            let entry = entry.map_err(failed(&folder))?;
            let kind = entry.file_type().map_err(failed(&entry.path()))?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                bytes += make_readable_file(&entry.path())?;
            }
        }
    }
    Ok(bytes)
}

fn make_readable(path: &Path) -> Result<(), ProfileError> {
    make_readable_file(path).map(|_| ())
}

fn make_readable_file(path: &Path) -> Result<u64, ProfileError> {
    let failed = |error| ProfileError::file(path)(error);
    let metadata = fs_err::metadata(path).map_err(failed)?;
    let mode = metadata.permissions().mode();
    let wanted = mode | if metadata.is_dir() { 0o555 } else { 0o444 };
    if wanted != mode {
        fs_err::set_permissions(path, PermissionsExt::from_mode(wanted)).map_err(failed)?;
    }
    Ok(metadata.len())
}
