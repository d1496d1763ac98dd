//! Compiles the lockdown crate a second time, as the shared library that the zygote loads.
//!
//! Cargo cannot yet hand one package's shared library to another as a dependency, so the compiler is called
//! directly. The crate has no dependencies, which makes that a single call.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("lockdown.so");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let mut rustc = Command::new(env::var_os("RUSTC").expect("cargo sets RUSTC"));
    rustc.args(["--crate-name=ordain_lockdown", "--crate-type=cdylib", "--edition=2024"]);
    rustc.args(["--cfg=feature=\"shared-library\"", "--target", &target]);
    // Link-time optimisation drops the one reference to unwinding that `core` would leave unresolved.
    rustc.args(["-Cpanic=abort", "-Copt-level=3", "-Clto=fat", "-Cstrip=symbols"]);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        rustc.arg("-Clinker").arg(linker);
    }
    rustc.arg("lockdown/src/lib.rs").arg("-o").arg(&out);
    let status = rustc.status().expect("the compiler that builds this script runs");
    assert!(status.success(), "the lockdown library did not compile");
    println!("cargo::rerun-if-changed=lockdown/src");
    println!("cargo::rerun-if-changed=build.rs");
}
