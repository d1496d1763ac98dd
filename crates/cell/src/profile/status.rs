//! What is installed, for people who ask.

use std::path::PathBuf;

use super::{DataDir, Installed, Interpreter, Profile, ProfileError, interpreter, lock, manifest};

/// One profile and how it stands.
#[derive(Debug, Clone)]
pub struct Status {
    /// Which one.
    pub profile: Profile,
    /// The Python it is for.
    pub interpreter: Interpreter,
    /// Where it is, or will be.
    pub folder: PathBuf,
    /// How many packages it has, or will have.
    pub packages: usize,
    /// How it stands.
    pub state: State,
}

/// How a profile stands.
#[derive(Debug, Clone)]
pub enum State {
    /// Set up and sound.
    Ready(Box<Installed>),
    /// Not set up for this Python.
    Missing,
    /// Set up, but not usable; the reason.
    Damaged(String),
}

/// Every profile for the machine's Python, the smallest first.
pub fn list(data_dir: &DataDir) -> Result<Vec<Status>, ProfileError> {
    let interpreter = interpreter::find(data_dir)?;
    Profile::ALL.into_iter().map(|profile| status(profile, data_dir, &interpreter)).collect()
}

fn status(profile: Profile, data_dir: &DataDir, interpreter: &Interpreter) -> Result<Status, ProfileError> {
    let state = match manifest::read(profile, data_dir, interpreter) {
        Ok(Some(installed)) => State::Ready(Box::new(installed)),
        Ok(None) => State::Missing,
        Err(ProfileError::Damaged { what, .. }) => State::Damaged(what),
        Err(error) => return Err(error),
    };
    Ok(Status {
        profile,
        interpreter: interpreter.clone(),
        folder: data_dir.python_root().join(lock::folder_name(profile, data_dir, interpreter)),
        packages: lock::requirements(profile, data_dir, interpreter).len(),
        state,
    })
}
