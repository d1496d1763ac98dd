//! The gRPC code is checked in, so that a build of the product makes none.

use std::path::Path;

const PROTO: &str = "ordain/executor/v1/executor.proto";
const CODE: &str = "ordain.executor.v1.rs";
/// With this variable the test writes what it would otherwise compare with.
const WRITE: &str = "ORDAIN_WRITE_GENERATED";

#[test]
fn the_grpc_code_is_what_the_proto_file_says() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let mut compiler = protox::Compiler::new([here.join("../../proto")]).unwrap();
    compiler.include_source_info(true).include_imports(true).open_file(PROTO).unwrap();
    let descriptors = compiler.file_descriptor_set();
    tonic_prost_build::configure().out_dir(folder.path()).compile_fds(descriptors).unwrap();
    let code = std::fs::read(folder.path().join(CODE)).unwrap();
    let generated = here.join("generated");
    let files = [
        (generated.join(format!("{CODE}.in")), code),
        (generated.join("executor_descriptor.bin"), compiler.encode_file_descriptor_set()),
    ];
    for (path, current) in files {
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(&path, &current).unwrap();
        }
        let is_current = std::fs::read(&path).is_ok_and(|found| found == current);
        assert!(is_current, "{} is older than {PROTO}; run this test with {WRITE}=1", path.display());
    }
}
