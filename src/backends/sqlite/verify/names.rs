//! The other way round: whether what leads to names leads to what it says.

use rusqlite::{Connection, Row};

use super::{At, Fault, Page, Part, read_row};
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

fn look(connection: &Connection, after: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let mut statement = connection.prepare_cached(&format!(
        "{SELECT} WHERE (reader, gram, entity_grams.name) > (?1, ?2, ?3) ORDER BY reader, gram, entity_grams.name LIMIT ?4"
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
    let (folded, id): (Option<String>, Option<[u8; 16]>) = (row.get(4)?, row.get(5)?);
    let Some((folded, id)) = folded.zip(id) else {
        return Ok(Some((ProblemKind::Stray, ProblemPlace::Row("entity_grams", name))));
    };
    let leads = names::leads_to(reader, gram, row.get(3)?, folded, &rows::scope(row, 6)?);
    Ok((!leads).then(|| (ProblemKind::Names, ProblemPlace::Entity(EntityId::from_bytes(id)))))
}

/// What is missing was mended with the entities: what is left is too much, unless it has become a name since.
fn mend(connection: &Connection, fault: &Fault) -> Result<()> {
    let sql = format!("{SELECT} WHERE reader = ?1 AND gram = ?2 AND entity_grams.name = ?3");
    if read_row(connection, &sql, fault.at, wrong)?.flatten().is_some() {
        let sql = "DELETE FROM entity_grams WHERE reader = ?1 AND gram = ?2 AND name = ?3";
        connection.prepare_cached(sql)?.execute(fault.at)?;
    }
    Ok(())
}
