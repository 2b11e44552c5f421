#!/bin/sh
# Publishes the result of a query of a PostgreSQL database to a server. It prints nothing unless it fails.
#
#   QUERY          such as SELECT * FROM prices; psql reads it in one transaction
#   HERBARIUM_URL  server, such as https://data.example.org
#   DATASET        such as shop/prices
#   KEY_FILE       file with a key of the scope publish:shop/prices, readable by this user only
#   PGHOST …       the connection, as for psql; the password is in ~/.pgpass
#
# The exit code is that of herbarium publish: 3 if the version is rejected. The live version stays then. A query that fails
# publishes nothing.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --csv --command "$QUERY" > "$folder/result.csv"
code=0
herbarium publish "$folder/result.csv" --to "$HERBARIUM_URL" --as "$DATASET" --key-file "$KEY_FILE" > "$folder/.output" 2>&1 || code=$?
if [ "$code" -ne 0 ]; then
  cat "$folder/.output" >&2
fi
exit "$code"
