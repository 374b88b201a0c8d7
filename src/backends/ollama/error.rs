use crate::{
    ErrorKind,
    http::{Refusal, default_kind},
};

/// What a refusal of Ollama is to the caller.
pub(super) fn kind(refusal: &Refusal) -> ErrorKind {
    // Said of a model that cannot chat, or cannot embed: no other request to it will fare better.
    if refusal.says(&["does not support chat", "does not support generate", "does not support embeddings"]) {
        return ErrorKind::Configuration;
    }
    if refusal.says(&["exceeds the context length", "exceeds maximum context"]) {
        return ErrorKind::InvalidArgument;
    }
    default_kind(refusal)
}
