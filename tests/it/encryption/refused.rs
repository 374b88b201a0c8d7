//! Keys that do not fit, keys that cannot be, and damage.

use std::process::Command;

use ingrain::{Error, ErrorKind, SqliteStoreBuilder};

use super::*;

const PHRASE: &str = "correct horse battery staple";

fn files(path: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let folder = fs::read_dir(path.parent().unwrap()).unwrap().map(|file| file.unwrap());
    let mut files: Vec<_> = folder.map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect();
    files.sort();
    files
}

/// Opening is refused as it should, and not a byte of any file has changed.
async fn refused(builder: SqliteStoreBuilder, path: &Path, kind: ErrorKind, why: &str) -> Error {
    let before = files(path);
    let error = builder.open().await.expect_err(why);
    assert_eq!((error.kind(), error.backend()), (kind, Some("sqlite")), "{error}");
    assert!(error.to_string().contains(why), "{error}");
    assert!(files(path) == before, "a refused file is left as it was: {why}");
    error
}

/// By another key than [`KEY`].
pub async fn wrongly(path: &Path) {
    let error = SqliteStore::builder(path).raw_key([7; 32]).open().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongKey, "{error}");
}

#[tokio::test]
async fn a_key_that_does_not_fit_is_told_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let alice = Scope::user("alice");
    for raw in [false, true] {
        let of = |path: &Path| {
            let builder = SqliteStore::builder(path);
            if raw { builder.raw_key(KEY) } else { builder.passphrase(PHRASE) }
        };
        engine(of(&path).open().await.unwrap()).await.add_raw(&alice, ["Owns a kayak"]).await.unwrap();
        let plain = || SqliteStore::builder(&path);
        let why = "the key does not fit, or the file is no store";
        for other in [
            plain().passphrase("correct horse battery stapl"),
            plain().passphrase("Correct horse battery staple"),
            plain().passphrase(format!("{PHRASE} ")),
            plain().raw_key([0; 32]),
        ] {
            let error = refused(other, &path, ErrorKind::WrongKey, why).await;
            assert!(!format!("{error:?}").contains("stapl"), "{error:?}");
            assert!(!error.is_retryable());
        }
        refused(plain(), &path, ErrorKind::StoreCorrupt, "needs its key").await;
        assert_eq!(engine(of(&path).open().await.unwrap()).await.count(&alice, None).await.unwrap(), 1);
        fs::remove_file(&path).unwrap();
    }
}

#[tokio::test]
async fn a_key_for_what_is_not_encrypted_is_told_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    engine(SqliteStore::open(&path).await.unwrap()).await.add_raw(&Scope::user("alice"), ["x"]).await.unwrap();
    let keyed = || SqliteStore::builder(&path).passphrase(PHRASE);
    refused(keyed(), &path, ErrorKind::WrongKey, "the file is not encrypted").await;
    let noise: Vec<u8> = (0..20_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for length in [600, 4_096, 20_000] {
        fs::write(&path, &noise[..length]).unwrap();
        refused(keyed(), &path, ErrorKind::WrongKey, "the file is no store").await;
    }
    fs::write(&path, "Dear diary").unwrap();
    refused(keyed(), &path, ErrorKind::StoreCorrupt, "no SQLite database").await;
    // A database of SQLCipher under the same key, but of another program.
    fs::remove_file(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.pragma_update(None, "key", PHRASE).unwrap();
    other.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    drop(other);
    refused(keyed(), &path, ErrorKind::StoreCorrupt, "of another program").await;
}

#[tokio::test]
async fn a_passphrase_counts_to_the_last_character() {
    let odd = [
        " ",
        "'",
        "''; DROP TABLE memories; --",
        "\"quoted\" and 'quoted'",
        "пароль 密码 🗝️",
        "tab\tline\nend\r",
        "x'00ff",
        "x'not hexadecimal'",
        "%s%n\\",
        "?1",
        &"long ".repeat(5_000),
    ];
    for phrase in odd {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let of = |phrase: &str| SqliteStore::builder(&path).passphrase(phrase);
        let alice = Scope::user("alice");
        engine(of(phrase).open().await.unwrap()).await.add_raw(&alice, ["Owns a kayak"]).await.unwrap();
        assert_eq!(engine(of(phrase).open().await.unwrap()).await.count(&alice, None).await.unwrap(), 1);
        refused(of(&format!("{phrase}a")), &path, ErrorKind::WrongKey, "does not fit").await;
        assert_eq!(left(folder.path(), &["kayak", "alice"]), Vec::<&str>::new());
    }
}

/// SQLCipher's own notation, so that other programs open the file too.
#[tokio::test]
async fn the_keys_are_those_of_sqlcipher() {
    let folder = tempfile::tempdir().unwrap();
    let (raw, phrase) = (folder.path().join("raw.db"), folder.path().join("phrase.db"));
    drop(open(&raw).await);
    drop(SqliteStore::builder(&phrase).passphrase(PHRASE).open().await.unwrap());
    let hexadecimal: String = KEY.iter().map(|byte| format!("{byte:02X}")).collect();
    for (path, key) in [(raw, format!("x'{hexadecimal}'")), (phrase, PHRASE.to_owned())] {
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.pragma_update(None, "key", key).unwrap();
        let faults =
            connection.prepare("PRAGMA cipher_integrity_check").unwrap().query_map([], |_| Ok(())).unwrap().count();
        let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0)).unwrap();
        assert!(faults == 0 && tables > 5);
    }
}

#[tokio::test]
async fn what_cannot_be_a_passphrase_is_refused_at_the_door() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let hexadecimal = "00".repeat(32);
    for phrase in ["", "\0", "a\0b", &format!("x'{hexadecimal}'"), &format!("X'{hexadecimal}'"), "x''"] {
        let error = SqliteStore::builder(&path).passphrase(phrase).open().await.unwrap_err();
        assert_eq!((error.kind(), error.backend()), (ErrorKind::Configuration, Some("sqlite")), "{error}");
        assert!(!format!("{error:?}").contains(&hexadecimal));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made: {phrase:?}");
    }
}

/// Neither what is printed of the types, nor errors, nor what SQLCipher writes to stderr on its own.
#[tokio::test]
async fn no_key_is_told() {
    if let Some((path, _)) = given() {
        let wrong = SqliteStore::builder(&path).passphrase("an untold 'phrase");
        say(&format!("{wrong:?}"));
        say(&format!("{:?}", wrong.open().await.unwrap_err()));
        let raw = SqliteStore::builder(&path).raw_key(KEY);
        say(&format!("{raw:?}"));
        let store = raw.open().await.unwrap();
        say(&format!("{store:?} {:?}", engine(store.clone()).await));
        let taken = store.copy_to(SqliteStore::builder(&path).passphrase("an untold 'phrase")).await;
        say(&format!("{:?}", taken.unwrap_err()));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    drop(open(&path).await);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "encryption::refused::no_key_is_told", "--nocapture", "--test-threads=1"])
        .env("INGRAIN_TEST_FILE", &path)
        .output()
        .unwrap();
    let (told, aside) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && told.contains("***") && told.contains("wrong-key"), "{told} {aside}");
    assert_eq!(aside, "", "nothing is written to stderr");
    let hexadecimal: String = KEY.iter().map(|byte| format!("{byte:02x}")).collect();
    for key in ["untold", "phrase\"", &hexadecimal, "thirty-two bytes", "116, 104, 105"] {
        assert!(!told.contains(key), "{key} in {told}");
    }
}

/// Every page carries a code that only the key can make: what another changed is told, and never read as something else.
#[tokio::test]
async fn damage_is_told_as_damage() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    let (alice, bob) = (Scope::user("alice"), Scope::user("bob"));
    let memory = engine(open(&whole).await).await;
    let notes = (0..300).map(|number| format!("Note {number}: {}", "a walk along the river ".repeat(5)));
    memory.add_raw(&alice, notes).await.unwrap();
    memory.add_raw(&bob, ["Keeps bees"]).await.unwrap();
    drop(memory);
    let bytes = fs::read(&whole).unwrap();
    let pages = bytes.len() / 4_096;
    assert!(pages > 20 && !whole.with_extension("db-wal").exists());
    let mut told = 0;
    for page in 0..pages {
        let path = folder.path().join("damaged.db");
        let mut damaged = bytes.clone();
        damaged[page * 4_096 + 100] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let read = async {
            let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64));
            let memory = memory.store(SqliteStore::builder(&path).raw_key(KEY).open().await?).build().await?;
            let all = memory.list(&alice, ListRequest::new().limit(1_000)).await?.total;
            Ok::<_, Error>((all, memory.search(&alice, "river").await?.len(), memory.count(&bob, None).await?))
        };
        match read.await {
            // The page is none of those that were needed.
            Ok(found) => assert_eq!((found.0, found.2), (300, 1), "page {page}"),
            Err(error) => {
                let kind = if page == 0 { ErrorKind::WrongKey } else { ErrorKind::StoreCorrupt };
                assert_eq!(error.kind(), kind, "page {page}: {error:?}");
                told += 1;
            }
        }
        for leftover in ["damaged.db", "damaged.db-wal", "damaged.db-shm"] {
            let _ = fs::remove_file(folder.path().join(leftover));
        }
    }
    assert!(told > pages / 2, "{told} of {pages}");
}
