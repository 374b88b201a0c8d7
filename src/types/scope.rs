use std::fmt;

use serde::{Deserialize, Serialize};

use super::Filter;
use crate::{Error, Result};

/// Longest part of a scope, in bytes.
const PART_LIMIT: usize = 1_024;

/// Whose memory it is: a user, an agent, a session, or any set of these.
///
/// A memory carries the parts it was stored with. A read names a scope and sees only memories whose every named part
/// is equal: `Scope::user("alice")` sees all of Alice's sessions, `Scope::user("alice").with_session("7")` only that
/// one. Parts are Unicode text and compared byte for byte; nothing is trimmed, folded or parsed.
///
/// A scope is checked by the call that takes it: an empty scope, and a part that is blank, longer than 1,024 bytes or
/// holds a NUL character, is refused with [`InvalidArgument`](crate::ErrorKind::InvalidArgument).
///
/// ```
/// use ingrain::Scope;
/// let alice = Scope::user("alice");
/// let session = alice.clone().with_session("2025-02-10");
/// assert!(alice.covers(&session) && !session.covers(&alice));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scope {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

impl Scope {
    /// The scope of one user.
    #[must_use]
    pub fn user(user: impl Into<String>) -> Self {
        Self { user: Some(user.into()), agent: None, session: None }
    }

    /// The scope of one agent.
    #[must_use]
    pub fn agent(agent: impl Into<String>) -> Self {
        Self { user: None, agent: Some(agent.into()), session: None }
    }

    /// The scope of one session.
    #[must_use]
    pub fn session(session: impl Into<String>) -> Self {
        Self { user: None, agent: None, session: Some(session.into()) }
    }

    /// The scope with these parts, for code that has them as options. Checked like any other when it is used.
    #[must_use]
    pub fn from_parts(user: Option<String>, agent: Option<String>, session: Option<String>) -> Self {
        Self { user, agent, session }
    }

    /// Also names the user.
    #[must_use]
    pub fn with_user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Also names the agent.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Also names the session.
    #[must_use]
    pub fn with_session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// The scope without its session, unless the session is all it names.
    ///
    /// What is known about a user outlives the session it was said in, so new facts are held against this scope.
    #[must_use]
    pub fn across_sessions(&self) -> Self {
        if self.user.is_none() && self.agent.is_none() {
            return self.clone();
        }
        Self { user: self.user.clone(), agent: self.agent.clone(), session: None }
    }

    /// The user part.
    #[must_use]
    pub fn user_id(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The agent part.
    #[must_use]
    pub fn agent_id(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// The session part.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Whether a read in this scope sees a memory stored in `other`: every part named here is equal there.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        fn part(reader: Option<&String>, stored: Option<&String>) -> bool {
            reader.is_none() || reader == stored
        }
        part(self.user.as_ref(), other.user.as_ref())
            && part(self.agent.as_ref(), other.agent.as_ref())
            && part(self.session.as_ref(), other.session.as_ref())
    }

    /// What admits the memories that are stored in exactly this scope.
    pub(crate) fn exactly(&self) -> Filter {
        let part = |name: &str, part: &Option<String>| match part {
            Some(part) => Filter::eq(name, part.as_str()),
            None => !Filter::exists(name),
        };
        Filter::And(vec![part("session", &self.session), part("user", &self.user), part("agent", &self.agent)])
    }

    /// Every scope that covers this one: all its non-empty sub-sets of parts, itself included.
    pub(crate) fn readers(&self) -> impl Iterator<Item = Self> {
        (1..8_u8).filter_map(move |mask| {
            let pick = |bit: u8, part: &Option<String>| (mask & bit != 0).then(|| part.clone()).flatten();
            let reader =
                Self { user: pick(1, &self.user), agent: pick(2, &self.agent), session: pick(4, &self.session) };
            let named = [&reader.user, &reader.agent, &reader.session].iter().filter(|part| part.is_some()).count();
            // A mask that asks for a part which is not there repeats a smaller mask.
            (named == mask.count_ones() as usize).then_some(reader)
        })
    }

    /// The scopes that name one part of it each. Together they cover all that any scope covers which covers this one.
    pub(crate) fn single_parts(&self) -> impl Iterator<Item = Self> {
        let Self { user, agent, session } = self.clone();
        let user = user.map(Self::user);
        user.into_iter().chain(agent.map(Self::agent)).chain(session.map(Self::session))
    }

    /// Whether something may be in both: no part is named in both and is another one there.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        let agree = |one: &Option<String>, other: &Option<String>| one.is_none() || other.is_none() || one == other;
        agree(&self.user, &other.user) && agree(&self.agent, &other.agent) && agree(&self.session, &other.session)
    }

    /// Whose it is: the user's, or without a user the agent's, or else the session's. In the order of scopes, those of one
    /// owner lie together, and owners come in the order of what they own.
    pub(crate) fn owner(&self) -> Self {
        match self {
            Self { user: Some(user), .. } => Self::user(user),
            Self { agent: Some(agent), .. } => Self::agent(agent),
            Self { session, .. } => Self::from_parts(None, None, session.clone()),
        }
    }

    /// The last scope, in the order of scopes, that has all parts up to the last one named here: an owner's own are not
    /// after it, and all of the next owner's are.
    pub(crate) fn last_within(&self) -> Self {
        // No part is greater, as none is longer.
        let last = || Some(char::MAX.to_string().repeat(PART_LIMIT / char::MAX.len_utf8()));
        match self {
            Self { session: Some(_), .. } => self.clone(),
            Self { agent: Some(_), .. } => Self { session: last(), ..self.clone() },
            Self { .. } => Self { agent: last(), session: last(), ..self.clone() },
        }
    }

    /// Checks the rules above.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument), naming the part.
    pub fn validate(&self) -> Result<()> {
        let parts = [("user", &self.user), ("agent", &self.agent), ("session", &self.session)];
        if parts.iter().all(|(_, part)| part.is_none()) {
            return Err(Error::invalid("a scope must name a user, an agent or a session"));
        }
        for (name, part) in parts {
            let Some(part) = part else { continue };
            if part.trim().is_empty() {
                return Err(Error::invalid(format!("the {name} of a scope must not be blank")));
            }
            if part.len() > PART_LIMIT {
                return Err(Error::invalid(format!("the {name} of a scope is longer than {PART_LIMIT} bytes")));
            }
            if part.contains('\0') {
                return Err(Error::invalid(format!("the {name} of a scope holds a NUL character")));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = f.debug_struct("Scope");
        for (name, part) in [("user", &self.user), ("agent", &self.agent), ("session", &self.session)] {
            if let Some(part) = part {
                parts.field(name, part);
            }
        }
        parts.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_long_and_nul_parts_are_refused() {
        for bad in ["", "   ", "\u{2003}", "a\0b"] {
            assert!(Scope::user(bad).validate().is_err(), "{bad:?}");
            assert!(Scope::user("ok").with_session(bad).validate().is_err(), "{bad:?}");
        }
        assert!(Scope::agent("x".repeat(PART_LIMIT + 1)).validate().is_err());
        assert!(Scope::from_parts(None, None, None).validate().is_err());
        assert!(Scope::user("👩‍🚀 Зоя/../%' --").validate().is_ok());
    }

    #[test]
    fn scopes_of_one_owner_lie_together() {
        let parts = [None, Some("a"), Some("b"), Some("\u{10ffff}\u{10ffff}")].map(|part| part.map(str::to_owned));
        let mut scopes = Vec::new();
        for user in &parts {
            for agent in &parts {
                scopes.extend(
                    parts.iter().map(|session| Scope::from_parts(user.clone(), agent.clone(), session.clone())),
                );
            }
        }
        scopes.retain(|scope| scope.validate().is_ok());
        scopes.sort();
        for scope in &scopes {
            let owner = scope.owner();
            assert!(owner.covers(scope) && owner.validate().is_ok() && owner.last_within().validate().is_ok());
            for other in &scopes {
                assert_eq!(other.owner() <= owner, *other <= owner.last_within(), "{other:?} and {owner:?}");
            }
        }
        let owners: Vec<Scope> = scopes.iter().map(Scope::owner).collect();
        assert!(owners.is_sorted());
    }

    #[test]
    fn a_reader_sees_what_has_all_its_parts() {
        let stored = Scope::user("a").with_agent("b");
        assert!(Scope::user("a").covers(&stored) && Scope::agent("b").covers(&stored));
        assert!(!Scope::user("a").with_session("s").covers(&stored) && !Scope::user("A").covers(&stored));
        let readers: Vec<_> = stored.readers().collect();
        assert_eq!(readers, [Scope::user("a"), Scope::agent("b"), stored.clone()]);
    }
}
