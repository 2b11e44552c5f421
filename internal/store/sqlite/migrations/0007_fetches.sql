-- compatible: 1

-- Files that servers fetch, and what is known about them. due is the time of the next fetch, 0 if there is none. Until the time
-- claimed, which the program that fetches extends, no other program does; of a host, one file is fetched at a time.
CREATE TABLE fetches (
    namespace TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    host      TEXT    NOT NULL,
    address   TEXT    NOT NULL,
    due       INTEGER NOT NULL,
    claimed   INTEGER NOT NULL,
    attempts  INTEGER NOT NULL,
    content   TEXT    NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;
