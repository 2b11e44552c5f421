-- Why sources that are watched are not published as they are now.
CREATE TABLE troubles (
    place     TEXT    NOT NULL PRIMARY KEY,
    namespace TEXT    NOT NULL, -- empty, as the next, if it cannot be told what dataset it would become
    name      TEXT    NOT NULL,
    message   TEXT    NOT NULL,
    since     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
