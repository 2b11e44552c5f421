-- Versions that are in the catalogue no more, or never were, and whose files are removed when nobody can need them.
CREATE TABLE retired (
    version TEXT    NOT NULL PRIMARY KEY,
    since   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
