package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// Media types of the OCI image specification.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// imageConfig is how containers of an image run.
type imageConfig struct {
	User         string
	ExposedPorts map[string]struct{}
	Env          []string
	Entrypoint   []string
	Cmd          []string
	Volumes      map[string]struct{}
	Labels       map[string]string
	StopSignal   string
}

// descriptor refers to a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// layout collects the files of an OCI image layout.
type layout struct {
	*release
	files []file
}

// add adds a blob.
func (l *layout) add(mediaType string, content []byte) descriptor {
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	l.files = append(l.files, file{path: "blobs/sha256/" + sum, mode: 0o644, content: content})
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(content)}
}

// addJSON adds a value as a blob.
func (l *layout) addJSON(mediaType string, value any) descriptor {
	return l.add(mediaType, l.encode(value))
}

// writeImage writes an image for the Linux platforms as an archive of an OCI image layout, which `podman load` and `skopeo`
// read. It has the same content as the image that deploy/container/Containerfile describes.
func (r *release) writeImage(binaries []binary) {
	config, err := parseContainerfile(string(r.read(filepath.Join(r.Repository, "deploy/container/Containerfile"))))
	if r.fail(err); r.err != nil {
		return
	}
	config.Labels = map[string]string{
		"org.opencontainers.image.title": "herbarium", "org.opencontainers.image.version": r.Version,
		"org.opencontainers.image.revision": r.Commit, "org.opencontainers.image.licenses": "Apache-2.0",
	}
	l := layout{release: r}
	var images []descriptor
	for _, b := range binaries {
		if b.OS == "linux" {
			images = append(images, l.addImage(b, config))
		}
	}
	if len(images) == 0 {
		return
	}
	all := l.addJSON(indexType, imageIndex(images...))
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": strings.TrimPrefix(r.Version, "v")}
	r.write("_oci.tar", r.tar(append([]file{
		{path: "oci-layout", mode: 0o644, content: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{path: "index.json", mode: 0o644, content: r.encode(imageIndex(all))},
	}, l.files...)))
}

func imageIndex(manifests ...descriptor) map[string]any {
	return map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": manifests}
}

// addImage adds the image of one platform.
func (l *layout) addImage(b binary, config imageConfig) descriptor {
	plain := l.tar(l.layer(b, config))
	content := l.add(layerType, l.gzip(plain))
	created := l.Date.Format(time.RFC3339)
	configured := l.addJSON(configType, map[string]any{
		"created": created, "architecture": b.Arch, "os": b.OS, "config": config,
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain))}},
		"history": []map[string]string{{"created": created, "created_by": "tools/release"}},
	})
	d := l.addJSON(manifestType, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": configured, "layers": []descriptor{content},
	})
	d.Platform = map[string]string{"os": b.OS, "architecture": b.Arch}
	return d
}

// layer returns the files of an image: the program, CA certificates, and folders that the user of the image owns.
func (l *layout) layer(b binary, config imageConfig) []file {
	var user, group int
	if _, err := fmt.Sscanf(config.User, "%d:%d", &user, &group); err != nil || user != group {
		l.fail(fmt.Errorf("USER %s: want the same number for user and group", config.User))
	}
	const root = 0
	folder := func(path string, mode fs.FileMode, owner int) file { return file{path: path, mode: mode, owner: owner} }
	return []file{
		folder("etc/", 0o755, root), folder("etc/ssl/", 0o755, root), folder("etc/ssl/certs/", 0o755, root),
		{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: l.read(l.Certificates)},
		folder("tmp/", 0o755, user),
		folder("usr/", 0o755, root), folder("usr/local/", 0o755, root), folder("usr/local/bin/", 0o755, root),
		{path: strings.TrimPrefix(config.Entrypoint[0], "/"), mode: 0o755, content: l.read(b.path)},
		folder("var/", 0o755, root), folder("var/lib/", 0o755, root), folder("var/lib/herbarium/", 0o700, user),
	}
}

// parseContainerfile returns the settings of the last stage of a Containerfile.
func parseContainerfile(text string) (c imageConfig, err error) {
	c.ExposedPorts, c.Volumes = map[string]struct{}{}, map[string]struct{}{}
	stage := text[strings.LastIndex(text, "\nFROM ")+1:]
	for line := range strings.Lines(stage) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "USER":
			c.User = value
		case "ENV":
			c.Env = append(c.Env, value)
		case "VOLUME":
			c.Volumes[value] = struct{}{}
		case "EXPOSE":
			c.ExposedPorts[value+"/tcp"] = struct{}{}
		case "STOPSIGNAL":
			c.StopSignal = value
		case "ENTRYPOINT":
			err = errors.Join(err, json.Unmarshal([]byte(value), &c.Entrypoint))
		case "CMD":
			err = errors.Join(err, json.Unmarshal([]byte(value), &c.Cmd))
		}
	}
	if err == nil && len(c.Entrypoint) == 0 {
		err = errors.New("the Containerfile has no ENTRYPOINT")
	}
	return c, err
}
