//! The other way round: whether what leads to names leads to what it says.

use rusqlite::{Connection, Row};

use super::{At, Fault, Page, Part, read_row, readable};
use crate::{
    EntityId, ProblemKind, ProblemPlace,
    backends::sqlite::{error::Result, names, rows},
};

pub(super) const PART: Part = Part { name: "names", look, mend };

/// Rows are small here.
const ROWS: i64 = 5_000;

/// Grams with the name and the entity they lead to.
const SELECT: &str = "SELECT reader, gram, entity_grams.name, size, folded, id, user, agent, session FROM entity_grams
    LEFT JOIN entity_names ON entity_names.row = entity_grams.name LEFT JOIN entities ON entities.row = entity";

/// Rows that are not even numbered, which no reader asks for.
const STRANGE: &str = "FROM entity_grams WHERE typeof(reader) <> 'integer' OR typeof(gram) <> 'integer'
    OR typeof(name) <> 'integer'";
const OF_STRANGE: At = [i64::MIN; 3];

fn look(connection: &Connection, after: Option<At>, page: &mut Page) -> Result<Option<At>> {
    if after.is_none() && connection.prepare(&format!("SELECT 1 {STRANGE}"))?.exists([])? {
        page.fault(ProblemKind::Stray, ProblemPlace::Part("a row of entity_grams".to_owned()), OF_STRANGE);
    }
    let mut statement = connection.prepare_cached(&format!(
        "{SELECT} WHERE (reader, gram, entity_grams.name) > (?1, ?2, ?3) AND typeof(reader) = 'integer'
         AND typeof(gram) = 'integer' AND typeof(entity_grams.name) = 'integer'
         ORDER BY reader, gram, entity_grams.name LIMIT ?4"
    ))?;
    let [reader, gram, name] = after.unwrap_or([i64::MIN; 3]);
    let mut found = statement.query([reader, gram, name, ROWS])?;
    let (mut count, mut last) = (0, None);
    while let Some(row) = found.next()? {
        count += 1;
        page.looked_at += 1;
        let at: At = [row.get(0)?, row.get(1)?, row.get(2)?];
        last = Some(at);
        if let Some((kind, place)) = wrong(row)? {
            page.fault(kind, place, at);
        }
    }
    Ok(last.filter(|_| count == ROWS))
}

fn wrong(row: &Row<'_>) -> Result<Option<(ProblemKind, ProblemPlace)>> {
    let [reader, gram, name]: At = [row.get(0)?, row.get(1)?, row.get(2)?];
    let leads_to = |row: &Row<'_>| -> Result<_> {
        let (size, folded, id): (i64, Option<String>, Option<[u8; 16]>) = (row.get(3)?, row.get(4)?, row.get(5)?);
        let Some((folded, id)) = folded.zip(id) else { return Ok(None) };
        let leads = names::leads_to(reader, gram, size, folded, &rows::scope(row, 6)?);
        Ok(Some((leads, EntityId::from_bytes(id))))
    };
    Ok(match readable(leads_to(row))? {
        Some(Some((true, _))) => None,
        Some(Some((false, entity))) => Some((ProblemKind::Names, ProblemPlace::Entity(entity))),
        Some(None) => Some((ProblemKind::Stray, ProblemPlace::Row("entity_grams", name))),
        // Of an entity that cannot be read, which is told, or by itself too much.
        None => Some((ProblemKind::Names, ProblemPlace::Row("entity_grams", name))),
    })
}

/// What is missing was mended with the entities: what is left is too much, unless it has become a name since.
fn mend(connection: &Connection, fault: &Fault) -> Result<()> {
    if fault.at == OF_STRANGE {
        connection.prepare(&format!("DELETE {STRANGE}"))?.execute([])?;
        return Ok(());
    }
    let sql = format!("{SELECT} WHERE reader = ?1 AND gram = ?2 AND entity_grams.name = ?3");
    if read_row(connection, &sql, fault.at, wrong)?.flatten().is_some() {
        let sql = "DELETE FROM entity_grams WHERE reader = ?1 AND gram = ?2 AND name = ?3";
        connection.prepare_cached(sql)?.execute(fault.at)?;
    }
    Ok(())
}
