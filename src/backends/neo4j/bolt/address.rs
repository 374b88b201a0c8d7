use std::{io, sync::Arc, time::Duration};

use rustls_platform_verifier::BuilderVerifierExt;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;

use super::super::error::{Neo4jError, Result};

/// What a connection is read from and written to.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for T {}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Address {
    host: String,
    port: u16,
    tls: bool,
}

impl Address {
    /// Reads `bolt://host:port`. Says what is wrong with it without repeating it: it may hold a password.
    pub(in super::super) fn parse(url: &str) -> Result<Self, &'static str> {
        let (scheme, rest) = url.trim().split_once("://").ok_or("is no URL, such as `bolt://localhost:7687`")?;
        let tls = match scheme {
            "bolt" | "neo4j" => false,
            "bolt+s" | "neo4j+s" => true,
            _ => return Err("must begin with `bolt://`, `bolt+s://`, `neo4j://` or `neo4j+s://`"),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains('@') {
            return Err("must not hold a name or password: give them to the builder");
        }
        if authority.contains(['/', '?', '#']) {
            return Err("must end after the port: give the database to the builder");
        }
        let bracketed = authority.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (host, port) = match bracketed {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or("has something else than a port")?)),
            None => authority.rsplit_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
        };
        if host.is_empty() || (bracketed.is_none() && host.contains(':')) {
            return Err("names no host");
        }
        let port = port.map_or(Ok(7687), |port| port.parse().map_err(|_| "has a port that is no number of one"))?;
        Ok(Self { host: host.to_owned(), port, tls })
    }

    pub(super) async fn connect(&self, limit: Duration) -> Result<Box<dyn Stream>> {
        let connected = timeout(limit, async {
            let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
            stream.set_nodelay(true)?;
            if self.tls { self.secured(stream).await } else { Ok(Box::new(stream) as Box<dyn Stream>) }
        });
        connected.await.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
    }

    /// Certificates are checked by the operating system's verifier and against its roots.
    async fn secured(&self, stream: TcpStream) -> Result<Box<dyn Stream>> {
        let wrong = |source| Neo4jError::SetUp("TLS cannot be set up; are the system's certificates there?", source);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(BuilderVerifierExt::with_platform_verifier)
            .map_err(|cause| wrong(cause.into()))?
            .with_no_client_auth();
        let name = rustls::pki_types::ServerName::try_from(self.host.clone()).map_err(|cause| wrong(cause.into()))?;
        Ok(Box::new(TlsConnector::from(Arc::new(config)).connect(name, stream).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for (url, host, port, tls) in [
            ("bolt://localhost", "localhost", 7687, false),
            (" bolt://127.0.0.1:17687/ ", "127.0.0.1", 17687, false),
            ("neo4j+s://x.databases.neo4j.io", "x.databases.neo4j.io", 7687, true),
            ("bolt+s://[::1]:1", "::1", 1, true),
            ("neo4j://[::1]", "::1", 7687, false),
        ] {
            assert_eq!(Address::parse(url), Ok(Address { host: host.to_owned(), port, tls }), "{url}");
        }
    }

    #[test]
    fn a_bad_address_is_told_and_never_repeated() {
        for bad in [
            "",
            "localhost:7687",
            "http://localhost:7474",
            "bolt+ssc://x",
            "bolt://",
            "bolt://:7687",
            "bolt://u:secret@x",
            "bolt://x:secret",
            "bolt://x:70000",
            "bolt://x/secret",
            "bolt://::1",
            "bolt://[::1]x",
        ] {
            assert!(Address::parse(bad).is_err_and(|what| !what.contains("secret")), "{bad}");
        }
    }
}
