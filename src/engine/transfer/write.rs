//! Writing what an import has read.

use std::collections::{HashMap, HashSet};

use super::{
    TransferReport,
    import::{Import, OnClash, Read, Talk, in_store, named},
};
use crate::{
    Actor, EmbedderExt, Error, ErrorKind, EventKind, Expect, HistoryEvent, IndexKey, Memory, MemoryId, MemoryKind,
    Purpose, Put, Result, Stage, WriteBatch,
    graph::{self, Changed, Changes, Held},
};

impl Import {
    /// An error names the lines that are not written, and says what is.
    pub(super) async fn write(&mut self) -> Result<()> {
        let Err(error) = self.write_waiting().await else { return Ok(()) };
        let Some((first, last)) = self.waiting.lines() else { return Err(error) };
        let place = if first == last { format!("line {first}") } else { format!("lines {first} to {last}") };
        let TransferReport { memories, removed, entities, relations, messages, queued_adds, .. } = self.report;
        let before = format!(
            "{memories} memories, {removed} histories of removed ones, {entities} entities, {relations} relations, \
             {messages} messages and {queued_adds} queued adds were imported before"
        );
        Err(named(error, &format!("{before}, and not {place}")))
    }

    /// Writes in steps. What a step has written waits no more, so a later one that fails does not repeat it.
    async fn write_waiting(&mut self) -> Result<()> {
        let mut report = self.report;
        let mut batch = WriteBatch::default();
        let changes = self.memories(&mut batch, &mut report).await?;
        self.removed(&mut batch, &mut report).await?;
        graph::write(&*self.engine.0.store, self.engine.graph_part(), batch, changes).await.map_err(
            |error| match error.kind() {
                ErrorKind::Conflict => {
                    let message = "a memory of the import was changed meanwhile, or is there under a scope that is not \
                               imported into: begin again, or import into another store";
                    in_store(Error::new(ErrorKind::Conflict, message).with_source(error))
                }
                _ => in_store(error),
            },
        )?;
        (self.waiting.memories, self.waiting.removed, self.report) = (Vec::new(), Vec::new(), report);
        if self.is_first.is_none() && !self.waiting.relations.is_empty() {
            self.is_first = Some(self.has_no_relations().await?);
        }
        self.graph(&mut report).await?;
        (self.waiting.entities, self.waiting.relations, self.report) = (Vec::new(), Vec::new(), report);
        while let Some(talk) = self.waiting.talks.first() {
            let is_another = self.conversation(&talk.it, &mut report).await?;
            self.report = report;
            let talk = self.waiting.talks.remove(0);
            if is_another {
                self.refused.insert(talk.it.name);
            }
        }
        self.queue(&mut report).await?;
        (self.waiting.adds, self.report) = (Vec::new(), report);
        Ok(())
    }

    /// What is written of memories, and what becomes of relations that rested on those that are replaced.
    async fn memories(&self, batch: &mut WriteBatch, report: &mut TransferReport) -> Result<Changes> {
        let store = &self.engine.0.store;
        let ids: Vec<MemoryId> = self.waiting.memories.iter().map(|read| read.it.0.id).collect();
        let there = store.get(&self.scope, &ids).await.map_err(in_store)?;
        let there: HashMap<MemoryId, Memory> = there.into_iter().map(|memory| (memory.id, memory)).collect();
        let mut seen = HashSet::new();
        let mut wanted = Vec::new();
        for Read { line, it: one } in &self.waiting.memories {
            let id = one.0.id;
            match (there.get(&id), self.on_clash) {
                _ if !seen.insert(id) => report.skipped += 1,
                (Some(_), OnClash::Skip) => report.skipped += 1,
                (Some(_), OnClash::Fail) => {
                    let message = format!("the store has the memory of line {line} already");
                    return Err(Error::new(ErrorKind::Conflict, message));
                }
                (stored, _) => wanted.push((one, stored)),
            }
        }
        // Of a block's meaning nothing is to be known.
        let is_block = |memory: &Memory| memory.kind == MemoryKind::Block;
        let embedded = wanted.iter().filter(|((memory, ..), _)| !is_block(memory));
        let texts: Vec<&str> = embedded.flat_map(|((_, keys, _), _)| keys.iter().map(String::as_str)).collect();
        let vectors = match texts.as_slice() {
            [] => Vec::new(),
            texts => {
                let embedded = self.engine.0.embedder.embed_checked(texts, Purpose::Document).await;
                embedded.map_err(|error| error.with_stage(Stage::Embed))?
            }
        };
        let mut vectors = vectors.into_iter();
        let mut changed = Changed::new();
        for ((memory, keys, history), stored) in wanted {
            let mut memory = memory.clone();
            let nothing = || vec![0.0; self.engine.0.embedder.identity().dimensions];
            let keys = match is_block(&memory) {
                true => keys.iter().map(|text| IndexKey::new(text, nothing())).collect(),
                false => keys.iter().zip(vectors.by_ref()).map(|(text, vector)| IndexKey::new(text, vector)).collect(),
            };
            let earlier = store.history(&self.scope, memory.id).await.map_err(in_store)?;
            let mut put = Put::new(memory.clone(), keys);
            match stored {
                Some(stored) => {
                    // Who read the one before must not take this for it.
                    memory.revision = memory.revision.max(stored.revision + 1);
                    changed.insert(memory.id, Held::changed(stored, &memory));
                    (put.memory, put.expect) = (memory, Expect::Revision(stored.revision));
                    batch.erase_history.push(stored.id);
                    batch.events.extend(history.iter().cloned());
                }
                // It was removed here: what happened to it here stays, and ends with its return.
                None if !earlier.is_empty() => {
                    let stamp = self.engine.stamp(Actor::App).because("imported");
                    let text = Some(memory.text.clone());
                    batch.events.push(HistoryEvent::new(memory.id, memory.scope, EventKind::Add, None, text, stamp));
                }
                None => batch.events.extend(history.iter().cloned()),
            }
            report.memories += 1;
            report.events += history.len() as u64;
            batch.puts.push(put);
        }
        self.followed(&changed).await
    }

    async fn removed(&self, batch: &mut WriteBatch, report: &mut TransferReport) -> Result<()> {
        for Read { it: (id, history), .. } in &self.waiting.removed {
            let earlier = self.engine.0.store.history(&self.scope, *id).await.map_err(in_store)?;
            if !earlier.is_empty() || batch.puts.iter().any(|put| put.memory.id == *id) {
                report.skipped += 1;
                continue;
            }
            report.removed += 1;
            report.events += history.len() as u64;
            batch.events.extend(history.iter().cloned());
        }
        Ok(())
    }

    /// Writes a part of a conversation; whether the store has another of that name.
    async fn conversation(&self, talk: &Talk, report: &mut TransferReport) -> Result<bool> {
        let Talk { name, first, messages, begins, summary } = talk;
        let store = self.engine.0.conversation_store().filter(|_| !self.refused.contains(name));
        let Some(store) = store else {
            report.skipped += 1;
            return Ok(false);
        };
        let written = if *begins {
            store.restore(name, *first, messages, summary.as_ref()).await
        } else {
            let before = store.messages(name, first.saturating_sub(1), 2).await.map_err(in_store)?;
            match before.as_slice() {
                [last] if last.sequence + 1 == *first => store.append(name, messages).await.map(drop),
                _ => Err(Error::new(ErrorKind::Conflict, "the conversation goes on from elsewhere")),
            }
        };
        match written {
            Ok(()) => report.messages += messages.len() as u64,
            Err(error) if error.kind() == ErrorKind::Conflict => {
                report.skipped += 1;
                if *begins {
                    // What an earlier import had begun may go on; what was begun otherwise may not.
                    let there = store.messages(name, *first, 1).await.map_err(in_store)?;
                    let same = there.first().map(|stored| (stored.sequence, &stored.message))
                        == messages.first().map(|message| (*first, message));
                    return Ok(!same);
                }
            }
            Err(error) => return Err(in_store(error)),
        }
        Ok(false)
    }

    async fn queue(&self, report: &mut TransferReport) -> Result<()> {
        for Read { it: add, .. } in &self.waiting.adds {
            match self.engine.restore_add(add).await {
                Ok(()) => report.queued_adds += 1,
                Err(error) if matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Unsupported) => {
                    report.skipped += 1
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
