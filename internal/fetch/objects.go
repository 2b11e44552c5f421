package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"herbarium/internal/blobs"
	"herbarium/internal/herb"
	"herbarium/internal/publish/receive"
)

// maxParts is the maximum number of objects that become one table.
const maxParts = 10_000

// fetchObject fetches an object: s3://bucket/key, the newest one below s3://bucket/folder/, or the
// parts of one table that match a * in the name.
func (c *Client) fetchObject(ctx context.Context, s herb.FetchSource, known validators) (f *receive.File, is validators,
	err error) {
	bucketName, key, _ := strings.Cut(strings.TrimPrefix(s.Address, "s3://"), "/")
	folder, name := path.Split(key)
	address, err := c.opts.Hosts.bucket(bucketName, strings.Trim(folder, "/"))
	if err != nil {
		return nil, is, err
	}
	bucket, err := blobs.Open(address, blobs.Options{Stall: c.opts.Stall})
	if err != nil {
		return nil, is, err
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	objects, err := findObjects(ctx, bucket, name)
	if err != nil {
		return nil, is, err
	}
	isRecent := false // it may be replaced within the second of its time
	for _, o := range objects {
		isRecent = isRecent || time.Since(o.Modified) < time.Minute
		is.ETag += fmt.Sprintf("%s %d %d\n", o.Name, o.Size, o.Modified.UnixNano())
	}
	if isRecent {
		is.ETag = ""
	} else if len(is.ETag) > maxMessage {
		sum := sha256.Sum256([]byte(is.ETag))
		is.ETag = hex.EncodeToString(sum[:])
	}
	if is.ETag != "" && is.ETag == known.ETag {
		return nil, known, errUnchanged
	}
	size := objects[0].Size
	if len(objects) > 1 {
		size = -1
		if !joins(objects[0].Name) {
			return nil, is, herb.Invalidf("only parts in .csv, .tsv, .ndjson and .jsonl can become one table; %s is none",
				herb.Clip(objects[0].Name, 200))
		}
	}
	content, to := io.Pipe()
	go func() { to.CloseWithError(writeObjects(ctx, bucket, objects, to)) }()
	f, err = c.opts.Files.Receive(ctx, content, objects[0].Name, size)
	content.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // ends the goroutine
	return f, is, err
}

// findObjects returns the objects that a name selects, at least one.
func findObjects(ctx context.Context, bucket *blobs.Bucket, name string) (found []herb.Blob, err error) {
	prefix, _, isPattern := strings.Cut(name, "*")
	for o, err := range bucket.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		matches := name == "" || o.Name == name
		if isPattern {
			matches, err = path.Match(name, o.Name)
			if err != nil {
				return nil, herb.Invalidf("the name of the objects is malformed")
			}
		}
		switch {
		case !matches || o.Size == 0 && name == "":
		case name == "" && len(found) == 1:
			if o.Modified.After(found[0].Modified) {
				found[0] = o
			}
		case len(found) == maxParts:
			return nil, herb.Invalidf("more than %s objects match", herb.Count(maxParts))
		default:
			found = append(found, o)
		}
	}
	if len(found) == 0 {
		return nil, herb.Errorf(herb.CodeUnavailable, "the bucket has no such object")
	}
	return found, nil
}

// joins reports whether files of a name can be joined.
func joins(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".csv", ".tsv", ".ndjson", ".jsonl":
		return true
	}
	return false
}

// writeObjects writes the content of objects one after the other. Later ones are written without
// their first line if it is the header of the first one.
func writeObjects(ctx context.Context, bucket *blobs.Bucket, objects []herb.Blob, to io.Writer) error {
	if len(objects) == 1 {
		return bucket.Get(ctx, objects[0].Name, to)
	}
	extension := strings.ToLower(path.Ext(objects[0].Name))
	j := &joiner{to: to, hasHeader: extension == ".csv" || extension == ".tsv"}
	for _, o := range objects {
		if err := errors.Join(bucket.Get(ctx, o.Name, j), j.end()); err != nil {
			return err
		}
	}
	return nil
}

// joiner joins files of lines.
type joiner struct {
	to        io.Writer
	hasHeader bool
	header    []byte // the first line of the first file
	line      []byte // the first line of the current file, as far as it was read
	passed    bool   // the first line was written or left out
	last      byte   // that was written
}

// maxHeader is the maximum length of a first line in bytes.
const maxHeader = 1 << 20

// Write implements io.Writer.
func (j *joiner) Write(p []byte) (n int, err error) {
	n = len(p)
	if !j.passed {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			j.line = append(j.line, p...)
			if len(j.line) > maxHeader {
				return 0, herb.Invalidf("the first line of a part has more than %s", herb.FormatBytes(maxHeader))
			}
			return n, nil
		}
		j.line = append(j.line, p[:i+1]...)
		p = p[i+1:]
		if err := j.pass(); err != nil {
			return 0, err
		}
	}
	return n, j.write(p)
}

// pass writes the first line, unless it is the header again.
func (j *joiner) pass() error {
	line := bytes.TrimRight(j.line, "\r\n")
	j.passed = true
	if j.header == nil {
		j.header = bytes.Clone(line)
	} else if j.hasHeader && bytes.Equal(line, j.header) {
		return nil
	}
	return j.write(j.line)
}

func (j *joiner) write(p []byte) error {
	if len(p) > 0 {
		j.last = p[len(p)-1]
	}
	_, err := j.to.Write(p)
	return err
}

// end ends a file, and its last line.
func (j *joiner) end() error {
	var err error
	if !j.passed && len(j.line) > 0 {
		err = j.pass()
	}
	if err == nil && j.last != '\n' && j.last != 0 {
		err = j.write([]byte{'\n'})
	}
	j.line, j.passed = j.line[:0], false
	return err
}
