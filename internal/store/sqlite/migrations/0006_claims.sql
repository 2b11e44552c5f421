-- compatible: 1

-- Work that one program does for all, such as rebuilding the index of a version. After a claim has expired, another program may
-- begin the work.
CREATE TABLE claims (
    name   TEXT    NOT NULL PRIMARY KEY,
    holder TEXT    NOT NULL,
    until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
