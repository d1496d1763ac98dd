//! How often tests repeat what depends on chance: a few times in the short form, many times by
//! `cargo xtask test --long`.

/// Set where there is time.
const VARIABLE: &str = "ORDAIN_TEST_LONG";
/// How many times as often.
const LONGER: u32 = 20;

/// How often to do what is done `usual` times in the short form.
pub fn times(usual: u32) -> u32 {
    if is_wanted() { usual * LONGER } else { usual }
}

/// Whether the long form is wanted.
pub fn is_wanted() -> bool {
    std::env::var_os(VARIABLE).is_some()
}
