-- Errors of watched sources whose current state is not published.
CREATE TABLE troubles (
    place     TEXT    NOT NULL PRIMARY KEY,
    namespace TEXT    NOT NULL, -- empty, like name, if the dataset is unknown
    name      TEXT    NOT NULL,
    message   TEXT    NOT NULL,
    since     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
