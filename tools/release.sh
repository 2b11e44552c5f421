#!/usr/bin/env bash
# Builds what a release consists of: archives with static binaries, a container image, a bill of materials and checksums. Two runs
# on the same commit with the same tools and CA certificates produce identical files. Nothing is uploaded. Needs Go, git, GNU tar,
# gzip, zip and jq.
#
# usage: tools/release.sh FOLDER [SYSTEM/ARCHITECTURE...]     the content of the folder is deleted
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
out=$(realpath -m "$1"); shift
platforms=${*:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}
go=${GO:-go}
certificates=${CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt}
level=${LEVEL:-9} # of compression
export TZ=UTC LC_ALL=C CGO_ENABLED=0 GOFLAGS=
for tool in "$go" git tar gzip zip jq; do
	command -v "$tool" > /dev/null || { echo "release: $tool is not installed" >&2; exit 1; }
done

tag=$(git describe --tags --always --dirty --match 'v[0-9]*') # or the last tag and the commit
commit=$(git rev-parse HEAD)
date=@$(git log -1 --format=%ct)
created=$(date -d "$date" +%FT%TZ)
version=${tag#v}
if [[ $tag =~ ^v[0-9.]+$ ]] && ! grep -qF "## [$version] " CHANGELOG.md; then
	echo "release: CHANGELOG.md has no section for $version" >&2
	exit 1
fi

umask 022
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# pack ARCHIVE OWNER FILE... adds files and folders to a tar archive.
pack() {
	tar --append --file="$1" --format=ustar --mtime="$date" --owner="$2" --group="$2" --numeric-owner --sort=name --no-recursion "${@:3}"
}

# store FILE moves a file to the blobs of the image and prints its descriptor.
store() {
	local sum size
	sum=$(sha256sum < "$1" | cut -d ' ' -f 1) size=$(stat -c %s "$1")
	mv "$1" "$work/image/blobs/sha256/$sum"
	jq -cn --arg digest "sha256:$sum" --argjson size "$size" '{$digest, $size}'
}

oci=application/vnd.oci.image

# The settings of the last stage of the Containerfile, and labels.
image_config() {
	sed -n '/^FROM scratch/,$p' deploy/container/Containerfile | jq -cRn --arg version "$tag" --arg commit "$commit" '
		reduce (inputs | capture("^(?<name>[A-Z]+) (?<value>.*)$")) as {$name, $value} ({};
			if $name == "USER" then .User = $value
			elif $name == "ENV" then .Env += [$value]
			elif $name == "VOLUME" then .Volumes[$value] = {}
			elif $name == "EXPOSE" then .ExposedPorts[$value + "/tcp"] = {}
			elif $name == "STOPSIGNAL" then .StopSignal = $value
			elif $name == "ENTRYPOINT" then .Entrypoint = ($value | fromjson)
			elif $name == "CMD" then .Cmd = ($value | fromjson)
			else . end)
		| .Labels = {"org.opencontainers.image.title": "herbarium", "org.opencontainers.image.version": $version,
			"org.opencontainers.image.revision": $commit, "org.opencontainers.image.licenses": "Apache-2.0"}'
}

# add_image PROGRAM ARCHITECTURE adds the image of a platform: the program, CA certificates, documents, and folders that its user owns.
add_image() {
	local root=$work/root-$2 layer=$work/layer-$2.tar config user diff layers manifest
	config=$(image_config)
	user=$(jq -r '.User | split(":")[0]' <<< "$config")
	mkdir -p "$root"/{etc/ssl/certs,tmp,usr/local/bin,usr/share/doc/herbarium,var/lib/herbarium}
	chmod 700 "$root/var/lib/herbarium"
	cp -R "$work/documents/." "$root/usr/share/doc/herbarium"
	rm -r "$root/usr/share/doc/herbarium/completions"
	install -m 644 "$certificates" "$root/etc/ssl/certs/ca-certificates.crt"
	install -m 755 "$1" "$root$(jq -r '.Entrypoint[0]' <<< "$config")"
	(
		cd "$root"
		find etc usr var ! -path var/lib/herbarium | sort > "$work/listed"
		pack "$layer" 0 --files-from="$work/listed"
		pack "$layer" "$user" tmp/ var/lib/herbarium/
	)
	diff=sha256:$(sha256sum < "$layer" | cut -d ' ' -f 1)
	gzip "-${level}n" "$layer"
	layers=$(store "$layer.gz")
	jq -cn --arg created "$created" --arg arch "$2" --arg diff "$diff" --argjson config "$config" '{$created, architecture: $arch, os: "linux",
		$config, rootfs: {type: "layers", diff_ids: [$diff]}, history: [{$created, created_by: "tools/release.sh"}]}' > "$work/config"
	config=$(store "$work/config")
	jq -cn --arg oci "$oci" --argjson config "$config" --argjson layer "$layers" '{schemaVersion: 2, mediaType: "\($oci).manifest.v1+json",
		config: ($config + {mediaType: "\($oci).config.v1+json"}),
		layers: [$layer + {mediaType: "\($oci).layer.v1.tar+gzip"}]}' > "$work/manifest"
	manifest=$(store "$work/manifest")
	jq -c --arg oci "$oci" --arg arch "$2" '. + {mediaType: "\($oci).manifest.v1+json", platform: {os: "linux", architecture: $arch}}' \
		<<< "$manifest" >> "$work/manifests"
}

# image_index prints an index of the descriptors on standard input.
image_index() { jq -cs --arg oci "$oci" '{schemaVersion: 2, mediaType: "\($oci).index.v1+json", manifests: .}'; }

# Documents, licenses and shell completions accompany each binary.
mkdir -p "$work/documents/completions" "$work/image/blobs/sha256"
GO=$go tools/documents.sh "$work/documents" "$tag"
for shell in bash zsh fish powershell; do
	$go run ./cmd/herbarium completion "$shell" > "$work/documents/completions/herbarium.$shell"
done

for platform in $platforms; do
	echo "building for $platform" >&2
	system=${platform%/*} arch=${platform#*/}
	name=herbarium_${version}_${system}_$arch program=herbarium
	[[ $system == windows ]] && program=herbarium.exe
	cp -R "$work/documents" "$work/$name"
	GOOS=$system GOARCH=$arch $go build -trimpath -buildvcs=false -ldflags="-s -w -X herbarium/internal/cli.release=$tag -X herbarium/internal/cli.releaseCommit=$commit" \
		-o "$work/$name/$program" ./cmd/herbarium
	if [[ $platform == "$($go env GOHOSTOS)/$($go env GOHOSTARCH)" ]]; then # the linker ignores unknown variables
		"$work/$name/$program" version | grep -qF "herbarium $tag "
	fi
	$go version -m "$work/$name/$program" >> "$work/binaries"
	find "$work/$name" -exec touch -d "$date" {} +
	if [[ $system == windows ]]; then
		(cd "$work" && find "$name" -type f | sort | zip "-qX$level" "$out/$name.zip" -@)
	else
		(cd "$work" && find "$name" -type f | sort > listed && pack "$name.tar" 0 --files-from=listed && gzip "-${level}nc" "$name.tar" > "$out/$name.tar.gz")
	fi
	[[ $system == linux ]] && add_image "$work/$name/$program" "$arch"
done

# The bill of materials lists the modules that the linker recorded in the binaries; => replaces the module of the line before.
awk -v OFS='\t' '/^[^\t]/ { print "stdlib", substr($2, 3) } $1 == "dep" { module[++n] = $2 OFS $3 } $1 == "=>" { module[n] = $2 OFS $3 }
	END { for (i in module) print module[i] }' "$work/binaries" | sort -u > "$work/modules"
id=$( (echo "$tag $commit"; cat "$work/modules") | sha256sum)
jq -Rn --arg version "$tag" --arg created "$created" --arg id "$id" '
	[inputs | split("\t") | "pkg:golang/\(.[0] | ascii_downcase)@\(.[1])" as $ref
		| {type: "library", "bom-ref": $ref, name: .[0], version: .[1], purl: $ref}] as $components
	| "pkg:generic/herbarium@\($version)" as $program
	| {bomFormat: "CycloneDX", specVersion: "1.5", version: 1,
		serialNumber: ($id | "urn:uuid:\(.[:8])-\(.[8:12])-8\(.[13:16])-8\(.[17:20])-\(.[20:32])"),
		metadata: {timestamp: $created,
			component: {type: "application", "bom-ref": $program, name: "herbarium", version: $version, purl: $program}},
		$components, dependencies: [{ref: $program, dependsOn: [$components[].purl]}]}' < "$work/modules" > "$out/herbarium_$version.cdx.json"

# The image is an archive of an OCI image layout, which `podman load` and `skopeo` read.
if [[ -e $work/manifests ]]; then
	image_index < "$work/manifests" > "$work/index"
	index=$(store "$work/index")
	jq -c --arg oci "$oci" --arg name "herbarium/herbarium:$version" '. + {mediaType: "\($oci).index.v1+json",
		annotations: {"org.opencontainers.image.ref.name": $name}}' <<< "$index" | image_index > "$work/image/index.json"
	printf '{"imageLayoutVersion":"1.0.0"}' > "$work/image/oci-layout"
	(cd "$work/image" && pack "$out/herbarium_${version}_oci.tar" 0 oci-layout index.json $(find blobs -type f | sort))
fi
(cd "$out" && sha256sum -- * > "$work/sums" && mv "$work/sums" SHA256SUMS)
