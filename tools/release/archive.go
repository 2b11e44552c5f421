package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"herbarium/internal/cli"
	"herbarium/internal/cli/reference"
)

// file is a file of an archive, or a folder if its path ends in a slash.
type file struct {
	path    string
	mode    fs.FileMode
	content []byte
	owner   int // user and group
}

// documents returns the files that accompany each binary: license, documents, manual pages and shell completions.
func (r *release) documents(ctx context.Context) (files []file) {
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		files = append(files, file{path: name, mode: 0o644, content: r.read(filepath.Join(r.Repository, name))})
	}
	pages := reference.Man(cli.NewRoot(), r.Version)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		files = append(files, file{path: "man/" + name, mode: 0o644, content: []byte(pages[name])})
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var script bytes.Buffer
		if cli.Run(ctx, []string{"completion", shell}, cli.Terminal{Out: &script, Err: os.Stderr, Env: os.LookupEnv}) != 0 {
			r.fail(fmt.Errorf("cannot write completions for %s", shell))
		}
		files = append(files, file{path: "completions/herbarium." + shell, mode: 0o644, content: script.Bytes()})
	}
	return files
}

// writeArchive writes the archive of a platform: zip for Windows, tar.gz for others. All files are in one folder.
func (r *release) writeArchive(b binary, documents []file) {
	files := append([]file{{path: b.program(), mode: 0o755, content: r.read(b.path)}}, documents...)
	suffix := "_" + b.OS + "_" + b.Arch
	for i := range files {
		files[i].path = path.Join(r.name()+suffix, files[i].path)
	}
	if b.OS == "windows" {
		r.write(suffix+".zip", r.zip(files))
	} else {
		r.write(suffix+".tar.gz", r.gzip(r.tar(files)))
	}
}

// tar returns a tar archive of files.
func (r *release) tar(files []file) []byte {
	var archive bytes.Buffer
	t := tar.NewWriter(&archive)
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.path, Mode: int64(f.mode), Size: int64(len(f.content)), Uid: f.owner, Gid: f.owner,
			ModTime: r.Date, Format: tar.FormatUSTAR,
		}
		if strings.HasSuffix(f.path, "/") {
			h.Typeflag = tar.TypeDir
		}
		r.fail(t.WriteHeader(h))
		_, err := t.Write(f.content)
		r.fail(err)
	}
	r.fail(t.Close())
	return archive.Bytes()
}

// gzip returns content compressed.
func (r *release) gzip(content []byte) []byte {
	var compressed bytes.Buffer
	z, err := gzip.NewWriterLevel(&compressed, r.Compression)
	if r.fail(err); r.err != nil {
		return nil
	}
	_, err = z.Write(content)
	r.fail(errors.Join(err, z.Close()))
	return compressed.Bytes()
}

// zip returns a zip archive of files.
func (r *release) zip(files []file) []byte {
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: r.Date}
		h.SetMode(f.mode)
		member, err := z.CreateHeader(h)
		if err == nil {
			_, err = member.Write(f.content)
		}
		r.fail(err)
	}
	r.fail(z.Close())
	return archive.Bytes()
}
