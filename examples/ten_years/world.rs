//! One store that some users talk to, day by day, as an application would have it.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use chrono::NaiveDate;
use ingrain::{
    AddReport, Durability, Maintenance, ManualClock, MemoryEngine, MemoryId, MemoryKind, Message, NewMemory, Scope,
    SqliteStore, TokenBudget, score::decay::DecayPolicy,
};

use super::{
    Outcome,
    life::{self, Claim, Day},
};

/// What became of what was told.
#[derive(Debug, Default, Clone)]
pub struct Heard {
    pub told: u64,
    /// Sentences that the rules read nothing of, by matter and form.
    pub unread: BTreeMap<String, u64>,
    /// Facts that nobody told, with how often.
    pub invented: BTreeMap<String, u64>,
}

pub struct World {
    pub memory: MemoryEngine,
    pub path: PathBuf,
    clock: ManualClock,
    maintained: bool,
    /// What each fact was read from; the reminders with the day they are of no use from.
    pub claims: HashMap<MemoryId, Claim>,
    /// What each turn told that was more than talk.
    pub turns: HashMap<MemoryId, Claim>,
    pub reminders: HashMap<MemoryId, NaiveDate>,
    /// For each user what was told and read last, by matter.
    pub last_heard: Vec<BTreeMap<String, Claim>>,
    pub heard: Heard,
    pub adding: Duration,
    pub maintaining: Duration,
    /// What maintenance did, by step.
    pub done: BTreeMap<&'static str, u64>,
}

impl World {
    pub async fn open(folder: &Path, name: &str, users: usize, maintained: bool) -> Outcome<Self> {
        let path = folder.join(name);
        let clock = ManualClock::at(life::time(0));
        let store = SqliteStore::builder(&path).durability(Durability::Normal).cache_bytes(1 << 30).open().await?;
        // Turns fade, what is known of the user does not: it ends when the user says so.
        let decay = DecayPolicy::new().never(MemoryKind::Fact).never(MemoryKind::Preference);
        let memory = MemoryEngine::builder().store(store).clock(clock.clone()).decay(decay).build().await?;
        Ok(Self {
            memory,
            path,
            clock,
            maintained,
            claims: HashMap::new(),
            turns: HashMap::new(),
            reminders: HashMap::new(),
            last_heard: vec![BTreeMap::new(); users],
            heard: Heard::default(),
            adding: Duration::ZERO,
            maintaining: Duration::ZERO,
            done: BTreeMap::new(),
        })
    }

    /// Has one user's chat of a day, in a session of that week.
    pub async fn chat(&mut self, number: usize, scope: &Scope, day: u64, today: &Day) -> Outcome<()> {
        let begun = Instant::now();
        self.clock.set(life::time(day));
        let session = scope.clone().with_session(format!("week {}", day / 7));
        let mut messages: Vec<Message> = today.system.into_iter().map(Message::system).collect();
        let mut answer = today.answer.clone();
        let mut said = today.told.as_ref().map_or(&today.small_talk, |(told, _)| told).clone();
        if today.recalls {
            let block = self.memory.context(scope, today.small_talk.as_str(), TokenBudget::new(500)).await?;
            said = format!("{block}\n\n{said}");
            answer = block.text;
        }
        messages.extend([Message::user(said), Message::assistant(answer)]);
        if today.told.is_some() {
            messages.push(Message::user(today.small_talk.as_str()));
        }
        let report = self.memory.add(&session, messages).await?;
        self.adding += begun.elapsed();
        self.note(number, &report, today.told.as_ref());
        if let Some((text, until)) = &today.appointment {
            let end = until.and_hms_opt(0, 0, 0).unwrap_or_default().and_utc();
            let notes = self.memory.add_raw(scope, [NewMemory::new(text).expires_at(end)]).await?;
            self.reminders.extend(notes.into_iter().map(|note| (note.id, *until)));
        }
        Ok(())
    }

    /// Holds what was read against what was told.
    fn note(&mut self, number: usize, report: &AddReport, told: Option<&(String, Claim)>) {
        let is_told =
            |text: &str| told.is_some_and(|(_, claim)| text.to_lowercase().contains(&claim.marker.to_lowercase()));
        if let Some((turn, (_, claim))) = report.episodes.first().zip(told) {
            self.turns.insert(*turn, claim.clone());
        }
        let mut read = false;
        for fact in report.added.iter().chain(&report.updated) {
            match told.filter(|_| is_told(&fact.text)) {
                Some((_, claim)) => {
                    read = true;
                    self.claims.insert(fact.id, claim.clone());
                }
                None => *self.heard.invented.entry(fact.text.clone()).or_default() += 1,
            }
        }
        read |= report.skipped.iter().any(|skipped| is_told(&skipped.text));
        let Some((text, claim)) = told else { return };
        self.heard.told += 1;
        if read {
            if let Some(last) = self.last_heard.get_mut(number) {
                last.insert(claim.key.clone(), claim.clone());
            }
        } else {
            let form = text.to_lowercase().replace(&claim.marker.to_lowercase(), "…");
            let topic = claim.key.split(':').next().unwrap_or_default();
            *self.heard.unread.entry(format!("{topic}: {form}")).or_default() += 1;
        }
    }

    /// What an application would let run every month.
    pub async fn maintain(&mut self, scope: &Scope) -> Outcome<()> {
        if !self.maintained {
            return Ok(());
        }
        let begun = Instant::now();
        let mut request = Maintenance::new()
            .summarize_sessions(Duration::from_secs(8 * 24 * 3600))
            .forget_below(0.06)
            .erase_history(true)
            .limit(5_000);
        loop {
            let report = self.memory.maintain(scope, &request).await?;
            let counts = [
                ("expired", report.expired.len()),
                ("forgotten", report.forgotten.len()),
                ("merged", report.merged.len()),
                ("summarized", report.summarized.len()),
                ("renewed", report.renewed.len()),
                ("withdrawn", report.withdrawn.len()),
                ("busy", report.busy.len()),
            ];
            for (what, count) in counts {
                *self.done.entry(what).or_default() += count as u64;
            }
            let Some(place) = report.next else { break };
            request = request.resume(place);
        }
        self.maintaining += begun.elapsed();
        Ok(())
    }
}
