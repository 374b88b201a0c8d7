use crate::{Error, Result};

/// How many tokens a context may have, and how many of them blocks may take.
///
/// Tokens are counted by the engine's [`TokenCounter`](crate::TokenCounter), frame included.
///
/// ```
/// use ingrain::TokenBudget;
/// let budget = TokenBudget::new(800).blocks(0.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct TokenBudget {
    /// Most tokens of the text; with 0 it is empty.
    pub tokens: usize,
    /// The share of them that blocks may take, 0 to 1.
    pub blocks: f32,
}

impl TokenBudget {
    /// So many tokens, half of them for blocks.
    pub const fn new(tokens: usize) -> Self {
        Self { tokens, blocks: 0.5 }
    }

    /// The share that blocks may take, 0 to 1, of what the frame leaves. What they do not need goes to what fits the
    /// query; they get no more than this even if nothing does, so that they are the same for every query. Default 0.5.
    pub const fn blocks(mut self, share: f32) -> Self {
        self.blocks = share;
        self
    }

    pub(crate) fn validate(self) -> Result<()> {
        if (0.0..=1.0).contains(&self.blocks) {
            Ok(())
        } else {
            Err(Error::invalid("the blocks' share of a token budget must be 0 to 1"))
        }
    }

    /// The tokens for blocks, of those that are left beside the frame.
    pub(super) fn for_blocks(self, left: usize) -> usize {
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // A share of a budget: rounding is of no account, and the product is not negative.
        let tokens = (left as f64 * f64::from(self.blocks)) as usize;
        tokens.min(left)
    }
}

impl From<usize> for TokenBudget {
    fn from(tokens: usize) -> Self {
        Self::new(tokens)
    }
}
