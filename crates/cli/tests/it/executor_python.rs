//! The Python client of `examples/clients/python_grpc`, run with the real grpcio against the real binary.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustix::process::Signal;

use crate::command::{Folder, Ran};
use crate::executor::Served;

const PROGRAM: &str = "\
import csv, json
with files['sales.csv'].open() as lines:
    total = sum(float(row['amount']) for row in csv.DictReader(lines))
(artifacts / 'total.json').write_text(json.dumps({'total': total}))
print('total', total)
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A Python with grpcio, made once under the target folder. `None`, with a word about it, where pip reaches no registry.
fn python() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python_grpc");
    let python = folder.join("bin/python");
    let is_there = |python: &Path| {
        let seen =
            Command::new(python).args(["-c", "import grpc, grpc_tools"]).stderr(Stdio::null()).status();
        seen.is_ok_and(|status| status.success())
    };
    if !is_there(&python) {
        let made = Command::new("python3").args(["-m", "venv", folder.to_str().unwrap()]).status().unwrap();
        assert!(made.success());
        let requirements = root().join("examples/clients/python_grpc/requirements.txt");
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--only-binary", ":all:", "-r"]).arg(requirements);
        let _ = install.status();
    }
    is_there(&python).then_some(python)
}

/// Certificates of one authority, in a folder.
fn certificates(folder: &Folder) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    // Two certificates of one name look self-signed to some libraries.
    params.distinguished_name.push(DnType::CommonName, "test authority");
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    folder.file("ca.pem", issuer.pem());
    for name in ["127.0.0.1", "client"] {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        folder.file(&format!("{name}.pem"), params.signed_by(&key, &issuer).unwrap().pem());
        folder.file(&format!("{name}.key"), key.serialize_pem());
    }
}

fn generate(python: &Path, folder: &Folder) {
    let mut protoc = Command::new(python);
    protoc.args(["-m", "grpc_tools.protoc", "--python_out=.", "--grpc_python_out=.", "-I"]);
    protoc.arg(root().join("proto")).arg("ordain/executor/v1/executor.proto").current_dir(folder.path());
    assert!(protoc.status().unwrap().success());
    std::fs::copy(root().join("examples/clients/python_grpc/client.py"), folder.path().join("client.py"))
        .unwrap();
}

#[test]
fn a_python_client_runs_code_with_files_over_mutual_tls_and_without_a_certificate_is_refused() {
    let Some(python) = python() else {
        let word = "skipped: grpcio cannot be installed here, since pip reaches no registry";
        let _ = writeln!(std::io::stderr(), "{word}");
        return;
    };
    let folder = Folder::new();
    certificates(&folder);
    generate(&python, &folder);
    folder.file("report.py", PROGRAM);
    folder.file("sales.csv", "amount\n1.5\n2.25\n");
    let file = |name: &str| folder.join(name);
    let served = Served::start(&[
        "--tls-cert",
        &file("127.0.0.1.pem"),
        "--tls-key",
        &file("127.0.0.1.key"),
        "--client-ca",
        &file("ca.pem"),
    ]);
    let client = |more: &[&str]| {
        let mut command = Command::new(&python);
        command.args(["client.py", "report.py", "--file", "sales.csv", "--executor", &served.address]);
        command.args(["--ca", "ca.pem"]).args(more).current_dir(folder.path());
        Ran::of(&command.output().unwrap())
    };
    let ran = client(&["--cert", "client.pem", "--key", "client.key"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "total 3.75\n"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(file("total.json")).unwrap(), "{\"total\": 3.75}");
    let refused = client(&[]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{refused:?}");
    assert!(refused.stderr.contains("UNAVAILABLE"), "{refused:?}");
    // The same certificates, read again, still hold.
    served.running.signal(Signal::HUP);
    served.wait_for("reloaded");
    assert_eq!(client(&["--cert", "client.pem", "--key", "client.key"]).code, Some(0));
    assert_eq!(
        std::fs::read_to_string(file("total.json")).unwrap(),
        "{\"total\": 3.75}",
        "a second run replaces it"
    );
}

#[test]
fn the_page_about_the_python_client_shows_the_client_that_is_tested() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let page = read("docs/clients/grpc-python.md");
    assert!(page.contains(&read("examples/clients/python_grpc/client.py")), "the page shows another client");
    assert!(page.contains(PROGRAM), "the page shows another program");
}
