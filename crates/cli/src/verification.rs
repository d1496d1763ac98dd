//! Judges given code the same way in every command that runs some.

use ordain_cell::profile::Profile;
use ordain_types::Schema;
use ordain_verify::{CORE_IMPORTS, Contract, DATA_IMPORTS, FULL_IMPORTS, Policy, Verdict, verify_bytes};

/// Judges code that is run as it is, with a profile's packages.
pub(crate) fn judge(code: &[u8], contract: Contract, profile: Profile) -> Verdict {
    let policy = Policy::for_contract(contract);
    let policy = match contract {
        Contract::Open => policy,
        _ => policy.with_packages(packages(profile).iter().copied()),
    };
    verify_bytes(code, &policy, &Schema::default())
}

/// The modules that a profile's packages are imported by.
fn packages(profile: Profile) -> &'static [&'static str] {
    match profile {
        Profile::Core => CORE_IMPORTS,
        Profile::Data => DATA_IMPORTS,
        Profile::Full => FULL_IMPORTS,
    }
}
