#!/usr/bin/env python3
"""Keeps a table of a SQLite database up to date with a dataset: applies what changed since the last run in one transaction.
usage: copy_sqlite.py https://data.example.org/api/v1/shop/prices copy.db prices    (HERBARIUM_KEY: a key, if one is required)"""
import csv, io, json, os, sqlite3, sys, urllib.error, urllib.request

def quote(*names):
    return ", ".join('"' + name.replace('"', '""') + '"' for name in names)

def equal(record, separator=" AND "):
    return separator.join(quote(name) + " = ?" for name in record)

def fetch(file):
    response = urllib.request.urlopen(urllib.request.Request(source + file, headers={"X-API-Key": key} if key else {}))
    return response.headers["X-Dataset-Version"], io.TextIOWrapper(response, "utf-8", newline="")

def copy():
    version, file = fetch("/data.csv")
    rows = csv.reader(file)
    columns = [quote(column) + " TEXT NOT NULL DEFAULT ''" for column in next(rows)]
    db.execute(f"DROP TABLE IF EXISTS {table}")
    db.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
    db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    return version

def update(last):
    version, lines = fetch("/changes.ndjson?_from=" + last)
    summary = json.loads(next(lines))
    names = [n.lower() for n, in [*zip(summary["fields"]["added"]), *db.execute("SELECT name FROM pragma_table_info(?)", [name])]]
    if len(set(names)) < len(names) or not (rowid := min({"rowid", "oid", "_rowid_"} - set(names), default=None)):
        return copy()  # SQLite ignores the case of names, and deletes one of several equal records by a name that no column has
    for column in summary["fields"]["added"]:
        db.execute(f"ALTER TABLE {table} ADD COLUMN {quote(column)} TEXT NOT NULL DEFAULT ''")
    if summary["key"]:
        db.execute(f"CREATE INDEX {index} ON {table} ({quote(*summary['key'])})")
    for c in map(json.loads, lines):
        if c["op"] == "changed" and c["new"]:
            was = {field: c["old"].get(field, value) for field, value in c["key"].items()}  # a key may be written differently now
            db.execute(f"UPDATE {table} SET {equal(c['new'], ', ')} WHERE {equal(was)}", [*c["new"].values(), *was.values()])
        elif c["op"] == "removed":  # one of several equal records
            db.execute(f"DELETE FROM {table} WHERE {rowid} = (SELECT {rowid} FROM {table} WHERE {equal(c['record'])} LIMIT 1)", [*c["record"].values()])
        elif c["op"] == "added":
            db.execute(f"INSERT INTO {table} ({quote(*c['record'])}) VALUES ({', '.join('?' * len(c['record']))})", [*c["record"].values()])
    db.execute(f"DROP INDEX IF EXISTS {index}")
    for column in summary["fields"]["removed"]:
        db.execute(f"ALTER TABLE {table} DROP COLUMN {quote(column)}")
    return version

source, path, name, key = *sys.argv[1:], os.environ.get("HERBARIUM_KEY")
table, index = quote(name), quote(name + "_key")
csv.field_size_limit(2**31 - 1)
db = sqlite3.connect(path, isolation_level=None)
db.execute("BEGIN IMMEDIATE")  # without COMMIT, nothing changes
db.execute("CREATE TABLE IF NOT EXISTS herbarium_copies (name TEXT PRIMARY KEY, version TEXT NOT NULL)")
try:
    last = db.execute("SELECT version FROM herbarium_copies WHERE name = ?", [name]).fetchone()
    version = update(*last) if last else copy()
except urllib.error.HTTPError as e:
    version = copy() if e.code == 410 else sys.exit(f"{e.url}: {e.read(1000).decode(errors='replace')}")  # 410: not kept any more
db.execute("INSERT OR REPLACE INTO herbarium_copies VALUES (?, ?)", [name, version])
db.execute("COMMIT")
