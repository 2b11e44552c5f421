-- +goose Up

-- Audit log of changes to keys and datasets. Times are microseconds since 1970.
CREATE TABLE audit (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time    bigint           NOT NULL,
    action  text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    actor   text COLLATE "C" NOT NULL,
    origin  text COLLATE "C" NOT NULL,
    result  text COLLATE "C" NOT NULL,
    detail  text COLLATE "C" NOT NULL
);
CREATE INDEX audit_time    ON audit (time);
CREATE INDEX audit_subject ON audit (subject, time);

-- Written to while writes fail, to detect recovery; otherwise empty.
CREATE TABLE write_probe (
    padding bytea NOT NULL
);
