use super::write::check_vector;
use crate::{EmbedderIdentity, Error, ErrorKind, MemoryId, Result};

/// Where a key stands: which memory's it is, and its number among those, from 0. In the order of a walk over all keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPlace {
    /// Whose key it is.
    pub memory: MemoryId,
    /// Its number among the keys of that memory, in the order they were given.
    pub number: u32,
}

/// A key as it is stored, for whoever makes its vector anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// Where it stands.
    pub place: KeyPlace,
    /// What it is found by.
    pub text: String,
    /// Whether it is a [block's](crate::MemoryKind::Block), which is in every prompt and found by no vector: its own is all
    /// zeros, whatever embedder there is.
    pub is_block: bool,
}

/// A vector that is to take the place of the one a key has.
#[derive(Debug, Clone, PartialEq)]
pub struct StagedVector {
    /// The key, with the text the vector was made of.
    pub key: StoredKey,
    /// The vector.
    pub vector: Vec<f32>,
}

impl StagedVector {
    /// Checks width and numbers against the embedder that has made them: for whoever writes a store.
    ///
    /// # Errors
    /// [`EmbedderMismatch`](ErrorKind::EmbedderMismatch) for a wrong width; [`InvalidArgument`](ErrorKind::InvalidArgument)
    /// for a number that is not finite.
    pub fn validate(&self, target: &EmbedderIdentity) -> Result<()> {
        check_vector(&self.vector, Some(target))
    }
}

/// How far a change of embedder had come when it was begun, or taken up again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reembedding {
    /// The embedder the store is bound to, if it is.
    pub bound: Option<EmbedderIdentity>,
    /// Keys that have a vector for the new embedder already.
    pub staged: u64,
    /// All keys.
    pub keys: u64,
}

impl Reembedding {
    /// So many of so many.
    #[must_use]
    pub const fn new(bound: Option<EmbedderIdentity>, staged: u64, keys: u64) -> Self {
        Self { bound, staged, keys }
    }
}

/// Whether vectors of `target` may be staged: not if the store is bound to it already.
///
/// # Errors
/// [`Conflict`](ErrorKind::Conflict) if the change to `target` was never begun, or another has taken its place.
pub(crate) fn is_under_way(
    bound: Option<&EmbedderIdentity>,
    begun: Option<&EmbedderIdentity>,
    target: &EmbedderIdentity,
) -> Result<bool> {
    if bound == Some(target) {
        return Ok(false);
    }
    if begun == Some(target) {
        return Ok(true);
    }
    let told = |embedder: &EmbedderIdentity| format!("`{}` with {}", embedder.name, embedder.dimensions);
    let instead = match (begun, bound) {
        (Some(other), _) => format!("one to {} was begun later", told(other)),
        (None, Some(bound)) => format!("the store is bound to {}", told(bound)),
        (None, None) => "none was begun".to_owned(),
    };
    let message = format!("no change of the embedder to {} is under way: {instead}", told(target));
    Err(Error::new(ErrorKind::Conflict, message))
}

pub(super) fn unsupported<T>(store: &str, target: &EmbedderIdentity) -> Result<T> {
    let message = format!(
        "the store cannot change its embedder to `{}`: export its memories and import them into a new one",
        target.name
    );
    Err(Error::new(ErrorKind::Unsupported, message).with_backend(store))
}
