//! Short ids, that a model can copy.

use super::{FAULT, MemoryTools, REMARK, arguments::Fault, show};
use crate::{Error, Memory, MemoryId, MemoryKind, Result, SearchQuery, Stage, Validity};

/// How many digits a short id has. The end of an id is chance, its beginning the time: of a hundred thousand memories, one
/// in forty thousand shares its last eight digits with another.
const SHORT: usize = 8;
/// Fewer digits than these name nothing.
const LEAST: usize = 6;
/// All digits of an id.
const WHOLE: usize = 32;
/// Most memories that are told apart.
const TOLD: usize = 5;

fn digits(id: MemoryId) -> String {
    id.to_string().replace('-', "")
}

/// The id as a model is shown it: its last eight digits.
pub(super) fn short(id: MemoryId) -> String {
    let digits = digits(id);
    digits.get(digits.len().saturating_sub(SHORT)..).unwrap_or_default().to_owned()
}

/// The digits of what a model sent for an id, if it may be one.
fn given(text: &str) -> Option<String> {
    let inside = text.trim_matches(|character: char| !character.is_ascii_alphanumeric());
    let digits: String = inside.chars().filter(|character| *character != '-').collect();
    let is_id = (LEAST..=WHOLE).contains(&digits.len()) && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    is_id.then(|| digits.to_ascii_lowercase())
}

impl MemoryTools {
    /// The memory with this id, or the end of it, among those that the tools reach, whether it still holds or not.
    pub(super) async fn resolve(&self, id: &str) -> Result<Result<Memory, Fault>> {
        let Some(wanted) = given(id) else {
            return Ok(Err(format!("`id` must be the {SHORT} digits in square brackets that search_memory gives")));
        };
        // Ids alone, out of the store's index: nothing else of the other memories is read.
        let filter = Some(self.reached());
        let query = SearchQuery::new(self.scope.clone(), self.now()).validity(Validity::Any).filter(filter);
        let store = self.engine.store();
        let in_search = |error: Error| error.with_stage(Stage::Search);
        let all = store.count(&self.scope, None, Validity::Any).await.map_err(in_search)?;
        let all = usize::try_from(all).unwrap_or(usize::MAX).max(1);
        let found = store.search(&query.limit(all)).await.map_err(in_search)?;
        let ids = found.into_iter().map(|candidate| candidate.id).filter(|id| digits(*id).ends_with(&wanted));
        let ids: Vec<MemoryId> = ids.take(TOLD).collect();
        let found = if ids.is_empty() { Vec::new() } else { store.get(&self.scope, &ids).await.map_err(in_search)? };
        Ok(match <[Memory; 1]>::try_from(found) {
            Ok([memory]) => Ok(memory),
            Err(none) if none.is_empty() => Err("no memory has this id; search_memory gives ids".to_owned()),
            Err(several) => {
                let lines = several.into_iter().map(|memory| (format!("[{}]", memory.id), memory));
                let listed = show::listing(lines.collect(), self.room().min(FAULT - REMARK));
                Err(format!("several memories have ids that end so; give the whole id of one:\n{}", listed.text))
            }
        })
    }

    /// Whether a memory may be given another text.
    pub(super) fn may_change(&self, memory: &Memory) -> Result<(), Fault> {
        if memory.kind == MemoryKind::Episode {
            return Err(
                "it is a turn of a conversation, kept word for word: it can be forgotten but not changed; add_memory \
                        for what is so instead"
                    .to_owned(),
            );
        }
        if memory.invalid_at.is_some_and(|end| end <= self.now()) {
            return Err("it no longer holds, and is kept as history; add_memory for what is so now".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_in_many_forms() {
        let id: MemoryId =
            MemoryId::from_bytes([0x01, 0x95, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0xAB, 0xCD, 0xEF, 0x12]);
        assert_eq!(short(id), "abcdef12");
        for form in ["abcdef12", "[abcdef12]", " `ABCDEF12` ", "#abcdef12", "cdef12"] {
            assert!(given(form).is_some_and(|wanted| digits(id).ends_with(&wanted)), "{form}");
        }
        assert_eq!(given(&id.to_string()), Some(digits(id)));
        for bad in ["", "ef12", "memory 1", "abcdefg1", "💥", &"a".repeat(33), "abc def 12"] {
            assert_eq!(given(bad), None, "{bad}");
        }
    }
}
