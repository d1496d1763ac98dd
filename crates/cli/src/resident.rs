//! Whether a command takes its cells from the resident helper.

use ordain_cell::resident::Resident;

/// Names `off` to have no helper started or used.
const VARIABLE: &str = "ORDAIN_RESIDENT";

/// The same for one command.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct ResidentArgs {
    /// Start Python for this command alone: neither use nor start a resident helper [default: `ORDAIN_RESIDENT`]
    #[arg(long)]
    no_resident: bool,
}

impl ResidentArgs {
    /// Where helpers are found, unless the command shall do without.
    pub(crate) fn find(self) -> Option<Resident> {
        let said = std::env::var(VARIABLE).unwrap_or_default();
        // What is not understood switches it off, too: then everything works, only slower.
        let is_on = matches!(said.trim().to_ascii_lowercase().as_str(), "" | "on" | "true" | "1" | "yes");
        if self.no_resident || !is_on {
            return None;
        }
        Some(Resident::of_this_user()?.started_with(["resident", "serve"]))
    }
}
