//! From rows to what an index keeps of a memory.

use std::sync::Arc;

use rusqlite::Row;

use super::{
    error::Result,
    rows::{self, Id, Time, blob, flag, json, named, text, whole},
};
use crate::{
    Attributes, MemoryId, MemoryKind, Metadata, Scope,
    index::{Entry, kept_cues},
};

/// The columns that [`EntryReader::read`] reads, of the table `memories`.
pub(super) const COLUMNS: &str = "memories.id, user, agent, session, kind, categories, metadata, importance, pinned, \
    speaker, trust, slot, ordinal, observed_at, valid_at, invalid_at, expires_at, created_at, updated_at, \
    access_count, accessed_at, cues";

/// How many columns [`COLUMNS`] names: where a query's further columns begin.
pub(super) const WIDTH: usize = 22;

/// Reads row after row. What neighbours have in common is made once.
#[derive(Default)]
pub(super) struct EntryReader {
    scope: Option<Arc<Scope>>,
    speaker: Option<Arc<str>>,
}

impl EntryReader {
    /// The memory in the first columns, and whether its cues could be used; if not, they are empty.
    pub(super) fn read(&mut self, row: &Row<'_>) -> Result<(MemoryId, Entry, bool)> {
        let cues = kept_cues(blob(row, 21, "cues")?);
        let metadata: Metadata = json(row, 6, "metadata")?;
        let categories: Vec<String> = json(row, 5, "list of categories")?;
        // It went in as an f32.
        #[expect(clippy::cast_possible_truncation, reason = "widened from f32 when it was written")]
        let importance = row.get::<_, f64>(7)? as f32;
        let attributes = Attributes {
            kind: MemoryKind::from(text(row, 4)?),
            scope: self.scope(row)?,
            speaker: self.speaker(row)?,
            trust: named(text(row, 10)?, "trust")?,
            importance,
            pinned: flag(row, 8, "mark of being pinned")?,
            ordinal: row.get::<_, Option<i64>>(12)?.map(|number| whole(number, "ordinal")).transpose()?,
            observed_at: row.get::<_, Time>(13)?.0,
            valid_at: row.get::<_, Time>(14)?.0,
            invalid_at: row.get::<_, Option<Time>>(15)?.map(|time| time.0),
            created_at: row.get::<_, Time>(17)?.0,
            updated_at: row.get::<_, Time>(18)?.0,
            access_count: whole(row.get(19)?, "access count")?,
            accessed_at: row.get::<_, Option<Time>>(20)?.map(|time| time.0),
            cues: cues.unwrap_or_default(),
        };
        let entry = Entry {
            attributes,
            expires_at: row.get::<_, Option<Time>>(16)?.map(|time| time.0),
            categories: categories.into_boxed_slice(),
            metadata: (!metadata.is_empty()).then(|| Box::new(metadata)),
            slot: row.get::<_, Option<String>>(11)?.map(String::into_boxed_str),
        };
        Ok((row.get::<_, Id>(0)?.0, entry, cues.is_some()))
    }

    fn scope(&mut self, row: &Row<'_>) -> Result<Arc<Scope>> {
        let parts = [text(row, 1)?, text(row, 2)?, text(row, 3)?];
        if let Some(last) = self.scope.as_ref().filter(|last| rows::parts(last) == parts) {
            return Ok(Arc::clone(last));
        }
        let scope = Arc::new(rows::scope(row, 1)?);
        self.scope = Some(Arc::clone(&scope));
        Ok(scope)
    }

    fn speaker(&mut self, row: &Row<'_>) -> Result<Option<Arc<str>>> {
        let Some(name) = row.get_ref(9)?.as_str_or_null().map_err(rusqlite::Error::from)? else { return Ok(None) };
        if let Some(last) = self.speaker.as_ref().filter(|last| ***last == *name) {
            return Ok(Some(Arc::clone(last)));
        }
        let speaker: Arc<str> = name.into();
        self.speaker = Some(Arc::clone(&speaker));
        Ok(Some(speaker))
    }
}
