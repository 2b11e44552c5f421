-- compatible: 1

-- Plants are a log: they are numbered from 1 without a gap in creation order and never change. Listings read segments that are
-- built from it, so it has no index but those of its two keys.
CREATE TABLE plants (
    seq       INTEGER PRIMARY KEY,
    id        INTEGER NOT NULL UNIQUE,
    name      TEXT    NOT NULL,
    tag       TEXT    NOT NULL, -- empty if none was given
    tag_given INTEGER NOT NULL,
    -- Random number of the transaction. It distinguishes segments of this log from those of another state of the database.
    batch     INTEGER NOT NULL
) STRICT;

CREATE TABLE totals (
    epoch  TEXT    NOT NULL, -- identifies the database
    plants INTEGER NOT NULL
) STRICT;
INSERT INTO totals VALUES (lower(hex(randomblob(8))), 0);

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
    details     TEXT    NOT NULL, -- metadata that listings do not need, as JSON
    PRIMARY KEY (namespace, name, version),
    FOREIGN KEY (namespace, name) REFERENCES datasets (namespace, name) ON DELETE CASCADE
) STRICT;
CREATE INDEX versions_version ON versions (version);
CREATE INDEX versions_protected ON versions (namespace, name, version) WHERE access = 'key';

-- The words by which the catalogue page finds a version: each after a line feed, in Unicode-folded form.
CREATE TABLE version_words (
    namespace TEXT NOT NULL,
    name      TEXT NOT NULL,
    version   TEXT NOT NULL,
    words     TEXT NOT NULL,
    PRIMARY KEY (namespace, name, version),
    FOREIGN KEY (namespace, name, version) REFERENCES versions (namespace, name, version) ON DELETE CASCADE
) STRICT;

-- The live version of each dataset, without its description, and the generation of its last change, so that a process reads
-- only what changed since the generation that it knows. A removed dataset stays here without a version. The generation is
-- increased before a change.
CREATE TABLE live_versions (
    namespace  TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    version    TEXT    NOT NULL, -- empty: the dataset was removed
    records    INTEGER NOT NULL,
    published  INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX live_versions_generation ON live_versions (generation);

CREATE TRIGGER versions_inserted AFTER INSERT ON versions BEGIN
    INSERT INTO live_versions (namespace, name, version, records, published, generation)
    SELECT NEW.namespace, NEW.name, NEW.version, NEW.records, NEW.published, c.generation
    FROM datasets AS d, catalogue AS c WHERE d.namespace = NEW.namespace AND d.name = NEW.name AND d.live = NEW.version
    ON CONFLICT (namespace, name) DO UPDATE SET
        version = excluded.version, records = excluded.records, published = excluded.published, generation = excluded.generation;
END;
CREATE TRIGGER datasets_updated AFTER UPDATE ON datasets BEGIN
    UPDATE live_versions SET (version, records, published, generation) =
        (SELECT v.version, v.records, v.published, c.generation FROM versions AS v, catalogue AS c
         WHERE v.namespace = NEW.namespace AND v.name = NEW.name AND v.version = NEW.live)
    WHERE namespace = NEW.namespace AND name = NEW.name
        AND EXISTS (SELECT 1 FROM versions AS v WHERE v.namespace = NEW.namespace AND v.name = NEW.name AND v.version = NEW.live);
END;
CREATE TRIGGER datasets_deleted AFTER DELETE ON datasets BEGIN
    UPDATE live_versions SET version = '', records = 0, published = 0, generation = (SELECT generation FROM catalogue)
    WHERE namespace = OLD.namespace AND name = OLD.name;
END;

-- Versions that are not in the catalogue; garbage collection removes their files later.
CREATE TABLE retired (
    version TEXT    NOT NULL PRIMARY KEY,
    since   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Watched sources whose current state is not published, and why.
CREATE TABLE source_errors (
    path      TEXT    NOT NULL PRIMARY KEY,
    namespace TEXT    NOT NULL, -- empty, like name, if the dataset is unknown
    name      TEXT    NOT NULL,
    message   TEXT    NOT NULL,
    skipped   INTEGER NOT NULL, -- 1: left out on purpose, 0: failed
    since     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Audit log of changes to keys and datasets.
CREATE TABLE audit (
    id      INTEGER PRIMARY KEY,
    time    INTEGER NOT NULL,
    action  TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    actor   TEXT    NOT NULL,
    origin  TEXT    NOT NULL,
    result  TEXT    NOT NULL,
    detail  TEXT    NOT NULL
) STRICT;
CREATE INDEX audit_time    ON audit (time);
CREATE INDEX audit_subject ON audit (subject, time);

-- Written to while writes fail, to detect recovery; otherwise empty.
CREATE TABLE write_probe (
    padding BLOB NOT NULL
) STRICT;
