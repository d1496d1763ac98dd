//! `PYTHON_CODE_ENABLED=false`: nobody gives code here, by no way.

use crate::failure::Failure;

/// The variable, as other code agents know it.
pub(crate) const VARIABLE: &str = "PYTHON_CODE_ENABLED";

/// Whether code that callers give may run. What the variable says and is not understood switches it off, too.
pub(crate) fn is_code_enabled() -> bool {
    let given = std::env::var(VARIABLE).unwrap_or_default();
    matches!(given.trim().to_ascii_lowercase().as_str(), "" | "true" | "1" | "yes" | "on")
}

/// Says that code is switched off.
pub(crate) fn refused() -> Failure {
    let hint = format!("set {VARIABLE}=true, or unset it, to have it run");
    Failure::usage("code is switched off here: nothing ran", &hint)
}
