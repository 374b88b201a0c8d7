use std::{collections::BTreeMap, ops::Bound};

use crate::Scope;

/// The scopes that something is under, in order, each with how much it is.
#[derive(Debug, Default)]
pub(super) struct Scopes(BTreeMap<Scope, usize>);

impl Scopes {
    pub(super) fn add(&mut self, scope: &Scope) {
        *self.0.entry(scope.clone()).or_default() += 1;
    }

    pub(super) fn take(&mut self, scope: &Scope) {
        let Some(count) = self.0.get_mut(scope) else { return };
        *count -= 1;
        if *count == 0 {
            self.0.remove(scope);
        }
    }

    pub(super) fn after(&self, after: Option<&Scope>, limit: usize) -> Vec<Scope> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.0.range((from, Bound::Unbounded)).take(limit).map(|(scope, _)| scope.clone()).collect()
    }
}
