//! Which embedder the vectors are by, and for which others are staged.

use rusqlite::Connection;

use super::{At, Fault, Page, Part, readable};
use crate::{
    ProblemKind, ProblemPlace,
    backends::sqlite::{
        connection::{Bound, read_embedder},
        error::Result,
    },
};

pub(super) const PART: Part = Part { name: "meta", look, mend };

const IN_USE: At = [0, 0, 0];
const STAGED: At = [1, 0, 0];
const OTHERS: At = [2, 0, 0];

/// Rows that are none of the four.
const STRANGE: &str = "FROM meta WHERE key NOT IN (?1, ?2, ?3, ?4)";

fn look(connection: &Connection, _: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let place = |what: &str| ProblemPlace::Part(what.to_owned());
    if is_broken(connection, Bound::InUse)? {
        page.fault(ProblemKind::NoEmbedder, place("the table meta"), IN_USE);
    }
    if is_broken(connection, Bound::Staged)? {
        page.fault(ProblemKind::Stray, place("the embedder that vectors are staged for"), STAGED);
    }
    if connection.prepare(&format!("SELECT 1 {STRANGE}"))?.exists(known())? {
        page.fault(ProblemKind::Stray, place("a row of meta that means nothing"), OTHERS);
    }
    let mut count = connection.prepare("SELECT count(*) FROM meta")?;
    page.looked_at += count.query_row([], |row| row.get::<_, i64>(0))?.unsigned_abs();
    Ok(None)
}

fn known() -> [&'static str; 4] {
    let [(name, dimensions), (staged, staged_dimensions)] = [Bound::InUse, Bound::Staged].map(Bound::columns);
    [name, dimensions, staged, staged_dimensions]
}

/// Whether an embedder is named by halves, or in a way that cannot be read; or there are vectors and none is named.
fn is_broken(connection: &Connection, which: Bound) -> Result<bool> {
    let Some(embedder) = readable(read_embedder(connection, which))? else { return Ok(true) };
    if embedder.is_some() {
        return Ok(false);
    }
    let is_half =
        connection.prepare("SELECT 1 FROM meta WHERE key IN (?1, ?2)")?.exists(<[&str; 2]>::from(which.columns()))?;
    Ok(is_half || (matches!(which, Bound::InUse) && connection.prepare("SELECT 1 FROM keys LIMIT 1")?.exists([])?))
}

/// What was staged for nobody goes with the other strays.
fn mend(connection: &Connection, fault: &Fault) -> Result<()> {
    match fault.at {
        STAGED => {
            let mut statement = connection.prepare("DELETE FROM meta WHERE key IN (?1, ?2)")?;
            statement.execute(<[&str; 2]>::from(Bound::Staged.columns()))?;
        }
        OTHERS => drop(connection.prepare(&format!("DELETE {STRANGE}"))?.execute(known())?),
        _ => {}
    }
    Ok(())
}
