//! Whether commands take their cells from the resident helper.

use ordain_cell::resident::Resident;

/// Names `off` to have no helper started or used.
const VARIABLE: &str = "ORDAIN_RESIDENT";

/// Where helpers are found, unless the environment says to do without.
pub(crate) fn find() -> Option<Resident> {
    let setting = std::env::var(VARIABLE).unwrap_or_default();
    // What is not understood switches it off, too: then everything works, only slower.
    let is_on = matches!(setting.trim().to_ascii_lowercase().as_str(), "" | "on" | "true" | "1" | "yes");
    if !is_on {
        return None;
    }
    Some(Resident::of_this_user()?.started_with(["config", "resident", "serve"]))
}
