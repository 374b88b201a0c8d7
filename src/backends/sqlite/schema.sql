-- Scope parts that are not named are '', since a part is never blank: comparisons then need no IS NULL.
-- Times are microseconds since 1970 in UTC. Lists and objects are JSON texts, NULL when empty.
--
-- A CHECK is where a wrong value would be read as a right one. What cannot be read (a name that is none, an id of another
-- length, a time beyond all calendars) is told by whoever reads it, and `verify` reads everything.

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
    kind          TEXT NOT NULL CHECK (kind <> ''),
    categories    TEXT,
    metadata      TEXT,
    importance    REAL NOT NULL CHECK (importance BETWEEN 0 AND 1),
    pinned        INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    speaker       TEXT,
    trust         TEXT NOT NULL,
    slot          TEXT,
    ordinal       INTEGER CHECK (ordinal >= 0),
    observed_at   INTEGER NOT NULL,
    valid_at      INTEGER NOT NULL,
    invalid_at    INTEGER CHECK (invalid_at >= valid_at),
    superseded_by BLOB,
    expires_at    INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    access_count  INTEGER NOT NULL CHECK (access_count >= 0),
    accessed_at   INTEGER,
    revision      INTEGER NOT NULL CHECK (revision > 0),
    key_count     INTEGER NOT NULL CHECK (key_count > 0), -- how many rows of `keys` it has, by number from 0
    cues          BLOB NOT NULL, -- of the text; rules that did not read them read them anew
    -- Last, since what may be long is on pages of its own, and building an index needs none of it.
    sources       TEXT,
    text          TEXT NOT NULL
);

-- The id keeps lists in order; the three times let totals be counted from the index alone.
CREATE INDEX memories_by_user ON memories (user, id, invalid_at, expires_at, valid_at) WHERE user <> '';
CREATE INDEX memories_by_agent ON memories (agent, id, invalid_at, expires_at, valid_at) WHERE agent <> '';
CREATE INDEX memories_by_session ON memories (session, user, id, invalid_at, expires_at, valid_at) WHERE session <> '';

-- The scopes there are, each a step from the one before.
CREATE INDEX memories_by_scope ON memories (user, agent, session);

CREATE TABLE keys (
    memory INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    text   TEXT,          -- NULL when it is the memory's own text
    terms  BLOB NOT NULL, -- of the text, analysed; an analyser that did not make them makes them anew
    vector BLOB NOT NULL, -- f32, little-endian
    PRIMARY KEY (memory, number)
) WITHOUT ROWID;

-- Vectors by another embedder, beside those in use until all of them take their places. For whom is in `meta`
-- (`staged_embedder`, `staged_dimensions`). A key that is replaced takes its row along, so what is here is of its text.
CREATE TABLE staged (
    memory INTEGER NOT NULL,
    number INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (memory, number),
    FOREIGN KEY (memory, number) REFERENCES keys (memory, number) ON DELETE CASCADE
) WITHOUT ROWID;

-- The next place of a turn, for each scope that has turns.
CREATE TABLE places (
    user    TEXT NOT NULL,
    agent   TEXT NOT NULL,
    session TEXT NOT NULL,
    next    INTEGER NOT NULL CHECK (next > 0),
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
-- What was removed is found by whose it was, without a look at anybody else's.
CREATE INDEX history_by_scope ON history (user, agent, session, memory);

-- What changed lately, for the indexes that other handles and processes keep, and for guards. The sequence is the
-- store's version. The oldest rows are dropped now and then.
CREATE TABLE changes (
    version  INTEGER PRIMARY KEY AUTOINCREMENT,
    id       BLOB NOT NULL,
    user     TEXT NOT NULL,
    agent    TEXT NOT NULL,
    session  TEXT NOT NULL,
    semantic INTEGER NOT NULL CHECK (semantic IN (0, 1)),
    keys     INTEGER NOT NULL CHECK (keys IN (0, 1))
);

-- The graph. Rows lie together by user, as those of memories do. Relations name their ends by id, so that a walk reads
-- one row a step.
CREATE TABLE entities (
    row         INTEGER PRIMARY KEY,
    id          BLOB NOT NULL UNIQUE,
    user        TEXT NOT NULL,
    agent       TEXT NOT NULL,
    session     TEXT NOT NULL,
    name        TEXT NOT NULL,
    aliases     TEXT,
    entity_type TEXT,
    summary     TEXT,
    metadata    TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    merged_into BLOB
);

CREATE INDEX entities_by_user ON entities (user, id) WHERE user <> '';
CREATE INDEX entities_by_agent ON entities (agent, id) WHERE agent <> '';
CREATE INDEX entities_by_session ON entities (session, user, id) WHERE session <> '';

-- The name and the aliases of each entity, folded.
CREATE TABLE entity_names (
    row    INTEGER PRIMARY KEY,
    entity INTEGER NOT NULL REFERENCES entities (row) ON DELETE CASCADE,
    folded TEXT NOT NULL
);

CREATE INDEX entity_names_by_entity ON entity_names (entity);

-- By what names are found, once for each scope that covers the entity (as a hash): their trigrams, and below zero a hash
-- of the whole. See names.rs, which also removes them.
CREATE TABLE entity_grams (
    reader INTEGER NOT NULL,
    gram   INTEGER NOT NULL,
    name   INTEGER NOT NULL,
    size   INTEGER NOT NULL, -- how many trigrams the name has
    PRIMARY KEY (reader, gram, name)
) WITHOUT ROWID;

CREATE TABLE relations (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    user       TEXT NOT NULL,
    agent      TEXT NOT NULL,
    session    TEXT NOT NULL,
    subject    BLOB NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    predicate  TEXT NOT NULL,
    object     BLOB NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    fact       TEXT NOT NULL,
    valid_at   INTEGER,
    invalid_at INTEGER CHECK (invalid_at >= valid_at),
    created_at INTEGER NOT NULL,
    expired_at INTEGER CHECK (expired_at >= created_at),
    sources    BLOB, -- ids of memories, one after the other
    subject_name TEXT,
    object_name  TEXT,
    seen_at      BLOB, -- instants, eight bytes each
    single_valued INTEGER NOT NULL CHECK (single_valued IN (0, 1))
);

-- The id keeps walks in order; the two times let them pass over what has ended without reading its row.
CREATE INDEX relations_by_subject ON relations (subject, id, expired_at, invalid_at);
CREATE INDEX relations_by_object ON relations (object, id, expired_at, invalid_at);
CREATE INDEX relations_by_user ON relations (user, id, expired_at) WHERE user <> '';
CREATE INDEX relations_by_agent ON relations (agent, id, expired_at) WHERE agent <> '';
CREATE INDEX relations_by_session ON relations (session, user, id, expired_at) WHERE session <> '';

CREATE TABLE relation_sources (
    memory   BLOB NOT NULL,
    relation INTEGER NOT NULL REFERENCES relations (row) ON DELETE CASCADE,
    PRIMARY KEY (memory, relation)
) WITHOUT ROWID;

CREATE INDEX relation_sources_by_relation ON relation_sources (relation);

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
    attempts      INTEGER NOT NULL CHECK (attempts >= 0),
    failures      INTEGER NOT NULL CHECK (failures >= 0),
    interruptions INTEGER NOT NULL CHECK (interruptions >= 0),
    failure       TEXT,    -- the last one
    request       TEXT NOT NULL
);

CREATE INDEX queue_running ON queue (sequence) WHERE state = 'running';

-- Conversations, by their whole scope.
CREATE TABLE conversations (
    row           INTEGER PRIMARY KEY,
    user          TEXT NOT NULL,
    agent         TEXT NOT NULL,
    session       TEXT NOT NULL,
    first         INTEGER NOT NULL CHECK (first >= 0), -- the number of the first message that is left, or else of the next
    next          INTEGER NOT NULL CHECK (next >= first), -- the number of the next message
    covers_before INTEGER NOT NULL CHECK (covers_before BETWEEN 0 AND next), -- what the summary covers, 0 when there is none
    summarized_at INTEGER,
    summary       TEXT,
    UNIQUE (user, agent, session)
);

-- How far the numbers of erased conversations had come, since numbers are not used again; their names as hashes, for an
-- erased name is gone.
CREATE TABLE erased_conversations (
    name BLOB PRIMARY KEY,
    next INTEGER NOT NULL CHECK (next >= 0)
) WITHOUT ROWID;

-- The messages of one conversation lie together, whoever else wrote between them.
CREATE TABLE messages (
    conversation INTEGER NOT NULL REFERENCES conversations (row),
    sequence     INTEGER NOT NULL CHECK (sequence >= 0),
    role         TEXT NOT NULL,
    id           TEXT,
    speaker      TEXT,
    at           INTEGER,
    tool_calls   TEXT,
    tool_call_id TEXT,
    metadata     TEXT,
    text         TEXT NOT NULL,
    PRIMARY KEY (conversation, sequence)
) WITHOUT ROWID;
