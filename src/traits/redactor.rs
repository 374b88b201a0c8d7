use std::{borrow::Cow, fmt::Debug, sync::Arc};

/// Takes secrets out of a text before it is stored, embedded, logged or sent to a model.
///
/// The contract: a pure function; a text without a secret comes back unchanged and borrowed; what is taken out leaves
/// a visible placeholder; redacting twice changes nothing more.
pub trait Redactor: Debug + Send + Sync + 'static {
    /// `text` with its secrets replaced.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str>;
}

#[deny(clippy::missing_trait_methods)]
impl<T: Redactor + ?Sized> Redactor for Arc<T> {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        (**self).redact(text)
    }
}
