package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"
)

// file is a file of an archive.
type file struct {
	path    string
	mode    fs.FileMode
	content []byte
}

// readDocuments returns the files that accompany each binary: license, documents, manual pages and shell completions.
func readDocuments(ctx context.Context, o Options, work string) ([]file, error) {
	var files []file
	read := func(folder, name, as string) error {
		content, err := os.ReadFile(filepath.Join(folder, name))
		files = append(files, file{as, 0o644, content})
		return err
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if err := read(o.Repository, name, name); err != nil {
			return nil, err
		}
	}
	man, writeMan := filepath.Join(work, "man"), o.Man
	if writeMan == nil {
		writeMan = writeManPages
	}
	if err := writeMan(ctx, o, man); err != nil {
		return nil, err
	}
	pages, err := os.ReadDir(man) // sorted
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		if err := read(man, p.Name(), path.Join("man", p.Name())); err != nil {
			return nil, err
		}
	}
	b, err := o.build(ctx, work, host())
	if err != nil {
		return nil, err
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script, err := exec.CommandContext(ctx, b.path, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("completion %s: %w", shell, err)
		}
		files = append(files, file{"completions/herbarium." + shell, 0o644, script})
	}
	return files, nil
}

// writeArchive writes the archive of a platform: zip for Windows, tar.gz for others. All files are in one folder.
func writeArchive(o Options, b binary, documents []file) error {
	content, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	files := append([]file{{b.program(), 0o755, content}}, documents...)
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
		if err := t.WriteHeader(tarHeader(f, date)); err != nil {
			return err
		}
		if _, err := t.Write(f.content); err != nil {
			return err
		}
	}
	return t.Close()
}

func tarHeader(f file, date time.Time) *tar.Header {
	return &tar.Header{
		Typeflag: tar.TypeReg, Name: f.path, Mode: int64(f.mode), Size: int64(len(f.content)), ModTime: date, Format: tar.FormatUSTAR,
	}
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
