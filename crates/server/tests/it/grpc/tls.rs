//! TLS, client certificates and the token.

use std::time::Duration;

use ordain_cell::{CellError, Discard, Executor as _, NoHost};
use ordain_server::grpc::server::TlsFiles;
use ordain_server::grpc::{ExecutorPool, PoolOptions, RemoteExecutor, RemoteOptions, RemoteTls};

use super::certificates::{Authority, Pair};
use super::world::{World, job};

const TOKEN: &str = "a token that nobody guesses";

struct Mutual {
    world: World,
    authority: Authority,
    server: Pair,
}

async fn mutual() -> Mutual {
    let authority = Authority::new();
    let server = authority.sign("127.0.0.1");
    let files = TlsFiles {
        certificate: server.certificate.clone(),
        key: server.key.clone(),
        client_ca: Some(authority.certificate()),
    };
    let world = World::with(|options| options.tls = Some(files)).await;
    Mutual { world, authority, server }
}

fn caller(world: &World, ca: &Authority, own: Option<&Pair>) -> RemoteExecutor {
    let tls = RemoteTls {
        ca: Some(ca.certificate()),
        certificate: own.map(|pair| pair.certificate.clone()),
        key: own.map(|pair| pair.key.clone()),
        domain: None,
    };
    let options = RemoteOptions { tls, ..RemoteOptions::default() };
    RemoteExecutor::new(&format!("https://{}", world.address), &options).unwrap()
}

async fn run(remote: &RemoteExecutor) -> Result<Vec<u8>, CellError> {
    Ok(remote.run(job("print('ran')"), &mut NoHost, &mut Discard).await?.stdout)
}

#[tokio::test]
async fn a_caller_with_a_certificate_is_served_and_named_in_the_log() {
    let Mutual { world, authority, .. } = mutual().await;
    let remote = caller(&world, &authority, Some(&authority.sign("ann")));
    assert_eq!(run(&remote).await.unwrap(), b"ran\n");
    assert!(world.log.text().contains("caller=certificate:"), "{}", world.log.text());
    world.end().await;
}

#[tokio::test]
async fn a_caller_without_a_certificate_is_refused() {
    let Mutual { world, authority, .. } = mutual().await;
    let error = run(&caller(&world, &authority, None)).await.unwrap_err();
    assert!(matches!(error, CellError::Unreachable { .. }), "{error:?}");
    assert!(!world.log.text().contains("Run"), "no call was made");
    world.end().await;
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused_on_both_sides() {
    let Mutual { world, authority, .. } = mutual().await;
    let stranger = Authority::new();
    let error = run(&caller(&world, &authority, Some(&stranger.sign("ann")))).await.unwrap_err();
    assert!(matches!(error, CellError::Unreachable { .. }), "{error:?}");
    let error = run(&caller(&world, &stranger, Some(&authority.sign("ann")))).await.unwrap_err();
    assert!(
        matches!(&error, CellError::Unreachable { said, .. } if said.contains("certificate")),
        "{error:?}"
    );
    world.end().await;
}

#[tokio::test]
async fn a_plain_caller_gets_nothing_from_an_encrypted_executor() {
    let Mutual { world, .. } = mutual().await;
    let error = run(&world.remote()).await.unwrap_err();
    assert!(matches!(error, CellError::Unreachable { .. }), "{error:?}");
    world.end().await;
}

#[tokio::test]
async fn certificates_are_read_again_when_asked_and_bad_ones_change_nothing() {
    let Mutual { world, authority, server } = mutual().await;
    let ann = authority.sign("ann");
    assert!(run(&caller(&world, &authority, Some(&ann))).await.is_ok());
    fs_err::write(&server.key, "no key").unwrap();
    world.reload.now();
    wait_for(&world, "still hold").await;
    assert!(run(&caller(&world, &authority, Some(&ann))).await.is_ok());
    let next = Authority::new();
    next.sign_into("127.0.0.1", &server.certificate, &server.key);
    world.reload.now();
    wait_for(&world, "certificates were read again").await;
    assert!(
        run(&caller(&world, &authority, Some(&ann))).await.is_err(),
        "the old authority knows it no more"
    );
    assert!(run(&caller(&world, &next, Some(&ann))).await.is_ok());
    world.end().await;
}

#[tokio::test]
async fn a_caller_reads_its_own_certificates_again_and_bad_ones_change_nothing() {
    let Mutual { world, authority, .. } = mutual().await;
    let ann = authority.sign("ann");
    let remote = RemoteOptions {
        tls: RemoteTls {
            ca: Some(authority.certificate()),
            certificate: Some(ann.certificate.clone()),
            key: Some(ann.key.clone()),
            domain: None,
        },
        ..RemoteOptions::default()
    };
    let address = format!("https://{}", world.address);
    let options = PoolOptions { remote, ..PoolOptions::default() };
    let pool = ExecutorPool::new([address.as_str()], &options).unwrap();
    let ran = async || pool.run(job("print('ran')"), &mut NoHost, &mut Discard).await;
    assert!(ran().await.is_ok());
    let callers = |log: &str| {
        let words = log.split_whitespace().filter_map(|word| word.strip_prefix("caller="));
        words.map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(callers(&world.log.text()).len(), 1);

    fs_err::write(&ann.key, "no key").unwrap();
    assert!(pool.reload().is_err());
    assert!(ran().await.is_ok(), "what was good still holds");
    authority.sign_into("ann", &ann.certificate, &ann.key);
    pool.reload().unwrap();
    assert!(ran().await.is_ok());
    assert_eq!(callers(&world.log.text()).len(), 2, "the new certificate is shown");
    world.end().await;
}

async fn wait_for(world: &World, told: &str) {
    for _ in 0..500 {
        if world.log.text().contains(told) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("`{told}` was never told: {}", world.log.text());
}

#[tokio::test]
async fn a_token_is_asked_for_where_one_is_set() {
    let world = World::with(|options| options.token = Some(TOKEN.to_owned())).await;
    let with = |token: Option<&str>| {
        let options = RemoteOptions { token: token.map(str::to_owned), ..RemoteOptions::default() };
        RemoteExecutor::new(&world.url(), &options).unwrap()
    };
    assert_eq!(run(&with(Some(TOKEN))).await.unwrap(), b"ran\n");
    for wrong in [None, Some("another token altogether")] {
        let error = run(&with(wrong)).await.unwrap_err();
        assert!(matches!(&error, CellError::Refused { hint: Some(_), .. }), "{error:?}");
        assert!(!error.may_run_again());
    }
    world.end().await;
}
