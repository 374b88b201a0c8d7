-- Scope parts that are not named are '', since a part is never blank: comparisons then need no IS NULL.
-- Times are microseconds since 1970 in UTC. Lists and objects are JSON texts, NULL when empty.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE memories (
    row           INTEGER PRIMARY KEY, -- the memories of one user lie together, see write.rs
    id            BLOB NOT NULL UNIQUE,
    user          TEXT NOT NULL,
    agent         TEXT NOT NULL,
    session       TEXT NOT NULL,
    kind          TEXT NOT NULL,
    categories    TEXT,
    metadata      TEXT,
    importance    REAL NOT NULL,
    pinned        INTEGER NOT NULL,
    speaker       TEXT,
    trust         TEXT NOT NULL,
    slot          TEXT,
    ordinal       INTEGER,
    observed_at   INTEGER NOT NULL,
    valid_at      INTEGER NOT NULL,
    invalid_at    INTEGER,
    superseded_by BLOB,
    expires_at    INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    access_count  INTEGER NOT NULL,
    accessed_at   INTEGER,
    revision      INTEGER NOT NULL,
    cues          BLOB NOT NULL, -- of the text; rules that did not read them read them anew
    -- Last, since what may be long is on pages of its own, and building an index needs none of it.
    sources       TEXT,
    text          TEXT NOT NULL
);

-- The id keeps lists in order; the two times let totals be counted from the index alone.
CREATE INDEX memories_by_user ON memories (user, id, invalid_at, expires_at) WHERE user <> '';
CREATE INDEX memories_by_agent ON memories (agent, id, invalid_at, expires_at) WHERE agent <> '';
CREATE INDEX memories_by_session ON memories (session, user, id, invalid_at, expires_at) WHERE session <> '';

CREATE TABLE keys (
    memory INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    text   TEXT,          -- NULL when it is the memory's own text
    terms  BLOB NOT NULL, -- of the text, analysed; an analyser that did not make them makes them anew
    vector BLOB NOT NULL, -- f32, little-endian
    PRIMARY KEY (memory, number)
) WITHOUT ROWID;

-- The next place of a turn, for each scope that has turns.
CREATE TABLE places (
    user    TEXT NOT NULL,
    agent   TEXT NOT NULL,
    session TEXT NOT NULL,
    next    INTEGER NOT NULL,
    PRIMARY KEY (user, agent, session)
) WITHOUT ROWID;

CREATE TABLE history (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    memory   BLOB NOT NULL,
    user     TEXT NOT NULL,
    agent    TEXT NOT NULL,
    session  TEXT NOT NULL,
    kind     TEXT NOT NULL,
    old_text TEXT,
    new_text TEXT,
    at       INTEGER NOT NULL,
    actor    TEXT NOT NULL,
    call     BLOB NOT NULL,
    reason   TEXT
);

CREATE INDEX history_by_memory ON history (memory, sequence);

-- What changed lately, for the indexes that other handles and processes keep, and for guards. The sequence is the
-- store's version. The oldest rows are dropped now and then.
CREATE TABLE changes (
    version  INTEGER PRIMARY KEY AUTOINCREMENT,
    id       BLOB NOT NULL,
    user     TEXT NOT NULL,
    agent    TEXT NOT NULL,
    session  TEXT NOT NULL,
    semantic INTEGER NOT NULL,
    keys     INTEGER NOT NULL
);

-- Adds that are carried out later, in the order they were queued.
CREATE TABLE queue (
    sequence      INTEGER PRIMARY KEY AUTOINCREMENT,
    id            BLOB NOT NULL UNIQUE,
    user          TEXT NOT NULL,
    agent         TEXT NOT NULL,
    session       TEXT NOT NULL,
    state         TEXT NOT NULL,
    queued_at     INTEGER NOT NULL,
    due_at        INTEGER NOT NULL,
    leased_until  INTEGER, -- while it is running
    memory        BLOB,    -- the id of the first memory it writes, once it was claimed
    attempts      INTEGER NOT NULL,
    failures      INTEGER NOT NULL,
    interruptions INTEGER NOT NULL,
    failure       TEXT,    -- the last one
    request       TEXT NOT NULL
);

CREATE INDEX queue_running ON queue (sequence) WHERE state = 'running';
