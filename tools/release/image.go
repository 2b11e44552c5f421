package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
type layout struct{ files []file }

// add adds a blob.
func (l *layout) add(mediaType string, content []byte) descriptor {
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	l.files = append(l.files, file{path: "blobs/sha256/" + sum, mode: 0o644, content: content})
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(content)}
}

func (l *layout) addJSON(mediaType string, value any) (descriptor, error) {
	content, err := json.Marshal(value)
	return l.add(mediaType, content), err
}

// writeImage writes an image for the Linux platforms as an archive of an OCI image layout, which `podman load` and `skopeo`
// read. It has the same content as the image that deploy/container/Containerfile describes.
func writeImage(o Options, binaries []binary) error {
	containerfile, err := os.ReadFile(filepath.Join(o.Repository, "deploy/container/Containerfile"))
	if err != nil {
		return err
	}
	config, err := parseContainerfile(string(containerfile))
	if err != nil {
		return err
	}
	config.Labels = map[string]string{
		"org.opencontainers.image.title": "herbarium", "org.opencontainers.image.version": o.Version,
		"org.opencontainers.image.revision": o.Commit, "org.opencontainers.image.licenses": "Apache-2.0",
	}
	var l layout
	var images []descriptor
	for _, b := range binaries {
		if b.OS != "linux" {
			continue
		}
		image, err := l.addImage(o, b, config)
		if err != nil {
			return err
		}
		images = append(images, image)
	}
	if len(images) == 0 {
		return nil
	}
	all, err := l.addJSON(indexType, map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": images})
	if err != nil {
		return err
	}
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": strings.TrimPrefix(o.Version, "v")}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []descriptor{all}})
	if err != nil {
		return err
	}
	files := append([]file{
		{path: "oci-layout", mode: 0o644, content: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{path: "index.json", mode: 0o644, content: index},
	}, l.files...)
	f, err := os.Create(filepath.Join(o.Out, o.fileName("_oci.tar")))
	if err != nil {
		return err
	}
	return errors.Join(writeTar(f, files, o.Date), f.Close())
}

// addImage adds the image of one platform.
func (l *layout) addImage(o Options, b binary, config imageConfig) (descriptor, error) {
	plain, err := layer(o, b, config)
	if err != nil {
		return descriptor{}, err
	}
	var compressed bytes.Buffer
	z, err := gzip.NewWriterLevel(&compressed, o.Compression)
	if err != nil {
		return descriptor{}, err
	}
	if _, err := z.Write(plain); err != nil {
		return descriptor{}, err
	}
	if err := z.Close(); err != nil {
		return descriptor{}, err
	}
	content := l.add(layerType, compressed.Bytes())
	created := o.Date.Format(time.RFC3339)
	configured, err := l.addJSON(configType, map[string]any{
		"created": created, "architecture": b.Arch, "os": b.OS, "config": config,
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain))}},
		"history": []map[string]string{{"created": created, "created_by": "tools/release"}},
	})
	if err != nil {
		return descriptor{}, err
	}
	d, err := l.addJSON(manifestType, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": configured, "layers": []descriptor{content},
	})
	d.Platform = map[string]string{"os": b.OS, "architecture": b.Arch}
	return d, err
}

// layer returns the files of an image: the program, CA certificates, and folders that the user of the image owns.
func layer(o Options, b binary, config imageConfig) ([]byte, error) {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	certificates, err := os.ReadFile(o.Certificates)
	if err != nil {
		return nil, err
	}
	var user, group int
	if _, err := fmt.Sscanf(config.User, "%d:%d", &user, &group); err != nil || user != group {
		return nil, fmt.Errorf("USER %s: want the same number for user and group", config.User)
	}
	const root = 0
	folder := func(path string, mode fs.FileMode, owner int) file { return file{path: path, mode: mode, owner: owner} }
	var out bytes.Buffer
	err = writeTar(&out, []file{
		folder("etc/", 0o755, root), folder("etc/ssl/", 0o755, root), folder("etc/ssl/certs/", 0o755, root),
		{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: certificates},
		folder("tmp/", 0o755, user),
		folder("usr/", 0o755, root), folder("usr/local/", 0o755, root), folder("usr/local/bin/", 0o755, root),
		{path: strings.TrimPrefix(config.Entrypoint[0], "/"), mode: 0o755, content: program},
		folder("var/", 0o755, root), folder("var/lib/", 0o755, root), folder("var/lib/herbarium/", 0o700, user),
	}, o.Date)
	return out.Bytes(), err
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
