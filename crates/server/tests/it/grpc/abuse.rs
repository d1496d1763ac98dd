//! Callers that are hostile or broken. After each of them the executor still serves.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use ordain_server::grpc::proto;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Status};

use super::world::{World, execute, sent};

/// Sends bytes as they are, and reads none.
#[derive(Clone, Default)]
struct Bytes;

impl Codec for Bytes {
    type Encode = Vec<u8>;
    type Decode = ();
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, bytes: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        tonic::codegen::Bytes::from(bytes).iter().for_each(|byte| bytes_put(buffer, *byte));
        Ok(())
    }
}

fn bytes_put(buffer: &mut EncodeBuf<'_>, byte: u8) {
    use prost::bytes::BufMut as _;
    buffer.put_u8(byte);
}

impl Decoder for Bytes {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        use prost::bytes::Buf as _;
        buffer.advance(buffer.remaining());
        Ok(Some(()))
    }
}

async fn still_serves(world: &World) {
    assert_eq!(execute(world, sent("print('here')")).await.unwrap().stdout, "here\n");
}

#[tokio::test]
async fn random_messages_are_refused_and_never_a_panic() {
    let world = World::new().await;
    let channel = tonic::transport::Channel::from_shared(world.url()).unwrap().connect().await.unwrap();
    // A small generator with a fixed seed: the same bytes in every run.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..150 {
        let mut bytes = Vec::new();
        for _ in 0..round * 3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            bytes.push((state >> 56) as u8);
        }
        for method in ["Execute", "Run", "CreateSession", "EndSession", "Describe", "NoSuchCall"] {
            let mut client = tonic::client::Grpc::new(channel.clone());
            client.ready().await.unwrap();
            let path = format!("/ordain.executor.v1.Executor/{method}");
            let path = PathAndQuery::from_maybe_shared(path).unwrap();
            let sent = client.server_streaming(Request::new(bytes.clone()), path, Bytes).await;
            if let Ok(answer) = sent {
                let mut answers = answer.into_inner();
                while let Ok(Some(())) = answers.message().await {}
            }
        }
    }
    still_serves(&world).await;
    world.end().await;
}

#[tokio::test]
async fn bytes_that_are_no_http_are_no_trouble() {
    let world = World::new().await;
    let address = world.address;
    let talk = move |bytes: &[u8]| {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
    };
    let talking = tokio::task::spawn_blocking(move || {
        talk(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        talk(&[0xff; 5000]);
        // A proper preface, then a frame of impossible length.
        let mut frame = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        frame.extend([0xff, 0xff, 0xff, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff]);
        talk(&frame);
    });
    talking.await.unwrap();
    still_serves(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_before_it_is_read() {
    let world = World::new().await;
    let file = proto::File { name: "a".to_owned(), content: vec![0; 40 << 20] };
    let request = proto::ExecuteRequest { job: Some(sent("1")), files: vec![file] };
    let status = world.client().await.execute(request).await.unwrap_err();
    assert_eq!(status.code(), Code::OutOfRange, "{status:?}");
    still_serves(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_compressed_message_may_not_unfold_beyond_the_limit() {
    let world = World::new().await;
    let client = world.client().await.send_compressed(tonic::codec::CompressionEncoding::Gzip);
    let request = |bytes: usize| proto::ExecuteRequest {
        job: Some(sent("print(len(files['a'].read_bytes()))")),
        files: vec![proto::File { name: "a".to_owned(), content: vec![0; bytes] }],
    };
    let mut events = client.clone().execute(request(5 << 20)).await.unwrap().into_inner();
    assert_eq!(super::world::take_all(&mut events).await.unwrap().stdout, "5242880\n");
    let status = client.clone().execute(request(36 << 20)).await.unwrap_err();
    assert!(
        matches!(status.code(), Code::OutOfRange | Code::ResourceExhausted | Code::Internal),
        "{status:?}"
    );
    still_serves(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_caller_that_goes_away_takes_its_cell_with_it() {
    let world = World::new().await;
    let mut calls = Vec::new();
    for _ in 0..3 {
        let code = "import time\nprint('begun', flush=True)\ntime.sleep(600)\n";
        let request = proto::ExecuteRequest { job: Some(sent(code)), files: Vec::new() };
        let mut events = world.client().await.execute(request).await.unwrap().into_inner();
        events.message().await.unwrap();
        calls.push(events);
    }
    world.wait_running(3).await;
    drop(calls);
    world.wait_running(0).await;
    assert_eq!(world.log.text().matches("code=Cancelled").count(), 3, "{}", world.log.text());
    world.end().await;
}

#[tokio::test]
async fn a_connection_that_says_nothing_does_not_keep_its_place() {
    let world = World::with(|options| {
        options.connections_max = 1;
        options.handshake_max = Duration::from_millis(100);
    })
    .await;
    let silent = std::net::TcpStream::connect(world.address).unwrap();
    let mut slow = std::net::TcpStream::connect(world.address).unwrap();
    slow.write_all(b"PRI * HT").unwrap();
    still_serves(&world).await;
    drop((silent, slow));
    world.end().await;
}

#[tokio::test]
async fn more_connections_than_allowed_wait_and_are_served_later() {
    let world = World::with(|options| options.connections_max = 2).await;
    let first = std::net::TcpStream::connect(world.address).unwrap();
    let second = std::net::TcpStream::connect(world.address).unwrap();
    let waiting = tokio::spawn({
        let endpoint = tonic::transport::Channel::from_shared(world.url()).unwrap();
        async move {
            let channel = endpoint.connect().await.unwrap();
            let mut client = proto::executor_client::ExecutorClient::new(channel);
            client.describe(proto::DescribeRequest {}).await.unwrap();
        }
    });
    drop((first, second));
    waiting.await.unwrap();
    world.end().await;
}
