//! Judges given code the same way in every command that runs some.

use ordain_cell::profile::Profile;
use ordain_types::Schema;
use ordain_verify::{Contract, Policy, Verdict, verify_bytes};

/// Judges code that is run as it is, with a profile's packages.
pub(crate) fn judge(code: &[u8], contract: Contract, profile: Profile) -> Verdict {
    let policy = Policy::for_contract(contract);
    let policy = match contract {
        Contract::Open => policy,
        _ => policy.with_packages(profile.imports().iter().copied()),
    };
    verify_bytes(code, &policy, &Schema::default())
}
