//! What a round plants on the host: a secret to find, listeners to reach, an input to change.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::listeners::Listeners;
use super::tables;

/// Where the canary lies.
pub(super) const CANARY_FOLDER: &str = "/tmp/attack-canary";
const INPUT: &str = "item_id,name,quantity_in_stock\nSG001,Aviator,12\nSG002,Wayfarer,0\nSG003,Round,7\n";

/// The folders and canaries of one round. They are removed at its end.
#[derive(Debug)]
pub(super) struct Plant {
    /// The secret's value.
    pub(super) canary: String,
    /// The host's own account file.
    pub(super) passwd: Vec<u8>,
    /// The listeners.
    pub(super) listeners: Listeners,
    /// The input file that every program is given.
    pub(super) input: PathBuf,
    /// The folder of the store whose tables programs may use.
    pub(super) store: PathBuf,
    /// The executor's working folder.
    pub(super) work: PathBuf,
    /// The executor's folder for temporary files.
    pub(super) temporary: PathBuf,
    /// Holds a folder for what came of each run.
    pub(super) results: PathBuf,
    /// The executor's log.
    pub(super) log: PathBuf,
    root: PathBuf,
}

impl Plant {
    /// Plants everything.
    pub(super) fn new() -> Result<Self> {
        let address = Listeners::bind()?;
        let canary = format!("ATTACK-CANARY-{}", random_hex()?);
        let folder = Path::new(CANARY_FOLDER);
        // What an interrupted round left.
        let _ = std::fs::remove_dir_all(folder);
        fs_err::create_dir_all(folder)?;
        let secret = folder.join("secret.txt");
        fs_err::write(&secret, format!("{canary}\n"))?;
        for (path, mode) in [(folder, 0o755), (secret.as_path(), 0o644)] {
            fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
        }
        let listeners = Listeners::start(address, &folder.join("canary.sock"), random_hex()?)?;
        let root = std::env::temp_dir().join(format!("ordain-attacks-{}", random_hex()?));
        let of = |name: &str| root.join(name);
        let plant = Self {
            canary,
            passwd: std::fs::read("/etc/passwd").context("failed to read the account file")?,
            listeners,
            input: of("input/input.csv"),
            store: of("store"),
            work: of("work"),
            temporary: of("temporary"),
            results: of("results"),
            log: of("executor.log"),
            root: root.clone(),
        };
        for folder in [&plant.root, &of("input"), &plant.work, &plant.temporary, &plant.results] {
            fs_err::create_dir(folder)?;
        }
        fs_err::write(&plant.input, INPUT)?;
        tables::plant(&plant.store)?;
        Ok(plant)
    }
}

impl Drop for Plant {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(CANARY_FOLDER);
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// 32 random hexadecimal digits.
fn random_hex() -> Result<String> {
    let mut bytes = [0; 16];
    fs_err::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
