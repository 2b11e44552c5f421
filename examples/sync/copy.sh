#!/bin/sh
# Keeps a copy of a dataset on another Herbarium up to date: fetches what changed since the last run, and sends it. It prints
# nothing unless it fails, so that cron sends a mail only then. Without a primary key, everything is sent each time.
#
#   SOURCE_URL  server of the dataset, such as https://data.example.org
#   TARGET_URL  server of the copy
#   DATASET     such as shop/prices
#   COPY        dataset of the copy; default: DATASET
#   STATE_FILE  file with the version of the copy; remove it to start again
#   KEY_FILE    file with a key of the target with the scope publish:shop/prices
#   SOURCE_KEY_FILE  file with a key of the source, if the dataset requires one
set -eu
source=$SOURCE_URL/api/v1/$DATASET
target=$TARGET_URL/api/v1/${COPY:-$DATASET}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
last=$(cat "$STATE_FILE" 2> /dev/null) || last=

# request KEY_FILE FILE ARGUMENT... runs curl, which writes the response to FILE, and sets status. It reads the key from a file,
# because other users can see arguments.
request() {
  { [ -z "$1" ] || printf 'header = "X-API-Key: %s"\n' "$(cat "$1")"; } > "$folder/config"
  response=$folder/$2
  shift 2
  status=$(curl -sS --retry 3 -K "$folder/config" -w '%{http_code}' -o "$response" "$@")
}

fetch() {
  request "${SOURCE_KEY_FILE:-}" copy.csv --compressed "$source/$1"
}

send() {
  request "$KEY_FILE" result.json -H 'Prefer: wait=300' "$@"
}

fail() {
  echo "$1" >&2
  exit 1
}

expect() { # URL STATUS...
  url=$1
  shift
  for expected; do
    [ "$status" != "$expected" ] || return 0
  done
  cat "$response" >&2
  fail "$url: status $status"
}

# member NAME FILE prints the first member of an object with a name: a number, a string or a list of strings, in JSON.
member() {
  grep -oE '"'"$1"'":([0-9]+|"[^"]*"|\[("([^"\\]|\\.)*",?)*\])' "$folder/$2" | head -n 1 | cut -d : -f 2-
}

request "${SOURCE_KEY_FILE:-}" source.json "$source"
expect "$source" 200
version=$(member version source.json | tr -d '"')
[ "$version" != "$last" ] || exit 0
request "$KEY_FILE" target.json "$target"
expect "$target" 200 404

# The copy requires a key as soon as the dataset does. A descriptor sets the primary key of the dataset; otherwise, the one of
# the copy is kept. The copy follows the dataset, so breaking changes are permitted.
mode=upsert query='_allow_breaking=true' key=$(member primary_key source.json)
set --
if [ "$(member access source.json)" != '"open"' ] && [ "$(member access target.json)" != '"key"' ]; then
  mode=full query="$query&_access=key"
fi
if [ -n "$key" ] && [ "$(member primary_key target.json)" != "$key" ]; then
  mode=full
  printf '{"resources":[{"path":"copy.csv","schema":{"primaryKey":%s}}]}' "$key" > "$folder/datapackage.json"
  set -- -F "descriptor=<$folder/datapackage.json;type=application/json"
  [ "$(member access target.json)" != '"key"' ] || query='_allow_breaking=true&_access=key'
fi

if [ -n "$last" ] && [ "$mode" = upsert ]; then
  fetch "changes.csv?_from=$last&_to=$version"
else
  status=410
fi
case $status in
  400 | 410) # no primary key identifies the records in both versions, or the server does not keep the last one any more
    mode=full
    fetch "data.csv?_version=$version" ;;
esac
expect "$source" 200

if [ "$mode" = upsert ]; then
  send -X PATCH --data-binary "@$folder/copy.csv" "$target/source?_mode=upsert&$query"
else
  send -X PUT -F "file=@$folder/copy.csv" "$@" "$target/source?$query"
fi
expect "$target" 200 201 # also not 202, not published yet: the next run sends the same changes again

copied=$(member records result.json) records=$(member records source.json)
if [ "$copied" != "$records" ] || { [ -n "$key" ] && [ "$(member primary_key result.json)" != "$key" ]; }; then
  rm -f "$STATE_FILE" # the next run sends everything
  fail "$target has $copied records and not the $records of $source, or its primary key is not $key"
fi
echo "$version" > "$STATE_FILE.new" && mv "$STATE_FILE.new" "$STATE_FILE"
