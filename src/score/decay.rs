//! How memories fade: what is old and was not recalled counts less, and nothing is lost by it.
//!
//! ```text
//! since     = the latest of when it was said, since when it holds, and when it was last recalled
//! age       = now − since, at least 0
//! strength  = min(1 + reinforcement · ln(1 + times recalled), most_reinforced)
//! d         = max(floor, 2^(−age / (half_life · strength)))        1 if it is pinned, or of a kind that does not fade
//! effective importance = importance · d
//! ```
//!
//! All of it is computed when it is read, from what is stored: nothing is written as time goes by, two processes agree, and
//! the importance that a memory was given stays. `d` lies in 0 to 1, so nothing ever counts more than it was given. What is
//! still to come (it holds from a date on that lies ahead) does not fade before it has.
//!
//! In a search `d` counts in one of two forms ([`DecayForm`]):
//!
//! ```text
//! bounded    score · (1 + α · (d − ½))               α is the weight `recency`, at most 0.2: old and fitting beats new and
//!                                                    unfitting, whatever their ages
//! additive   ½ · (score + importance · d)            in the order of importance · d + score
//! ```
//!
//! By default `α` is 0: age plays no part in what is found first, and is there to be seen, for filters and for clean-up. For
//! it was measured to do harm where questions are asked of all of the past. Turns with a half-life of 30 days (recall@10,
//! p-value of the difference; as `--ablate` of the examples `locomo` and `beam` prints for 0.1):
//!
//! | α | 0 | 0.05 | 0.1 | 0.2 |
//! | --- | --- | --- | --- | --- |
//! | LoCoMo | .834 | .827 (.001) | .819 (< .001) | .777 (< .001) |
//! | BEAM | .559 | .549 (.19) | .532 (.01) | .491 (< .001) |
//!
//! At 0.1 half-lives of 7 and of 180 days cost .010 and .009 of the one and .032 and .015 of the other, one of two years .003
//! and .011; and the newer of two answers comes first no more often for it (.850 of the questions of BEAM whose answer
//! changed), since what has changed is told by other means. It is for applications whose users ask mostly of what is recent.
//!
//! # Source
//! Forgetting as an exponential of time over strength is Ebbinghaus, "Über das Gedächtnis", 1885, in the form of MemoryBank
//! (Zhong et al., "MemoryBank: Enhancing Large Language Models with Long-Term Memory", 2023: R = e^(−t/S), where a recall
//! strengthens S and starts t anew); here base 2, so that S is a half-life. That the strength grows with the logarithm of the
//! recalls, and no further than a bound, keeps what is recalled because it was recalled from staying on top for ever; the
//! logarithm of repetitions is that of base-level learning (Anderson and Schooler, "Reflections of the Environment in
//! Memory", 1991). The additive form is the sum of recency, importance and relevance of generative agents (Park et al.,
//! "Generative Agents: Interactive Simulacra of Human Behavior", 2023), with importance and recency multiplied. Half-lives,
//! reinforcement and floor were chosen, not measured: no public data set has recalls.

use std::{collections::BTreeMap, time::Duration};

use crate::{Attributes, Error, ErrorKind, Memory, MemoryKind, Result, Timestamp};

/// The greatest weight of recency in the bounded form.
pub const MOST_RECENCY: f32 = 0.2;

/// Where the bounded form neither adds nor takes away.
const NEUTRAL: f32 = 0.5;

const DAY: u64 = 24 * 60 * 60;

/// How fading counts in a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecayForm {
    /// As a factor near 1, in a hybrid search, by the weight [`recency`](super::fusion::Weights::recency), which is 0 unless
    /// another is set: then it does not count at all. A query that names a time asks for what was then: there it does not
    /// count either.
    #[default]
    Bounded,
    /// As the mean of the score and the effective importance, in a search of any mode, among what the query proposes.
    /// Scores then tell as much of importance as of fit, so a threshold means something else. And where a query proposes
    /// all there is, as one does in a small store, since hardly anything is of no likeness at all, what is pinned or of
    /// full importance comes before what answers the query, unless that fits far better: for prompts that are to open with
    /// what matters, and not for questions.
    Additive,
}

/// How fast memories of each kind fade.
///
/// ```
/// use std::time::Duration;
/// use ingrain::{MemoryKind, score::decay::DecayPolicy};
/// let day = Duration::from_secs(24 * 60 * 60);
/// let policy = DecayPolicy::new().half_life(MemoryKind::Fact, 90 * day).never(MemoryKind::Preference).floor(0.2);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct DecayPolicy {
    /// How it counts in a search.
    pub form: DecayForm,
    /// The half-life of each kind; `None` for one that does not fade.
    pub half_lives: BTreeMap<MemoryKind, Option<Duration>>,
    /// The half-life of every other kind.
    pub other: Option<Duration>,
    /// What no memory fades below, 0 to 1.
    pub floor: f32,
    /// How much longer a memory lasts for being recalled.
    pub reinforcement: f32,
    /// The greatest factor by which being recalled prolongs the half-life.
    pub most_reinforced: f32,
}

impl Default for DecayPolicy {
    fn default() -> Self {
        Self::new()
    }
}

impl DecayPolicy {
    /// Half-lives of 30 days for turns, 90 for summaries, 180 for everything else but blocks, which do not fade; down to a
    /// tenth.
    pub fn new() -> Self {
        let days = |days: u64| Some(Duration::from_secs(days * DAY));
        let half_lives = [(MemoryKind::Episode, days(30)), (MemoryKind::Summary, days(90)), (MemoryKind::Block, None)];
        Self {
            form: DecayForm::Bounded,
            half_lives: half_lives.into(),
            other: days(180),
            floor: 0.1,
            reinforcement: 0.5,
            most_reinforced: 4.0,
        }
    }

    /// How fading counts in a search. Default [`DecayForm::Bounded`].
    pub fn form(mut self, form: DecayForm) -> Self {
        self.form = form;
        self
    }

    /// After how long half is left of a memory of this kind that was never recalled; more than no time. Default: 30 days for
    /// episodes, 90 for summaries, and for other kinds that of [`others`](Self::others).
    pub fn half_life(mut self, kind: MemoryKind, half_life: Duration) -> Self {
        self.half_lives.insert(named(&kind), Some(half_life));
        self
    }

    /// Memories of this kind do not fade. Default: blocks.
    pub fn never(mut self, kind: MemoryKind) -> Self {
        self.half_lives.insert(named(&kind), None);
        self
    }

    /// The half-life of all kinds that have none of their own; `None` for no fading. Default 180 days.
    pub fn others(mut self, half_life: Option<Duration>) -> Self {
        self.other = half_life;
        self
    }

    /// What no memory fades below, 0 to 1. Default 0.1.
    pub fn floor(mut self, floor: f32) -> Self {
        self.floor = floor;
        self
    }

    /// How much longer a memory lasts for being recalled: its half-life is prolonged by the factor
    /// `1 + reinforcement · ln(1 + times recalled)`, and to `most` times at most. Recalls are counted where this is asked for:
    /// [`MemoryEngine::touch`](crate::MemoryEngine::touch), [`SearchRequest::record_access`](crate::SearchRequest::record_access).
    /// With a reinforcement of 0 only the time of the last recall counts. Default 0.5, and 4 times.
    pub fn reinforcement(mut self, reinforcement: f32, most: f32) -> Self {
        self.reinforcement = reinforcement;
        self.most_reinforced = most;
        self
    }

    /// How much is left of a memory, `d`: from the floor to 1. See the [module](self) for the formula.
    #[must_use]
    pub fn left(&self, memory: &Memory, now: Timestamp) -> f32 {
        self.left_of(&Fading::from(memory), now)
    }

    /// The importance of a memory, faded: from 0 to the importance it was given.
    ///
    /// ```
    /// use std::time::Duration;
    /// use ingrain::{Memory, MemoryId, MemoryKind, Scope, score::decay::DecayPolicy};
    /// let (said, now) = ("2025-02-03T08:00:00Z".parse()?, "2025-02-10T08:00:00Z".parse()?);
    /// let mut memory = Memory::new(MemoryId::new(said), Scope::user("alice"), "Owns a kayak", said);
    /// memory.importance = 0.8;
    /// let policy = DecayPolicy::new().half_life(MemoryKind::Fact, Duration::from_secs(7 * 24 * 60 * 60));
    /// assert_eq!(policy.effective_importance(&memory, now), 0.4);
    /// # Ok::<(), chrono::ParseError>(())
    /// ```
    #[must_use]
    pub fn effective_importance(&self, memory: &Memory, now: Timestamp) -> f32 {
        memory.importance * self.left(memory, now)
    }

    pub(crate) fn left_of(&self, fading: &Fading<'_>, now: Timestamp) -> f32 {
        let half_life = match self.half_lives.get(fading.kind) {
            Some(own) => *own,
            None => self.other,
        };
        let Some(half_life) = half_life.filter(|_| !fading.pinned) else { return 1.0 };
        let recalled = fading.accessed_at.unwrap_or(fading.observed_at);
        let since = fading.observed_at.max(fading.valid_at).max(recalled);
        let age = now.signed_duration_since(since).to_std().unwrap_or_default();
        halved(age, half_life.as_secs_f64() * self.strength(fading.access_count)).max(self.floor)
    }

    /// By how much being recalled prolongs the half-life.
    fn strength(&self, accesses: u64) -> f64 {
        // A count of recalls: rounding is of no account.
        let prolonged = 1.0 + f64::from(self.reinforcement) * (accesses as f64).ln_1p();
        prolonged.min(f64::from(self.most_reinforced))
    }

    pub(crate) fn validate(&self) -> Result<()> {
        let bad = |what: &str| Err(Error::new(ErrorKind::Configuration, format!("in the decay policy {what}")));
        let half_lives = self.half_lives.values().chain([&self.other]).flatten();
        if half_lives.into_iter().any(Duration::is_zero) {
            return bad("a half-life is no time at all");
        }
        if !(0.0..=1.0).contains(&self.floor) {
            return bad("the floor is not in 0 to 1");
        }
        let grows = |number: f32, least: f32| number.is_finite() && (least..=1e6).contains(&number);
        if !grows(self.reinforcement, 0.0) || !grows(self.most_reinforced, 1.0) {
            return bad("the reinforcement is not in 0 to a million, or its limit not in 1 to a million");
        }
        Ok(())
    }
}

/// A custom kind with the name of another is that other, as it is everywhere.
fn named(kind: &MemoryKind) -> MemoryKind {
    MemoryKind::from(kind.as_str())
}

/// What fading depends on, of a memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fading<'m> {
    kind: &'m MemoryKind,
    pinned: bool,
    observed_at: Timestamp,
    valid_at: Timestamp,
    access_count: u64,
    accessed_at: Option<Timestamp>,
}

impl<'m> From<&'m Memory> for Fading<'m> {
    fn from(memory: &'m Memory) -> Self {
        let Memory { kind, pinned, observed_at, valid_at, access_count, accessed_at, .. } = memory;
        Self {
            kind,
            pinned: *pinned,
            observed_at: *observed_at,
            valid_at: *valid_at,
            access_count: *access_count,
            accessed_at: *accessed_at,
        }
    }
}

impl<'m> From<&'m Attributes> for Fading<'m> {
    fn from(attributes: &'m Attributes) -> Self {
        let Attributes { kind, pinned, observed_at, valid_at, access_count, accessed_at, .. } = attributes;
        Self {
            kind,
            pinned: *pinned,
            observed_at: *observed_at,
            valid_at: *valid_at,
            access_count: *access_count,
            accessed_at: *accessed_at,
        }
    }
}

/// What is left after an age: `2^(−age / half_life)`, 0 to 1. After no time 1, and 0 after any time of a half-life of none.
///
/// ```
/// use std::time::Duration;
/// use ingrain::score::decay::decay;
/// let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
/// assert_eq!((decay(minutes(30), minutes(30)), decay(minutes(90), minutes(30))), (0.5, 0.125));
/// ```
#[must_use]
pub fn decay(age: Duration, half_life: Duration) -> f32 {
    halved(age, half_life.as_secs_f64())
}

#[expect(clippy::cast_possible_truncation, reason = "what is left is 0 to 1")]
fn halved(age: Duration, half_life: f64) -> f32 {
    if age.is_zero() { 1.0 } else { (-age.as_secs_f64() / half_life).exp2() as f32 }
}

/// The score of the bounded form: `score · (1 + α · (d − ½))`, kept within 0 to 1.
#[must_use]
pub fn bounded(score: f32, left: f32, alpha: f32) -> f32 {
    (score * (1.0 + alpha * (left - NEUTRAL))).clamp(0.0, 1.0)
}

/// The score of the additive form: `½ · (score + effective importance)`.
#[must_use]
pub fn additive(score: f32, effective_importance: f32) -> f32 {
    0.5 * (score + effective_importance)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{MemoryId, Scope};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_700_000_000 + seconds, 0).unwrap_or_default()
    }

    fn memory(kind: MemoryKind) -> Memory {
        let mut memory = Memory::new(MemoryId::new(at(0)), Scope::user("alice"), "Owns a kayak", at(0));
        memory.kind = kind;
        memory
    }

    const HOUR: i64 = 3_600;

    #[test]
    fn each_kind_has_its_half_life() {
        let policy = DecayPolicy::new().half_life(MemoryKind::Custom("fact".to_owned()), Duration::from_secs(3_600));
        let left = |kind: &str, hours: i64| policy.left(&memory(kind.into()), at(hours * HOUR));
        assert_eq!((left("fact", 1), left("fact", 2), left("fact", -5)), (0.5, 0.25, 1.0));
        assert_eq!((left("episode", 30 * 24), left("summary", 90 * 24)), (0.5, 0.5));
        assert_eq!((left("preference", 180 * 24), left("recipe", 360 * 24)), (0.5, 0.25));
        assert_eq!((left("block", i64::from(i32::MAX)), left("fact", i64::from(i32::MAX))), (1.0, 0.1));
    }

    #[test]
    fn a_recall_starts_the_age_anew_and_prolongs_the_half_life() {
        let hour = Duration::from_secs(3_600);
        let policy = DecayPolicy::new().others(Some(hour)).floor(0.0).reinforcement(1.0, 3.0);
        let mut recalled = memory(MemoryKind::Fact);
        (recalled.access_count, recalled.accessed_at) = (1, Some(at(HOUR)));
        let left = |memory: &Memory, hours: i64| policy.left(memory, at(hours * HOUR));
        assert_eq!(left(&recalled, 1), 1.0);
        let prolonged = f64::from(left(&recalled, 3)).log2().abs();
        assert!((prolonged - 2.0 / (1.0 + std::f64::consts::LN_2)).abs() < 1e-6, "{prolonged}");
        recalled.access_count = u64::MAX;
        assert_eq!(left(&recalled, 4), 0.5, "three times as long, and no more");
    }

    #[test]
    fn what_is_to_come_fades_from_when_it_has() {
        let policy = DecayPolicy::new().others(Some(Duration::from_secs(3_600)));
        let mut ahead = memory(MemoryKind::Fact);
        ahead.valid_at = at(100 * HOUR);
        let left = |hours: i64| policy.left(&ahead, at(hours * HOUR));
        assert_eq!((left(0), left(99), left(100), left(101)), (1.0, 1.0, 1.0, 0.5));
    }

    #[test]
    fn a_policy_is_checked() {
        let (policy, none) = (DecayPolicy::new, Duration::ZERO);
        assert!(
            policy().validate().is_ok() && policy().others(None).floor(0.0).reinforcement(0.0, 1.0).validate().is_ok()
        );
        for bad in [
            policy().half_life(MemoryKind::Fact, none),
            policy().others(Some(none)),
            policy().floor(-0.1),
            policy().floor(1.1),
            policy().floor(f32::NAN),
            policy().reinforcement(-1.0, 2.0),
            policy().reinforcement(f32::INFINITY, 2.0),
            policy().reinforcement(1.0, 0.5),
            policy().reinforcement(1.0, f32::NAN),
        ] {
            assert_eq!(bad.validate().map_err(|error| error.kind()), Err(ErrorKind::Configuration), "{bad:?}");
        }
        assert_eq!(
            (decay(none, none), decay(Duration::MAX, none), decay(Duration::MAX, Duration::MAX)),
            (1.0, 0.0, 0.5)
        );
    }

    prop_compose! {
        fn policies()(floor in 0.0_f32..=1.0, reinforcement in 0.0_f32..10.0, most in 1.0_f32..100.0, days in 1_u64..4_000)
            -> DecayPolicy
        {
            let half_life = Duration::from_secs(days * DAY);
            DecayPolicy::new().others(Some(half_life)).floor(floor).reinforcement(reinforcement, most)
        }
    }

    proptest! {
        #[test]
        fn fading_is_monotone_and_bounded(
            policy in policies(),
            importance in 0.0_f32..=1.0,
            accesses in 0_u64..1_000_000,
            accessed in proptest::option::of(-1_000_000_000_i64..1_000_000_000),
            valid in -1_000_000_000_i64..1_000_000_000,
            ages in (-2_000_000_000_i64..2_000_000_000, -2_000_000_000_i64..2_000_000_000),
        ) {
            let mut one = memory(MemoryKind::Fact);
            (one.importance, one.access_count, one.accessed_at) = (importance, accesses, accessed.map(at));
            one.valid_at = at(valid);
            let (early, late) = (at(ages.0.min(ages.1)), at(ages.0.max(ages.1)));
            let (before, after) = (policy.left(&one, early), policy.left(&one, late));
            prop_assert!(policy.floor <= after && after <= before && before <= 1.0);
            let effective = policy.effective_importance(&one, late);
            prop_assert!((0.0..=importance).contains(&effective));
            if late <= one.valid_at {
                prop_assert_eq!(after, 1.0);
            }
            // Recalled once more, then or later, it has not less left.
            let mut more = one.clone();
            more.access_count += 1;
            prop_assert!(policy.left(&more, late) >= after);
            more.accessed_at = Some(late);
            prop_assert_eq!(policy.left(&more, late), 1.0);
            one.pinned = true;
            prop_assert_eq!(policy.left(&one, late), 1.0);
        }

        #[test]
        fn the_forms_keep_to_their_ranges(
            scores in (0.0_f32..=1.0, 0.0_f32..=1.0), left in (0.0_f32..=1.0, 0.0_f32..=1.0), alpha in 0.0_f32..=MOST_RECENCY,
        ) {
            let (one, other) = (bounded(scores.0, left.0, alpha), bounded(scores.1, left.1, alpha));
            prop_assert!((0.0..=1.0).contains(&one) && (one - scores.0).abs() <= alpha * 0.5 * scores.0 + 1e-6);
            // Who fits better by more than a factor of (1 + α/2) / (1 − α/2) stays before, whatever the ages.
            if scores.0 * (1.0 - alpha * 0.5) > scores.1 * (1.0 + alpha * 0.5) + 1e-6 {
                prop_assert!(one >= other);
            }
            prop_assert_eq!(bounded(scores.0, left.0, 0.0), scores.0);
            // The additive form keeps the order of the sum.
            let (sum, other) = (scores.0 + left.0, scores.1 + left.1);
            prop_assert_eq!(
                additive(scores.0, left.0).partial_cmp(&additive(scores.1, left.1)),
                sum.partial_cmp(&other)
            );
            prop_assert!((0.0..=1.0).contains(&additive(scores.0, left.0)));
        }
    }
}
