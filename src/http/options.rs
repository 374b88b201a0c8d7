use std::{sync::Arc, time::Duration};

use crate::{Clock, Secret, SystemClock};

/// How a client of a model server goes about its requests; the same for every server.
///
/// A request that fails for a reason that may pass (no connection, no answer in time, 408, 429, 5xx) is tried again, up
/// to [`attempts`](Self::attempts) in all, after a wait that doubles each time, is cut by chance to between half and the
/// whole of it, and is never shorter than the server's `Retry-After`. What cannot pass is never tried again: a wrong
/// key, an unknown model, an answer that makes no sense.
///
/// # Proxies
/// `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are read when a client is built, in capitals or not. A server
/// on this machine (`localhost`, a loopback address) is always asked directly. The proxies of the desktop's settings
/// and SOCKS proxies are not used.
///
/// # Trust
/// Certificates are checked by the operating system's verifier and against its roots, so a company's own root counts.
/// Redirects are errors: a key goes to the host that it was meant for and to no other.
///
/// ```
/// # use std::time::Duration;
/// use ingrain::HttpOptions;
/// let patient = HttpOptions::new().timeout(Duration::from_secs(600)).attempts(5);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct HttpOptions {
    pub(super) connect_timeout: Duration,
    pub(super) timeout: Duration,
    pub(super) attempts: u32,
    pub(super) backoff: Duration,
    pub(super) max_wait: Duration,
    pub(super) concurrency: usize,
    pub(super) max_response_bytes: usize,
    pub(super) headers: Vec<(String, Secret)>,
    pub(super) demanded: Vec<(&'static str, &'static str)>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(120),
            attempts: 3,
            backoff: Duration::from_millis(500),
            max_wait: Duration::from_secs(60),
            concurrency: 8,
            max_response_bytes: 32 << 20,
            headers: Vec::new(),
            demanded: Vec::new(),
            clock: Arc::new(SystemClock),
        }
    }
}

impl HttpOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long a connection may take to open. Default 10 seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long one try may take, from the first byte sent to the last byte read. Of a streamed answer: how long the
    /// server may be silent. Default 120 seconds; a large model on a small machine may want more.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Most tries of one request, at least 1; 1 never tries again. Default 3.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// The wait before the second try; it doubles before each further one. Default half a second.
    pub fn backoff(mut self, wait: Duration) -> Self {
        self.backoff = wait;
        self
    }

    /// The longest wait between two tries. A server that asks for more gets no further try: the error says how long it
    /// asked for ([`Error::retry_after`](crate::Error::retry_after)). Default 60 seconds.
    pub fn max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// Most requests under way at once, over all clones of the client and its embedders, at least 1; more wait for their
    /// turn. One that waits for its next try counts, so a server that asks to slow down is asked less. Default 8.
    pub fn concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests;
        self
    }

    /// Longest answer that is read, in bytes; a longer one is an error. Default 32 MiB.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_response_bytes = bytes;
        self
    }

    /// Sends a header with every request, in place of one of this name that the client would send; its value is treated
    /// as a secret. For gateways that want one of their own. Default none.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The clock that waits between tries, and against which a date in `Retry-After` is read. Timeouts run on the
    /// system's own. Default [`SystemClock`].
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// A header that the server demands, unless the user set one of this name; nothing secret.
    #[cfg(feature = "anthropic")]
    pub(crate) fn default_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.demanded.push((name, value));
        self
    }
}
