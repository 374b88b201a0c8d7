//! Writing memories and the graph that goes with them.

use std::collections::BTreeSet;

use crate::{
    Direction, EntityId, Error, ErrorKind, GraphBatch, GraphQuery, GraphStore, RelationId, Result, VectorStore,
    Version, WriteBatch,
};

/// Where the graph is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraphPart<'g> {
    pub(crate) store: &'g dyn GraphStore,
    /// Whether that is the store of the memories, which writes both in one transaction.
    pub(crate) is_memory_store: bool,
    /// Predicates, folded, of which there is but one object at a time.
    pub(crate) single_valued: &'g BTreeSet<String>,
}

/// What is to become of a graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Changes {
    pub(crate) batch: GraphBatch,
    /// The entities and relations in it that are not stored yet.
    pub(crate) new_entities: BTreeSet<EntityId>,
    pub(crate) new_relations: BTreeSet<RelationId>,
    /// How many relations go for good, and are not just told in other words.
    pub(crate) gone: u64,
}

impl Changes {
    /// What is new, and what ends or goes.
    fn apart(self) -> (GraphBatch, GraphBatch) {
        let GraphBatch { entities, relations, remove_relations, remove_entities } = self.batch;
        let (new, changed) = relations.into_iter().partition(|relation| self.new_relations.contains(&relation.id));
        let first = GraphBatch { entities, relations: new, ..GraphBatch::default() };
        (first, GraphBatch { relations: changed, remove_relations, remove_entities, ..GraphBatch::default() })
    }
}

/// Takes back what was new: relations, and the entities that nobody else has told of meanwhile.
async fn take_back(store: &dyn GraphStore, new: &GraphBatch, new_entities: &BTreeSet<EntityId>) -> Result<()> {
    let remove_relations = new.relations.iter().map(|relation| relation.id).collect();
    store.apply_graph(&GraphBatch { remove_relations, ..GraphBatch::default() }).await?;
    let mut unused = GraphBatch::default();
    for entity in new.entities.iter().filter(|entity| new_entities.contains(&entity.id)) {
        let query = GraphQuery::any_time().expired_too().limit(1);
        let used = store.relations_at(&entity.scope, &[entity.id], Direction::Both, &query).await?;
        if used.is_empty() {
            unused.remove_entities.push(entity.id);
        }
    }
    store.apply_graph(&unused).await
}

/// Writes both: in one transaction where one store keeps both. Where two do, what is new in the graph is written first and
/// taken back if the memories cannot be written, and what ends in it last: an outage in between leaves relations open that
/// have ended, which the next fact of the kind closes.
pub(crate) async fn write(
    memories: &dyn VectorStore,
    graph: Option<GraphPart<'_>>,
    mut batch: WriteBatch,
    changes: Changes,
) -> Result<Version> {
    let graph = match graph {
        Some(part) if !part.is_memory_store && !changes.batch.is_empty() => part,
        _ => {
            batch.graph = changes.batch;
            return memories.apply(batch).await;
        }
    };
    let new_entities = changes.new_entities.clone();
    let (first, last) = changes.apart();
    graph.store.apply_graph(&first).await?;
    match memories.apply(batch).await {
        Ok(version) => {
            graph.store.apply_graph(&last).await.map_err(after_the_memories)?;
            Ok(version)
        }
        Err(error) => {
            // What is left if this fails, too, rests on memories that are not there, and search passes over it.
            let _ = take_back(graph.store, &first, &new_entities).await;
            Err(error)
        }
    }
}

/// Writes a deletion: in one transaction where one store keeps both; where two do, the graph first, so that after an outage
/// the memory is still there to be deleted again.
pub(crate) async fn write_deletion(
    memories: &dyn VectorStore,
    graph: Option<GraphPart<'_>>,
    mut batch: WriteBatch,
    changes: Changes,
) -> Result<Version> {
    match graph {
        Some(part) if !part.is_memory_store && !changes.batch.is_empty() => {
            part.store.apply_graph(&changes.batch).await?;
        }
        _ => batch.graph = changes.batch,
    }
    memories.apply(batch).await
}

/// Tried again, the whole call would add the memories a second time.
fn after_the_memories(error: Error) -> Error {
    let message = "the memories were written, and the graph store, which is another one, failed to end what they end";
    Error::new(ErrorKind::StoreCorrupt, message).with_source(error)
}
