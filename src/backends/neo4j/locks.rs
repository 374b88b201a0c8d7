//! Who waits for whom.
//!
//! Neo4j reads what was committed, and no more is promised: a read may see one half of what another transaction commits
//! meanwhile. A read of this store sees each batch whole or not at all, so it holds a lock while it reads: that of the
//! scope it reads in. Whoever writes holds the locks of all scopes that cover what it writes. The locks are nodes, and
//! one is taken by writing to it; a read is rolled back, so that it leaves nothing.
//!
//! There is a fixed number of them, and scopes share them by a hash. Each has several stripes, of which a read takes
//! one and a write all: reads of one scope rarely wait for each other.

use std::collections::BTreeSet;

use super::{
    bolt::{Map, Statement, Value, map},
    error::{Neo4jError, Result},
    rows,
};
use crate::{Scope, score::stable_hash::StableHash};

/// How many scopes can be told apart.
const SCOPES: u64 = 256;

/// How many reads of one scope can be under way without waiting for each other.
const STRIPES: u64 = 4;

/// How many lock nodes there are.
pub(super) const COUNT: usize = (SCOPES * STRIPES) as usize;

/// The hash of a scope to read in; two scopes of one hash only wait for each other.
pub(super) fn reader(scope: &Scope) -> u64 {
    let parts = [scope.user_id(), scope.agent_id(), scope.session_id()];
    let hash = |hash: StableHash, part: Option<&str>| hash.text(part.unwrap_or_default()).character('\0');
    parts.into_iter().fold(StableHash::new(1), hash).finish()
}

fn lock(scope: &Scope, stripe: u64) -> i64 {
    ((reader(scope) % SCOPES) * STRIPES + stripe % STRIPES).cast_signed()
}

/// Takes the lock that a read in this scope needs; `turn` differs from call to call.
pub(super) fn for_reading(scope: &Scope, turn: u64) -> Statement {
    take(&BTreeSet::from([lock(scope, turn)]))
}

/// The locks that a write in this scope needs.
pub(super) fn for_writing(scope: &Scope) -> impl Iterator<Item = i64> {
    scope.readers().flat_map(|reader| (0..STRIPES).map(move |stripe| lock(&reader, stripe)))
}

/// Takes locks, in order, so that two who want the same do not wait for each other.
pub(super) fn take(locks: &BTreeSet<i64>) -> Statement {
    let numbers: Value = locks.iter().copied().collect();
    let parameters: Map = map([("numbers", numbers)]);
    let text = "UNWIND $numbers AS number MATCH (l:IngrainLock {number: number}) SET l.held = 0 RETURN count(l)";
    Statement::new(text, parameters)
}

/// Checks the answer to [`take`].
pub(super) fn taken(rows: &[Vec<Value>], count: usize) -> Result<()> {
    let taken = rows::number(rows.first(), 0)?;
    // Someone emptied the database under the open store.
    if usize::try_from(taken) == Ok(count) { Ok(()) } else { Err(Neo4jError::Unreadable("lock")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_holds_the_lock_of_everyone_who_could_see_it() {
        let stored = Scope::user("alice").with_agent("a").with_session("s");
        let held: BTreeSet<i64> = for_writing(&stored).collect();
        for reader in stored.readers() {
            for turn in 0..9 {
                assert!(held.contains(&lock(&reader, turn)), "{reader:?}");
            }
        }
        assert!(held.iter().all(|lock| usize::try_from(*lock).is_ok_and(|lock| lock < COUNT)));
    }
}
