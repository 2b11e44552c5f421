package memory

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"path/filepath"

	"herbarium/internal/herb"
)

// A version's file has one JSON text a line: a header, then each record as an array of strings, then a trailer with the
// checksum of every byte before it.
const (
	fileFormat  = "herbarium-records"
	fileVersion = 1
)

type header struct {
	Format  string       `json:"format"`
	Version int          `json:"version"`
	Fields  []herb.Field `json:"fields"`
}

type trailer struct {
	Records int    `json:"records"`
	CRC32C  uint32 `json:"crc32c"`
}

// ErrCorrupt says that a file is not what was written.
var ErrCorrupt = errors.New("the file is damaged or cut off")

// Create writes records to a new file that appears under its name only when it is complete and synced. It returns the
// number of records.
func Create(path string, fields []herb.Field, records iter.Seq2[herb.Record, error]) (n int, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".*"+filepath.Ext(path)+".part")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if n, err = write(f, fields, records); err != nil {
		return 0, err
	}
	if err = f.Sync(); err != nil {
		return 0, err
	}
	if err = f.Close(); err != nil {
		return 0, errors.Join(err, os.Remove(f.Name()))
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return 0, err
	}
	return n, syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func write(w io.Writer, fields []herb.Field, records iter.Seq2[herb.Record, error]) (int, error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	buf := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(io.MultiWriter(buf, sum))
	enc.SetEscapeHTML(false)
	if err := enc.Encode(header{fileFormat, fileVersion, fields}); err != nil {
		return 0, err
	}
	n := 0
	for r, err := range records {
		if err != nil {
			return 0, err
		}
		if err := enc.Encode(r); err != nil {
			return 0, err
		}
		n++
	}
	if err := json.NewEncoder(buf).Encode(trailer{n, sum.Sum32()}); err != nil {
		return 0, err
	}
	return n, buf.Flush()
}

// Open reads a version from its file.
func Open(path string) (*Version, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fields, records, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return New(fields, records), nil
}

func read(r io.Reader) ([]herb.Field, []herb.Record, error) {
	lines := bufio.NewReaderSize(r, 1<<16)
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return nil, nil, ErrCorrupt
	}
	sum.Write(line)
	var h header
	if json.Unmarshal(line, &h) != nil || h.Format != fileFormat {
		return nil, nil, ErrCorrupt
	}
	if h.Version != fileVersion {
		return nil, nil, fmt.Errorf("the file has format %d and this program reads %d", h.Version, fileVersion)
	}
	var records []herb.Record
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil, nil, ErrCorrupt
		}
		if line[0] == '{' {
			var t trailer
			if json.Unmarshal(line, &t) != nil || t.CRC32C != sum.Sum32() || t.Records != len(records) {
				return nil, nil, ErrCorrupt
			}
			return h.Fields, records, nil
		}
		sum.Write(line)
		var rec herb.Record
		if json.Unmarshal(line, &rec) != nil || len(rec) != len(h.Fields) {
			return nil, nil, ErrCorrupt
		}
		records = append(records, rec)
	}
}
