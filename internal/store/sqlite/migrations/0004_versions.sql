-- compatible: 1

-- What lists show of a version without its details, as JSON. Empty: an earlier release has added the version.
ALTER TABLE versions ADD COLUMN summary TEXT NOT NULL DEFAULT '';

-- Names that publishers have given to versions. A version with a label is kept.
CREATE TABLE labels (
    namespace TEXT NOT NULL,
    name      TEXT NOT NULL,
    label     TEXT NOT NULL,
    version   TEXT NOT NULL,
    PRIMARY KEY (namespace, name, label),
    FOREIGN KEY (namespace, name, version) REFERENCES versions (namespace, name, version) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_version ON labels (namespace, name, version);

-- Versions that nobody may read any more. They never enter the catalogue again, even if their dataset was removed.
CREATE TABLE withdrawn (
    namespace  TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    version    TEXT    NOT NULL,
    access     TEXT    NOT NULL,
    published  INTEGER NOT NULL,
    since      INTEGER NOT NULL,
    generation INTEGER NOT NULL, -- of the catalogue that has withdrawn it
    PRIMARY KEY (namespace, name, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX withdrawn_version ON withdrawn (version);
CREATE INDEX withdrawn_generation ON withdrawn (generation);
