use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;

use crate::{Embedder, EmbedderIdentity, Error, ErrorKind, Purpose, Result};

/// An [`Embedder`] that gives the vectors it was given.
///
/// Any other text gets a fixed vector of length 1 made from its runs of one to three characters, so equal texts have
/// similarity 1 and texts that share words are near each other. Purpose plays no part. Clones share the counts and
/// the failure.
///
/// ```
/// # use ingrain::{EmbedderExt, Purpose, testing::GivenVectors};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let embedder = GivenVectors::new(2).with("tea", [1.0, 0.0]);
/// assert_eq!(embedder.embed_one("tea", Purpose::Query).await?, [1.0, 0.0]);
/// assert_eq!((embedder.requests(), embedder.inputs()), (1, 1));
/// # Ok::<(), ingrain::Error>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GivenVectors {
    identity: EmbedderIdentity,
    given: HashMap<String, Vec<f32>>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    requests: AtomicU64,
    inputs: AtomicU64,
    failing: Mutex<Option<ErrorKind>>,
}

impl GivenVectors {
    /// An embedder of this width, named `given-vectors`, with no vectors given yet.
    #[must_use]
    pub fn new(dimensions: usize) -> Self {
        Self {
            identity: EmbedderIdentity::new("given-vectors", dimensions),
            given: HashMap::new(),
            shared: Arc::default(),
        }
    }

    /// Sets the name of the identity. Default `given-vectors`.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.identity.name = name.into();
        self
    }

    /// Gives the vector of a text, handed out as it is: one of a wrong width makes a faulty embedder.
    #[must_use]
    pub fn with(mut self, text: impl Into<String>, vector: impl Into<Vec<f32>>) -> Self {
        self.given.insert(text.into(), vector.into());
        self
    }

    /// From now on every request fails with this kind; `None` ends that. Requests that fail are counted too.
    pub fn fail_with(&self, kind: impl Into<Option<ErrorKind>>) {
        *self.shared.failing.lock().unwrap_or_else(PoisonError::into_inner) = kind.into();
    }

    /// How many requests were made. An empty list of texts is none.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::SeqCst)
    }

    /// How many texts were sent, over all requests.
    #[must_use]
    pub fn inputs(&self) -> u64 {
        self.shared.inputs.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Embedder for GivenVectors {
    fn identity(&self) -> EmbedderIdentity {
        self.identity.clone()
    }

    async fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        self.shared.requests.fetch_add(1, Ordering::SeqCst);
        self.shared.inputs.fetch_add(texts.len() as u64, Ordering::SeqCst);
        let failing = *self.shared.failing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kind) = failing {
            return Err(Error::new(kind, "told to fail").with_backend(&self.identity.name));
        }
        let vector = |text: &&str| match self.given.get(*text) {
            Some(vector) => vector.clone(),
            None => of_characters(text, self.identity.dimensions),
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// The length-1 vector of a text's runs of one to three characters, each hashed to one signed dimension.
fn of_characters(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0_f32; dimensions];
    let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).chain([text.len()]).collect();
    for length in 1..=3 {
        for run in starts.windows(length + 1) {
            if let [start, .., end] = run {
                let hash = fnv(&text.as_bytes()[*start..*end]);
                vector[(hash >> 1) as usize % dimensions] += if hash & 1 == 0 { 1.0 } else { -1.0 };
            }
        }
    }
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    } else {
        // The empty text, and the rare one whose runs cancel out: still a vector of length 1.
        vector[0] = 1.0;
    }
    vector
}

/// FNV-1a: the standard library's hasher may differ from one release to the next, and vectors must not.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
