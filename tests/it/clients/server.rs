use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
    pub raw: String,
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Answers with JSON.
    Json(u16, Value),
    /// Answers with these headers and this body.
    Plain(u16, Vec<(&'static str, String)>, String),
    /// Answers 200 with the bytes of the pieces, each sent by itself, and closes the connection in good order.
    Pieces(&'static str, Vec<Vec<u8>>),
    /// As `Pieces`, but closes the connection without the end that was promised.
    Cut(&'static str, Vec<Vec<u8>>),
    /// Closes the connection without a word.
    Drop,
    /// Never answers.
    Silence,
}

/// A server on this machine that does as it is told, for as long as the test's runtime lives.
#[derive(Clone)]
pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Replies to each request with what `script` makes of it; the number counts requests from 0.
    pub async fn start(script: impl Fn(usize, &Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { url, asked: Arc::default() };
        let (asked, script) = (server.asked.clone(), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (asked, script) = (asked.clone(), script.clone());
                tokio::spawn(async move {
                    if let Some(request) = read(&mut stream).await {
                        let number = {
                            let mut asked = asked.lock().unwrap();
                            asked.push(request.clone());
                            asked.len() - 1
                        };
                        // A client that went away is no fault of the server.
                        let _ = write(&mut stream, script(number, &request)).await;
                    }
                });
            }
        });
        server
    }

    /// Gives the replies in order, and the last one from then on.
    pub async fn replies(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Reply> = replies.into_iter().collect();
        Self::start(move |number, _| replies[number.min(replies.len() - 1)].clone()).await
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let header = |line: &str| line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
    let headers: BTreeMap<String, String> = lines.filter_map(header).collect();
    let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < end + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let raw = String::from_utf8(bytes[end + 4..].to_vec()).ok()?;
    let body = serde_json::from_str(&raw).unwrap_or_default();
    Some(Asked { path, headers, body, raw })
}

async fn write(stream: &mut TcpStream, reply: Reply) -> std::io::Result<()> {
    let head = |status: u16, headers: &[(&str, String)]| {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("HTTP/1.1 {status} Told\r\nconnection: close\r\n{headers}\r\n")
    };
    let chunked = |kind: &str| [("content-type", kind.to_owned()), ("transfer-encoding", "chunked".to_owned())];
    match reply {
        Reply::Json(status, body) => {
            let body = body.to_string();
            let headers = [("content-type", "application/json".into()), ("content-length", body.len().to_string())];
            stream.write_all((head(status, &headers) + &body).as_bytes()).await?;
        }
        Reply::Plain(status, mut headers, body) => {
            headers.push(("content-length", body.len().to_string()));
            stream.write_all((head(status, &headers) + &body).as_bytes()).await?;
        }
        Reply::Pieces(kind, pieces) => {
            stream.write_all(head(200, &chunked(kind)).as_bytes()).await?;
            for piece in &pieces {
                chunk(stream, piece).await?;
            }
            stream.write_all(b"0\r\n\r\n").await?;
        }
        Reply::Cut(kind, pieces) => {
            stream.write_all(head(200, &chunked(kind)).as_bytes()).await?;
            for piece in &pieces {
                chunk(stream, piece).await?;
            }
        }
        Reply::Drop => return Ok(()),
        Reply::Silence => tokio::time::sleep(Duration::from_secs(3_600)).await,
    }
    stream.shutdown().await
}

async fn chunk(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await?;
    stream.write_all(bytes).await?;
    stream.write_all(b"\r\n").await?;
    stream.flush().await
}
