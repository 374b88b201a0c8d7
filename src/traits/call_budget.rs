use std::sync::{Mutex, PoisonError};

use crate::{Error, ErrorKind, Result, Usage};

/// What one call of the engine may spend on models, and what it has spent so far.
///
/// Whoever asks a model within it says so [before](CallBudget::begin) and [after](CallBudget::spend) each exchange; an
/// extractor or reconciler without a model has nothing to do with it.
///
/// ```
/// use ingrain::{CallBudget, ErrorKind, Usage};
/// let budget = CallBudget::new(Some(2), Some(1_000));
/// assert_eq!(budget.begin(300)?, Some(700)); // so many tokens the answer may have
/// budget.spend(Usage::new(310, 90), 400);
/// assert_eq!(budget.begin(700).unwrap_err().kind(), ErrorKind::BudgetExhausted);
/// assert_eq!((budget.model_calls(), budget.usage()), (1, Usage::new(310, 90)));
/// # Ok::<(), ingrain::Error>(())
/// ```
#[derive(Debug)]
pub struct CallBudget {
    calls: Option<u32>,
    tokens: Option<u64>,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    calls: u32,
    usage: Usage,
    /// As the provider says or, where it does not, as estimated.
    tokens: u64,
}

impl CallBudget {
    /// So many exchanges with a model, and so many tokens in all, sent and received; `None` for no limit.
    #[must_use]
    pub fn new(calls: Option<u32>, tokens: Option<u64>) -> Self {
        Self { calls, tokens, spent: Mutex::default() }
    }

    /// Takes one exchange out of the budget, of about so many tokens sent. Returns the most tokens that the answer may
    /// have, `None` for no limit.
    ///
    /// # Errors
    /// [`BudgetExhausted`](ErrorKind::BudgetExhausted) if no exchange is left, or no token for the answer; nothing was
    /// taken then.
    pub fn begin(&self, input_tokens: u64) -> Result<Option<u32>> {
        let mut spent = self.spent();
        if self.calls.is_some_and(|calls| spent.calls >= calls) {
            return Err(Error::new(ErrorKind::BudgetExhausted, "no call of a model is left"));
        }
        let left = self.tokens.map(|tokens| tokens.saturating_sub(spent.tokens).saturating_sub(input_tokens));
        if left == Some(0) {
            return Err(Error::new(ErrorKind::BudgetExhausted, "too few tokens are left for a call of a model"));
        }
        spent.calls += 1;
        Ok(left.map(|left| u32::try_from(left).unwrap_or(u32::MAX)))
    }

    /// Says what the exchange cost: as the provider counted and, for providers that do not, as estimated.
    pub fn spend(&self, usage: Usage, estimated_tokens: u64) {
        let mut spent = self.spent();
        spent.usage += usage;
        let counted = usage.input_tokens.saturating_add(usage.output_tokens);
        let tokens = if counted == 0 { estimated_tokens } else { counted };
        spent.tokens = spent.tokens.saturating_add(tokens);
    }

    /// Exchanges so far, also those that failed.
    #[must_use]
    pub fn model_calls(&self) -> u32 {
        self.spent().calls
    }

    /// Tokens so far, as the provider counted them.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.spent().usage
    }

    fn spent(&self) -> std::sync::MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
