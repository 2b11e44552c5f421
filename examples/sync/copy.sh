#!/bin/sh
# Keeps a copy of a dataset on another Herbarium up to date: fetches what changed since the last run, and sends it. It prints
# nothing unless it fails, so that cron sends a mail only then.
#
#   SOURCE_URL  server of the dataset, such as https://data.example.org
#   TARGET_URL  server of the copy
#   DATASET     such as shop/prices
#   COPY        dataset of the copy; default: DATASET
#   PRIMARY_KEY  field of the primary key, such as id, for the first copy; without one, everything is sent each time
#   STATE_FILE  file with the version of the copy; remove it to start again
#   KEY_FILE    file with a key of the target with the scope publish:shop/prices
#   SOURCE_KEY_FILE  file with a key of the source, if the dataset requires one
set -eu
source=$SOURCE_URL/api/v1/$DATASET
target="$TARGET_URL/api/v1/${COPY:-$DATASET}/source"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
last=$(cat "$STATE_FILE" 2> /dev/null) || last=

# Runs curl with the key in a file as a header, which other users cannot see, and prints the status.
request() {
  { [ -z "$1" ] || printf 'header = "X-API-Key: %s"\n' "$(cat "$1")"; } > "$folder/config"
  shift
  curl -sS --retry 3 -K "$folder/config" -w '%{http_code}' "$@"
}

fetch() {
  status=$(request "${SOURCE_KEY_FILE:-}" --compressed -D "$folder/head" -o "$folder/copy.csv" "$source/$1")
}

send() {
  status=$(request "$KEY_FILE" -H 'Prefer: wait=300' -o "$folder/copy.csv" "$@")
}

fail() {
  echo "$1: status $status" >&2
  cat "$folder/copy.csv" >&2
  exit 1
}

mode=upsert
if [ -n "$last" ]; then
  fetch "changes.csv?_from=$last"
else
  status=410
fi
case $status in
  400 | 410) # no primary key identifies the records in both versions, or the server does not keep the last one any more
    mode=full
    fetch data.csv ;;
esac
[ "$status" = 200 ] || fail "$source"
version=$(tr -d '\r' < "$folder/head" | sed -n 's/^[Xx]-[Dd]ataset-[Vv]ersion: //p' | tail -n 1)
[ "$version" != "$last" ] || exit 0

# The copy follows the dataset, so breaking changes are permitted.
if [ "$mode" = upsert ]; then
  send -X PATCH --data-binary "@$folder/copy.csv" "$target?_mode=upsert&_allow_breaking=true"
elif [ -z "$last" ] && [ -n "${PRIMARY_KEY:-}" ]; then
  send -X PUT -F "file=@$folder/copy.csv" "$target?_allow_breaking=true" \
    -F "descriptor={\"resources\":[{\"path\":\"copy.csv\",\"schema\":{\"primaryKey\":\"$PRIMARY_KEY\"}}]};type=application/json"
else # the descriptor of the copy is kept
  send -T "$folder/copy.csv" "$target?_allow_breaking=true"
fi
case $status in
  200 | 201) echo "$version" > "$STATE_FILE.new" && mv "$STATE_FILE.new" "$STATE_FILE" ;;
  *) fail "$target" ;; # also 202, not published yet: the next run sends the same changes again
esac
