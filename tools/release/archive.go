package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// readDocuments returns the files that accompany each binary: license, documents, manual pages and shell completions.
func readDocuments(ctx context.Context, o Options) (files []file, err error) {
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(filepath.Join(o.Repository, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{path: name, mode: 0o644, content: content})
	}
	pages := reference.Man(cli.NewRoot(), o.Version)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		files = append(files, file{path: "man/" + name, mode: 0o644, content: []byte(pages[name])})
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var script bytes.Buffer
		if cli.Run(ctx, []string{"completion", shell}, cli.Terminal{Out: &script, Err: os.Stderr, Env: os.LookupEnv}) != 0 {
			return nil, fmt.Errorf("cannot write completions for %s", shell)
		}
		files = append(files, file{path: "completions/herbarium." + shell, mode: 0o644, content: script.Bytes()})
	}
	return files, nil
}

// writeArchive writes the archive of a platform: zip for Windows, tar.gz for others. All files are in one folder.
func writeArchive(o Options, b binary, documents []file) error {
	content, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	files := append([]file{{path: b.program(), mode: 0o755, content: content}}, documents...)
	folder := o.fileName("_" + b.OS + "_" + b.Arch)
	for i := range files {
		files[i].path = path.Join(folder, files[i].path)
	}
	suffix := ".tar.gz"
	if b.OS == "windows" {
		suffix = ".zip"
	}
	f, err := os.Create(filepath.Join(o.Out, folder+suffix))
	if err != nil {
		return err
	}
	if b.OS == "windows" {
		return errors.Join(writeZip(f, files, o.Date), f.Close())
	}
	compressed, err := gzip.NewWriterLevel(f, o.Compression)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(writeTar(compressed, files, o.Date), compressed.Close(), f.Close())
}

// writeTar writes files as a tar archive.
func writeTar(w io.Writer, files []file, date time.Time) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.path, Mode: int64(f.mode), Size: int64(len(f.content)), Uid: f.owner, Gid: f.owner,
			ModTime: date, Format: tar.FormatUSTAR,
		}
		if strings.HasSuffix(f.path, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.content); err != nil {
			return err
		}
	}
	return t.Close()
}

// writeZip writes files as a zip archive.
func writeZip(w io.Writer, files []file, date time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: date}
		h.SetMode(f.mode)
		member, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := member.Write(f.content); err != nil {
			return err
		}
	}
	return z.Close()
}
