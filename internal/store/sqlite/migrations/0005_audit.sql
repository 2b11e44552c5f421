-- Audit log of changes to keys and datasets. Times are microseconds since 1970.
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
