#!/bin/sh
# Downloads a file and publishes it to a server. It prints nothing unless it fails, so that cron sends a mail only then.
#
#   SOURCE_URL     file to download
#   HERBARIUM_URL  server, such as https://data.example.org
#   DATASET        such as shop/prices
#   KEY_FILE       file with a key of the scope publish:shop/prices, readable by this user only
#
# The exit code is that of herbarium publish: 3 if the version is rejected. The live version stays then.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
name=${SOURCE_URL##*/}
file=$folder/${name%%\?*} # the extension helps to detect the format
curl -fsS --retry 3 -o "$file" "$SOURCE_URL"
code=0
herbarium publish "$file" --to "$HERBARIUM_URL" --as "$DATASET" --key-file "$KEY_FILE" > "$folder/.output" 2>&1 || code=$?
if [ "$code" -ne 0 ]; then
  cat "$folder/.output" >&2
fi
exit "$code"
