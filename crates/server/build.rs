//! Makes the gRPC code from the proto file, without `protoc`, and keeps the descriptor set for reflection.

use std::path::PathBuf;

const PROTO_FOLDER: &str = "../../proto";
const PROTO: &str = "ordain/executor/v1/executor.proto";

fn main() -> anyhow::Result<()> {
    println!("cargo::rerun-if-changed={PROTO_FOLDER}/{PROTO}");
    let mut compiler = protox::Compiler::new([PROTO_FOLDER])?;
    compiler.include_source_info(true).include_imports(true).open_file(PROTO)?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    fs_err::write(out.join("executor_descriptor.bin"), compiler.encode_file_descriptor_set())?;
    tonic_prost_build::configure().compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
