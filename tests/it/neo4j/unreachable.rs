//! Servers that are not there, or are something else. None of this needs a Neo4j.

use std::time::Duration;

use ingrain::{ErrorKind, Neo4jStore};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

/// A server that reads a greeting, says one thing and closes, whoever comes; or says nothing and waits.
async fn peer(says: &'static [u8], closes: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut kept = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut greeting = [0; 20];
            stream.read_exact(&mut greeting).await.ok();
            stream.write_all(says).await.ok();
            if !closes {
                kept.push(stream);
            }
        }
    });
    format!("bolt://{address}")
}

async fn error(url: &str) -> ingrain::Error {
    let builder = Neo4jStore::builder(url).login("neo4j", "a secret").connect_timeout(Duration::from_millis(500));
    assert!(!format!("{builder:?}").contains("a secret"));
    let error = builder.open().await.unwrap_err();
    assert_eq!(error.backend(), Some("neo4j"));
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    error
}

#[tokio::test]
async fn nobody_there_is_an_outage() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("bolt://{}", free.local_addr().unwrap());
    drop(free);
    assert_eq!(error(&url).await.kind(), ErrorKind::StoreUnavailable);
}

#[tokio::test]
async fn whoever_hangs_up_or_says_nothing_is_an_outage() {
    for (says, closes) in [(&b""[..], true), (b"\0\0", true), (b"\0\0\x04\x05", true), (b"", false)] {
        let error = error(&peer(says, closes).await).await;
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{says:?}: {error:?}");
    }
}

#[tokio::test]
async fn a_server_of_another_kind_is_a_matter_of_configuration() {
    // A web server, one that speaks none of our versions, one that took an older one.
    for says in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\0\0\0\0", b"\0\0\x04\x04"] {
        let error = error(&peer(says, true).await).await;
        assert_eq!(error.kind(), ErrorKind::Configuration, "{says:?}: {error:?}");
    }
}

#[tokio::test]
async fn what_makes_no_sense_is_an_outage() {
    // Agrees on 5.4, then sends a message that is none.
    let error = error(&peer(b"\0\0\x04\x05\0\x03abc\0\0", false).await).await;
    assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error:?}");
}

#[tokio::test]
async fn a_bad_set_up_is_told_before_anyone_is_asked() {
    for url in ["", "http://localhost:7474", "bolt://neo4j:secret@localhost", "bolt://localhost/neo4j"] {
        assert_eq!(error(url).await.kind(), ErrorKind::Configuration, "{url}");
    }
    let none = Neo4jStore::builder("bolt://localhost").connections(0).open().await.unwrap_err();
    assert_eq!(none.kind(), ErrorKind::Configuration);
}

#[test]
fn without_a_runtime_nothing_panics() {
    let mut open = std::pin::pin!(Neo4jStore::builder("bolt://127.0.0.1:1").open());
    let waker = std::task::Waker::noop();
    let std::task::Poll::Ready(opened) = open.as_mut().poll(&mut std::task::Context::from_waker(waker)) else {
        panic!("it waits for something")
    };
    assert_eq!(opened.unwrap_err().kind(), ErrorKind::Configuration);
}
