#!/usr/bin/env bash
# Copies what accompanies the program in archives and images: documents, deployment files, manual pages and licenses.
#
# usage: tools/documents.sh FOLDER VERSION
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "$1")
go=${GO:-go}
mkdir -p "$out/man"
cp LICENSE README.md CHANGELOG.md SECURITY.md compose.yaml compose.cluster.yaml "$out"
cp -R docs deploy "$out"
find "$out/docs" "$out/deploy" -name '*.go' -delete
$go run ./tools/reference -man "$out/man" -version "$2"
$go run ./tools/licenses -o "$out/THIRD_PARTY_LICENSES.txt"
