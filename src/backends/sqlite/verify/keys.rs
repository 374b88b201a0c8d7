//! Keys that were lost, made anew: the one thing that is mended by what the store itself has not, an embedder.

use rusqlite::Connection;

use super::{
    DOING, Fault, SqliteStore,
    memories::{self, key_count, whole_vector},
    readable,
};
use crate::{
    ErrorKind, KeptKey, KeyRestorer, LeftKeys, Memory, Put, VectorStore, WriteBatch,
    backends::sqlite::{connection::embedder, error::Result},
};

/// Whether the memory has the keys it should have now.
pub(super) async fn mend(store: &SqliteStore, restorer: &dyn KeyRestorer, fault: &Fault) -> crate::Result<bool> {
    let [row, ..] = fault.at;
    // Vectors of another embedder are not mended by this one's.
    let wanted = restorer.embedder();
    let read = move |connection: &Connection| match embedder(connection)? {
        Some(bound) if bound == wanted => left(connection, row, bound.dimensions),
        _ => Ok(None),
    };
    let Some((memory, left)) = store.reading(DOING, read).await? else { return Ok(false) };
    let revision = memory.revision;
    let mended = async {
        let keys = restorer.restored(&memory, left).await?;
        let mut batch = WriteBatch { embedder: Some(restorer.embedder()), ..WriteBatch::default() };
        // The same revision: nothing happened to the memory. One that was changed meanwhile is refused.
        batch.puts.push(Put::change(memory, Some(keys), revision));
        store.apply(batch).await
    };
    match mended.await {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::StoreCorrupt | ErrorKind::Conflict) => Ok(false),
        Err(error) => Err(error),
    }
}

fn left(connection: &Connection, row: i64, dimensions: usize) -> Result<Option<(Memory, LeftKeys)>> {
    let Some((memory, _)) = memories::read(connection, row)? else { return Ok(None) };
    let mut left = LeftKeys { count: u64::try_from(key_count(connection, row)?).unwrap_or(0), ..LeftKeys::default() };
    let mut statement = connection.prepare_cached("SELECT number, text, vector FROM keys WHERE memory = ?1")?;
    let mut found = statement.query([row])?;
    while let Some(columns) = found.next()? {
        let number = readable(columns.get(0).map_err(Into::into))?;
        let text: Option<Option<String>> = readable(columns.get(1).map_err(Into::into))?;
        let (Some(number), Some(text)) = (number, text) else { continue };
        let mut numbers = Vec::with_capacity(dimensions);
        let vector = readable(whole_vector(columns, 2, dimensions, &mut numbers))?.map(|()| numbers);
        left.known.insert(number, KeptKey { text: text.unwrap_or_else(|| memory.text.clone()), vector });
    }
    Ok(Some((memory, left)))
}
