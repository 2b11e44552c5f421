-- Plants are numbered from 1 without a gap in creation order and never change, so that a page of the
-- unfiltered listing is located by number.
CREATE TABLE plants (
    seq       INTEGER PRIMARY KEY,
    id        INTEGER NOT NULL UNIQUE,
    name      TEXT    NOT NULL,
    name_key  BLOB    NOT NULL,
    tag       TEXT    NOT NULL, -- empty if none was given
    tag_given INTEGER NOT NULL,
    tag_key   BLOB              -- NULL for an empty tag
) STRICT;

-- Every index ends in seq, which SQLite adds to it.
CREATE INDEX plants_name        ON plants (name);
CREATE INDEX plants_name_key    ON plants (name_key);
CREATE INDEX plants_tag         ON plants (tag);
CREATE INDEX plants_tag_id      ON plants (tag, id);
CREATE INDEX plants_tag_name    ON plants (tag, name_key);
CREATE INDEX plants_tag_key     ON plants (tag_key) WHERE tag_key IS NOT NULL;

-- Words of names and tags. words, the number of words of the plant, is repeated so that scoring needs no join.
CREATE TABLE plant_words (
    word  TEXT    NOT NULL,
    seq   INTEGER NOT NULL,
    field INTEGER NOT NULL,
    pos   INTEGER NOT NULL,
    words INTEGER NOT NULL,
    PRIMARY KEY (word, seq, field, pos)
) STRICT, WITHOUT ROWID;
CREATE INDEX plant_words_place ON plant_words (seq, field, pos);

-- Precomputed counts.
CREATE TABLE plant_tags (
    tag    TEXT    NOT NULL PRIMARY KEY,
    plants INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE totals (
    epoch  TEXT    NOT NULL, -- identifies the database
    plants INTEGER NOT NULL,
    words  INTEGER NOT NULL
) STRICT;
INSERT INTO totals VALUES (lower(hex(randomblob(8))), 0, 0);

-- Idempotency keys and the plants created with them. Times are microseconds since 1970, here and below.
CREATE TABLE retries (
    credential TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    body       BLOB    NOT NULL,
    seq        INTEGER NOT NULL REFERENCES plants (seq),
    created    INTEGER NOT NULL,
    PRIMARY KEY (credential, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX retries_created ON retries (created);

CREATE TABLE keys (
    id        TEXT    NOT NULL PRIMARY KEY,
    name      TEXT    NOT NULL,
    scopes    TEXT    NOT NULL, -- separated by spaces
    hash      BLOB    NOT NULL,
    created   INTEGER NOT NULL,
    expires   INTEGER,
    revoked   INTEGER,
    last_used INTEGER
) STRICT;

CREATE TABLE catalogue (
    generation INTEGER NOT NULL -- incremented by every change of the tables below
) STRICT;
INSERT INTO catalogue VALUES (0);

CREATE TABLE datasets (
    namespace TEXT NOT NULL,
    name      TEXT NOT NULL,
    live      TEXT NOT NULL, -- live version
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE versions (
    namespace   TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    version     TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    description TEXT    NOT NULL,
    access      TEXT    NOT NULL,
    fields      TEXT    NOT NULL, -- JSON
    records     INTEGER NOT NULL,
    published   INTEGER NOT NULL,
    source      TEXT    NOT NULL,
    added       INTEGER NOT NULL, -- generation that added it
    PRIMARY KEY (namespace, name, version),
    FOREIGN KEY (namespace, name) REFERENCES datasets (namespace, name) ON DELETE CASCADE
) STRICT;
