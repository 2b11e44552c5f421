-- Versions that are not in the catalogue; garbage collection removes their files later.
CREATE TABLE retired (
    version TEXT    NOT NULL PRIMARY KEY,
    since   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
