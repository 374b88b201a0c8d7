use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{
    AddFailure, AddQueue, CallId, Claim, Claimed, Error, ErrorKind, QueuedAdd, QueuedState, Result, Scope, Timestamp,
};

/// The queue of an [`InMemoryStore`](super::InMemoryStore). Clones share the content.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    adds: BTreeMap<u64, QueuedAdd>,
    places: HashMap<CallId, u64>,
}

impl Queue {
    /// How many adds there are.
    pub(super) fn count(&self) -> u64 {
        self.state().adds.len() as u64
    }

    // Nothing below can fail midway, so a poisoned lock guards a sound state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, id: CallId) -> Option<&mut QueuedAdd> {
        self.adds.get_mut(self.places.get(&id)?)
    }

    /// The running add, if this is its last claim.
    fn claimed(&mut self, id: CallId, attempt: u32) -> Option<&mut QueuedAdd> {
        self.add(id).filter(|add| add.state == QueuedState::Running && add.attempts == attempt)
    }

    /// The add, if the scope covers it.
    fn covered(&mut self, scope: &Scope, id: CallId) -> Option<&mut QueuedAdd> {
        self.add(id).filter(|add| scope.covers(&add.scope))
    }

    fn remove(&mut self, id: CallId) -> bool {
        self.places.remove(&id).and_then(|place| self.adds.remove(&place)).is_some()
    }

    fn claim(&mut self, claim: &Claim) -> Claimed {
        let running: HashSet<CallId> = claim.running.iter().copied().collect();
        let busy = self.adds.values().filter(|add| add.state == QueuedState::Running);
        let busy: HashMap<Scope, (CallId, Timestamp)> =
            busy.map(|add| (add.lane(), (add.id, add.due_from(claim.now)))).collect();
        let mut lanes = HashSet::new();
        let mut first: Option<Timestamp> = None;
        for add in self.adds.values_mut().filter(|add| add.state != QueuedState::Failed) {
            let lane = add.lane();
            let beside = busy.get(&lane).copied();
            if !lanes.insert(lane) || beside.is_some_and(|(id, _)| running.contains(&id)) {
                continue;
            }
            let from = add.due_from(claim.now).max(beside.map_or(Timestamp::MIN_UTC, |(_, until)| until));
            if from > claim.now {
                first = Some(first.map_or(from, |first| first.min(from)));
                continue;
            }
            add.interruptions += u32::from(add.state == QueuedState::Running);
            add.state = QueuedState::Running;
            add.leased_until = Some(claim.until());
            add.attempts += 1;
            add.memory.get_or_insert(claim.memory);
            return Claimed::Add(Box::new(add.clone()));
        }
        first.map_or(Claimed::Nothing, Claimed::NotBefore)
    }
}

#[async_trait]
impl AddQueue for Queue {
    fn name(&self) -> &'static str {
        "in_memory"
    }

    async fn push(&self, add: &QueuedAdd, capacity: usize) -> Result<()> {
        add.scope.validate()?;
        let mut state = self.state();
        if state.places.contains_key(&add.id) {
            return Err(Error::new(ErrorKind::Conflict, "the add is queued already").with_backend("in_memory"));
        }
        if state.adds.len() >= capacity {
            let failed = state.adds.values().filter(|add| add.state == QueuedState::Failed).count();
            let message = format!("the queue holds {} adds, {failed} of which have failed", state.adds.len());
            return Err(Error::new(ErrorKind::QueueFull, message).with_backend("in_memory"));
        }
        let place = state.next;
        state.next += 1;
        state.places.insert(add.id, place);
        state.adds.insert(place, add.clone());
        Ok(())
    }

    async fn claim(&self, claim: &Claim) -> Result<Claimed> {
        Ok(self.state().claim(claim))
    }

    async fn renew(&self, id: CallId, attempt: u32, until: Timestamp) -> Result<bool> {
        Ok(self.state().claimed(id, attempt).map(|add| add.leased_until = Some(until)).is_some())
    }

    async fn finish(&self, id: CallId) -> Result<bool> {
        Ok(self.state().remove(id))
    }

    async fn fail(&self, id: CallId, attempt: u32, failure: &AddFailure, again_at: Option<Timestamp>) -> Result<bool> {
        let mut state = self.state();
        let Some(add) = state.claimed(id, attempt) else {
            let noted = |add: &mut QueuedAdd| add.attempts == attempt && add.failure.as_ref() == Some(failure);
            return Ok(state.add(id).is_some_and(noted));
        };
        add.state = if again_at.is_some() { QueuedState::Waiting } else { QueuedState::Failed };
        add.due_at = again_at.unwrap_or(add.due_at);
        add.leased_until = None;
        add.failures += 1;
        add.failure = Some(failure.clone());
        Ok(true)
    }

    async fn list(&self, scope: &Scope) -> Result<Vec<QueuedAdd>> {
        scope.validate()?;
        Ok(self.state().adds.values().filter(|add| scope.covers(&add.scope)).cloned().collect())
    }

    async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        after.map_or(Ok(()), Scope::validate)?;
        let state = self.state();
        let scopes: BTreeSet<&Scope> =
            state.adds.values().map(|add| &add.scope).filter(|scope| Some(*scope) > after).collect();
        Ok(scopes.into_iter().take(limit).cloned().collect())
    }

    async fn unfinished_of_everyone(&self) -> Result<u64> {
        Ok(self.state().adds.values().filter(|add| add.state != QueuedState::Failed).count() as u64)
    }

    async fn failed_of_everyone(&self) -> Result<Vec<QueuedAdd>> {
        Ok(self.state().adds.values().filter(|add| add.state == QueuedState::Failed).cloned().collect())
    }

    async fn retry(&self, scope: &Scope, id: CallId, now: Timestamp) -> Result<bool> {
        scope.validate()?;
        let mut state = self.state();
        let Some(add) = state.covered(scope, id).filter(|add| add.state == QueuedState::Failed) else {
            return Ok(false);
        };
        add.state = QueuedState::Waiting;
        add.due_at = now;
        (add.failures, add.interruptions) = (0, 0);
        Ok(true)
    }

    async fn discard(&self, scope: &Scope, id: CallId) -> Result<bool> {
        scope.validate()?;
        let mut state = self.state();
        Ok(state.covered(scope, id).is_some() && state.remove(id))
    }

    async fn erase(&self, scope: &Scope) -> Result<u64> {
        scope.validate()?;
        let mut state = self.state();
        let covered = state.adds.values().filter(|add| scope.covers(&add.scope));
        let ids: Vec<CallId> = covered.map(|add| add.id).collect();
        Ok(ids.into_iter().filter(|id| state.remove(*id)).count() as u64)
    }
}
