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

INSERT INTO live_versions (namespace, name, version, records, published, generation)
SELECT v.namespace, v.name, v.version, v.records, v.published, c.generation
FROM datasets AS d JOIN versions AS v ON v.namespace = d.namespace AND v.name = d.name AND v.version = d.live, catalogue AS c;

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

CREATE INDEX versions_version ON versions (version);
CREATE INDEX versions_protected ON versions (namespace, name, version) WHERE access = 'key';

-- The words by which the catalogue page finds a version: each after a line feed, in Unicode-folded form. Versions of earlier
-- releases have none.
CREATE TABLE version_words (
    namespace TEXT NOT NULL,
    name      TEXT NOT NULL,
    version   TEXT NOT NULL,
    words     TEXT NOT NULL,
    PRIMARY KEY (namespace, name, version),
    FOREIGN KEY (namespace, name, version) REFERENCES versions (namespace, name, version) ON DELETE CASCADE
) STRICT;
