#!/bin/sh
# Exports the prices and names of the fragrant roses as CSV, cheapest first.
set -eu
curl -fsS --compressed --get "${HERBARIUM_URL:-http://127.0.0.1:8080}/api/v1/garden/catalog/data.csv" \
  --data-urlencode 'search=rose' \
  --data-urlencode 'tags=fragrant' \
  --data-urlencode 'sort=price' \
  --data-urlencode '_fields=price,title'
