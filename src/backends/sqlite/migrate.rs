//! Bringing a file of an older version of the crate up to this one: a copy of it first, then step after step in one
//! transaction.
//!
//! Whoever changes `schema.sql` once a version of it is published adds a step here, which makes of the layout before what
//! `schema.sql` makes anew, and keeps the text of the schema before for the tests.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{
    SqliteStoreBuilder,
    copy::{beside, sync_folder},
    error::{Result, SqliteError},
    open::{self, Content},
};
use crate::{Error, ErrorKind};

/// From one version to the next.
pub(super) type Step = fn(&Connection) -> Result<()>;

/// The versions there are, and how to get from each to the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Migrations {
    /// The oldest that can be opened.
    pub(super) first: i32,
    pub(super) steps: &'static [Step],
}

/// Those of the crate.
pub(super) const MIGRATIONS: Migrations = Migrations { first: 1, steps: &[] };

impl Migrations {
    /// The version of `schema.sql`. Counted, so that the list and the number cannot differ.
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a list that is written by hand")]
    pub(super) const fn version(self) -> i32 {
        self.first + self.steps.len() as i32
    }
}

/// Brings the file up to the last version. If that fails, it is as it was.
pub(super) fn migrate(
    connection: &mut Connection,
    settings: &SqliteStoreBuilder,
    migrations: Migrations,
) -> Result<()> {
    // A step that makes a table anew would take along what belongs to its rows. It cannot be changed inside a transaction.
    connection.pragma_update(None, "foreign_keys", false)?;
    // Nobody else writes from here on: the copy has what the steps begin with, and another process that came at the same
    // time waits, and finds the work done.
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    let Content::Older(from) = open::check(&transaction, migrations)? else { return Ok(()) };
    let path = settings.path.as_deref().filter(|_| settings.backup_before_migration);
    let backup = path.map(|path| back_up(path, settings, from)).transpose()?;
    if let Err(error) = take_steps(&transaction, from, migrations) {
        transaction.rollback()?;
        // It is a copy of what is still there.
        backup.iter().try_for_each(fs::remove_file).map_err(unwritten)?;
        return Err(told(error, from, migrations));
    }
    // After an error of this one it may be written or not, and the copy stays.
    transaction.commit()?;
    Ok(())
}

fn take_steps(connection: &Connection, from: i32, migrations: Migrations) -> Result<()> {
    let strays = strays(connection)?;
    for (_, step) in (migrations.first..).zip(migrations.steps).filter(|(version, _)| *version >= from) {
        step(connection)?;
    }
    connection.pragma_update(None, "user_version", migrations.version())?;
    // Those that were there are for `verify` to tell, which needs an open file.
    if self::strays(connection)? > strays {
        return Err(SqliteError::unreadable("reference", "a row belongs to one that is not there"));
    }
    let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if sound == "ok" { Ok(()) } else { Err(SqliteError::unreadable("table", sound)) }
}

/// How many rows belong to what is not there.
fn strays(connection: &Connection) -> Result<usize> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut found = statement.query([])?;
    let mut count = 0;
    while found.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// The kind is that of the cause, so that a full disk is told as such.
fn told(error: SqliteError, from: i32, migrations: Migrations) -> SqliteError {
    let to = migrations.version();
    let cause = error.told("migrating");
    let message =
        format!("opening the store: its schema could not be brought from version {from} to {to}; it is as it was");
    Error::new(cause.kind(), message).with_source(cause).into()
}

/// Copies the file as it is, and says where to. The copy is whole and on the disk, or not there under its name.
fn back_up(path: &Path, settings: &SqliteStoreBuilder, version: i32) -> Result<PathBuf> {
    let part = beside(path, &format!(".v{version}.bak.part"));
    let Some(name) = part.to_str() else {
        let message = "opening the store: it is to be copied before it is migrated, and its path is no Unicode; copy it \
                       yourself, and open it with `backup_before_migration(false)`";
        return Err(Error::new(ErrorKind::Configuration, message).into());
    };
    // Of one that was killed: nobody else is here.
    match fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritten(error)),
        _ => {}
    }
    // On a connection of its own, for none that is in a transaction can; it is opened as all others are, with the same key
    // where there is one, so that a copy is as secret as the file.
    let copied = open::reader(settings).and_then(|reader| Ok(reader.execute("VACUUM INTO ?1", [name]).map(drop)?));
    let copied = copied.and_then(|()| publish(path, &part, version).map_err(unwritten));
    if copied.is_err() {
        // What is left takes room, and the next try removes it, too.
        let _ = fs::remove_file(&part);
    }
    copied
}

/// Gives the copy its name, which nothing else has.
fn publish(path: &Path, part: &Path, version: i32) -> io::Result<PathBuf> {
    fs::OpenOptions::new().write(true).open(part)?.sync_all()?;
    let mut backup = beside(path, &format!(".v{version}.bak"));
    let mut number = 2_u32;
    while fs::exists(&backup)? {
        backup = beside(path, &format!(".v{version}.bak.{number}"));
        number += 1;
    }
    fs::rename(part, &backup)?;
    sync_folder(&backup)?;
    Ok(backup)
}

fn unwritten(cause: io::Error) -> SqliteError {
    let message = "opening the store: the copy that is made before migrating cannot be written, or removed again";
    Error::new(ErrorKind::StoreUnavailable, message).with_source(cause).into()
}

#[cfg(test)]
mod tests;
