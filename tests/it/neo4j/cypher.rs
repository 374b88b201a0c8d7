//! A question put to the server in its own language, past the crate: as much of Bolt 5.1 and PackStream as a count takes.
//!
//! # Source
//! "Bolt Protocol" and "PackStream", neo4j.com/docs/bolt: a message is a structure, sent in chunks with their length in
//! front; `B` is a structure of so many fields, `A` a map, `8` or `D0` or `D1` a string, and integers come in five sizes.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub(super) struct Cypher(TcpStream);

const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;

impl Cypher {
    pub(super) async fn login(url: &str, user: &str, password: &str) -> Self {
        let mut stream = TcpStream::connect(url.trim_start_matches("bolt://")).await.unwrap();
        let mut versions = vec![0x60, 0x60, 0xb0, 0x17, 0, 0, 1, 5];
        versions.extend([0; 12]);
        stream.write_all(&versions).await.unwrap();
        let mut agreed = [0; 4];
        stream.read_exact(&mut agreed).await.unwrap();
        assert_eq!(agreed, [0, 0, 1, 5]);
        let mut own = Self(stream);
        own.send(&[&[0xb1, 0x01], &*map(&[("user_agent", "ingrain-test/1")])]).await;
        assert_eq!(own.receive().await[1], SUCCESS);
        let login = map(&[("scheme", "basic"), ("principal", user), ("credentials", password)]);
        own.send(&[&[0xb1, 0x6a], &*login]).await;
        assert_eq!(own.receive().await[1], SUCCESS, "login");
        own
    }

    /// The one number that a query returns.
    pub(super) async fn count(&mut self, query: &str) -> i64 {
        self.send(&[&[0xb3, 0x10], &*string(query), &[0xa0, 0xa0]]).await;
        self.send(&[&[0xb1, 0x3f, 0xa1], &*string("n"), &[0xff]]).await;
        let mut counted = None;
        for _ in 0..2 {
            loop {
                let message = self.receive().await;
                match message[1] {
                    SUCCESS => break,
                    // One field, a list of one.
                    RECORD => counted = Some(number(&message[3..])),
                    _ => panic!("{query}: {}", String::from_utf8_lossy(&message)),
                }
            }
        }
        counted.unwrap_or_else(|| panic!("nothing is returned: {query}"))
    }

    async fn send(&mut self, parts: &[&[u8]]) {
        let message = parts.concat();
        let length = u16::try_from(message.len()).unwrap().to_be_bytes();
        self.0.write_all(&[&length[..], &message, &[0, 0]].concat()).await.unwrap();
    }

    async fn receive(&mut self) -> Vec<u8> {
        let mut message = Vec::new();
        loop {
            let length = usize::from(self.0.read_u16().await.unwrap());
            if length == 0 && !message.is_empty() {
                return message;
            }
            let mut chunk = vec![0; length];
            self.0.read_exact(&mut chunk).await.unwrap();
            message.extend(chunk);
        }
    }
}

fn string(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    [&[0xd1], &length[..], text.as_bytes()].concat()
}

fn map(members: &[(&str, &str)]) -> Vec<u8> {
    let size = 0xa0 + u8::try_from(members.len()).unwrap();
    let members = members.iter().flat_map(|(name, value)| [string(name), string(value)]);
    std::iter::once(vec![size]).chain(members).flatten().collect()
}

fn number(bytes: &[u8]) -> i64 {
    match bytes[0] {
        tiny @ (0..=0x7f | 0xf0..=0xff) => i64::from(tiny.cast_signed()),
        0xc8 => i64::from(bytes[1].cast_signed()),
        0xc9 => i64::from(i16::from_be_bytes([bytes[1], bytes[2]])),
        0xca => i64::from(i32::from_be_bytes([bytes[1], bytes[2], bytes[3], bytes[4]])),
        0xcb => i64::from_be_bytes(bytes[1..9].try_into().unwrap()),
        other => panic!("no number: {other:#x}"),
    }
}
