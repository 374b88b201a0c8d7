use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};

use super::{
    super::error::{Neo4jError, Result},
    address::{Address, Stream},
    value::{Map, Value, map, read_message, write_message},
};
use crate::Secret;

/// Begins every connection, and then the versions that are spoken, 5.4 down to 5.1, and three times none.
const HANDSHAKE: [u8; 20] = [0x60, 0x60, 0xb0, 0x17, 0, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Longest chunk of a message.
const CHUNK: usize = 0xffff;

/// Longest answer that is read, in bytes.
const LONGEST: usize = 256 << 20;

/// The oldest Neo4j whose Cypher has all that is asked here (`CALL (x) { … }`).
const OLDEST: (u32, u32) = (5, 23);

const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;
const IGNORED: u8 = 0x7e;
const FAILURE: u8 = 0x7f;

/// What is asked of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Request {
    Hello = 0x01,
    Logon = 0x6a,
    Begin = 0x11,
    Run = 0x10,
    Pull = 0x3f,
    Discard = 0x2f,
    Commit = 0x12,
    Rollback = 0x13,
}

/// What a server answers.
#[derive(Debug)]
pub(super) enum Reply {
    Success(Map),
    Record(Vec<Value>),
}

/// Who logs in.
#[derive(Debug, Clone)]
pub(in super::super) struct Login {
    pub(in super::super) user: String,
    pub(in super::super) password: Secret,
}

/// One conversation with a server. Whoever gives one up in the middle of it must drop it: the next answer would be that
/// of a question asked before.
pub(in super::super) struct Connection {
    stream: BufReader<Box<dyn Stream>>,
    /// Requests that were not sent yet, in chunks.
    out: Vec<u8>,
}

impl Connection {
    pub(super) async fn open(address: &Address, login: Option<&Login>, limit: Duration) -> Result<Self> {
        let stream = address.connect(limit).await?;
        let mut connection = Self { stream: BufReader::new(stream), out: HANDSHAKE.to_vec() };
        let begun = tokio::time::timeout(limit, connection.begin(login)).await;
        begun.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))??;
        Ok(connection)
    }

    async fn begin(&mut self, login: Option<&Login>) -> Result<()> {
        self.flush().await?;
        let mut agreed = [0; 4];
        self.stream.read_exact(&mut agreed).await?;
        if !matches!(agreed, [0, 0, 1..=4, 5]) {
            return Err(Neo4jError::Unsuited("speaks no Bolt 5, which Neo4j 5 and later do"));
        }
        let agent = concat!("ingrain/", env!("CARGO_PKG_VERSION"));
        let hello = map([
            ("user_agent", agent.into()),
            ("bolt_agent", map([("product", agent.into())]).into()),
            // Hints about statements, which nobody would read.
            ("notifications_minimum_severity", "OFF".into()),
        ]);
        self.queue(Request::Hello, &[hello.into()])?;
        let login = login.map_or_else(
            || map([("scheme", "none".into())]),
            |Login { user, password }| {
                let (user, password) = (user.as_str().into(), password.expose().into());
                map([("scheme", "basic".into()), ("principal", user), ("credentials", password)])
            },
        );
        self.queue(Request::Logon, &[login.into()])?;
        self.flush().await?;
        let hello = self.success().await?;
        if matches!(hello.get("server"), Some(Value::Text(server)) if is_too_old(server)) {
            return Err(Neo4jError::Unsuited("is older than Neo4j 5.23"));
        }
        self.success().await?;
        Ok(())
    }

    /// Puts a request at the end of what will be sent.
    pub(super) fn queue(&mut self, request: Request, fields: &[Value]) -> Result<()> {
        let mut message = Vec::new();
        write_message(&mut message, request as u8, fields)?;
        for chunk in message.chunks(CHUNK) {
            // No chunk is longer than its length can say.
            self.out.extend((chunk.len() as u16).to_be_bytes());
            self.out.extend(chunk);
        }
        self.out.extend([0, 0]);
        Ok(())
    }

    /// Sends what was put in the queue.
    pub(super) async fn flush(&mut self) -> Result<()> {
        self.stream.write_all(&self.out).await?;
        self.stream.flush().await?;
        self.out = Vec::new();
        Ok(())
    }

    /// The next answer.
    pub(super) async fn reply(&mut self) -> Result<Reply> {
        let (tag, mut fields) = read_message(&self.message().await?)?;
        match (tag, fields.pop()) {
            (SUCCESS, Some(Value::Map(map))) => Ok(Reply::Success(map)),
            (RECORD, Some(Value::List(row))) => Ok(Reply::Record(row)),
            (FAILURE, Some(Value::Map(mut map))) => {
                let mut text = |name| match map.remove(name) {
                    Some(Value::Text(text)) => text,
                    _ => String::new(),
                };
                Err(Neo4jError::Failure { code: text("code"), message: text("message") })
            }
            (IGNORED, _) => Err(Neo4jError::Protocol("a request was passed over")),
            _ => Err(Neo4jError::Protocol("an answer of an unknown kind")),
        }
    }

    /// The next answer, where no row can come.
    pub(super) async fn success(&mut self) -> Result<Map> {
        match self.reply().await? {
            Reply::Success(map) => Ok(map),
            Reply::Record(_) => Err(Neo4jError::Protocol("a row that nobody asked for")),
        }
    }

    /// The chunks up to an empty one. An empty one before the first only keeps the connection alive.
    async fn message(&mut self) -> Result<Vec<u8>> {
        let mut message = Vec::new();
        loop {
            match usize::from(self.stream.read_u16().await?) {
                0 if message.is_empty() => {}
                0 => return Ok(message),
                length if message.len() + length > LONGEST => {
                    return Err(Neo4jError::Protocol("an answer is longer than 256 MiB"));
                }
                length => {
                    let start = message.len();
                    message.resize(start + length, 0);
                    if let Some(chunk) = message.get_mut(start..) {
                        self.stream.read_exact(chunk).await?;
                    }
                }
            }
        }
    }
}

/// Whether the server says that it is a Neo4j too old. Others say other names, and are tried.
fn is_too_old(server: &str) -> bool {
    let Some(version) = server.strip_prefix("Neo4j/") else { return false };
    let mut parts = version.split(['.', '-', '+']).map(|part| part.parse::<u32>().ok());
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) < OLDEST,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_are_too_old_are_known() {
        for (server, old) in [
            ("Neo4j/4.4.38", true),
            ("Neo4j/5.22.0", true),
            ("Neo4j/5.23.0", false),
            ("Neo4j/5.26.0-dev", false),
            ("Neo4j/2025.06.2", false),
            ("Memgraph/3.1", false),
            ("Neo4j/dev", false),
        ] {
            assert_eq!(is_too_old(server), old, "{server}");
        }
    }
}
