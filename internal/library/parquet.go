package library

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"herbarium/internal/background"
	"herbarium/internal/export/parquet"
	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// The Parquet file of a version is built when it is first requested, and stored beside the segment
// and for all nodes. Like a rebuilt index, it can be deleted at any time, and its name carries what
// its bytes depend on, so that programs of several releases can share a folder or an object store.

// parquetLayout names what the bytes of a Parquet file depend on, beside the records: the types
// follow from the index.
func parquetLayout(exact bool) string {
	layout := fmt.Sprintf("%s-p%d", segment.CurrentIndex(), parquet.Layout)
	if exact {
		layout += "-text"
	}
	return layout
}

// ParquetName returns the name of the Parquet file of a version that this program builds. exact
// means that all values are texts as written.
func ParquetName(version string, exact bool) string {
	return store.ParquetFile(version, parquetLayout(exact))
}

// OpenParquet opens the Parquet file of a version, which the caller closes. If it is not there, it
// is fetched or built in the background, and the request waits for it. The error has
// herb.CodeUnavailable and a time to try again if that takes longer.
func (l *Library) OpenParquet(ctx context.Context, v View, exact bool) (*os.File, error) {
	if v.Reader == nil {
		return nil, herb.Invalidf("%s changes with every write and has no Parquet file; download data.csv", v.Ref)
	}
	name := ParquetName(v.Version, exact)
	path := filepath.Join(l.opts.Dir, name)
	for range 3 { // it may be evicted at once
		if err := l.checkWithdrawn(v.Ref, v.Version, nil); err != nil {
			return nil, err
		}
		f, err := os.Open(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		err = l.pool.Do(ctx, l.opts.Wait, background.Work{
			Name: name, What: "building the Parquet file of " + v.Ref.String(), Total: int64(v.Records), Hold: v.hold,
			Run: func(ctx context.Context, t *background.Task) error {
				err := l.makeParquet(ctx, v, exact, t)
				if err != nil {
					_ = l.updateEntries(ctx) // another process may have withdrawn the version and removed the file
				}
				return l.checkWithdrawn(v.Ref, v.Version, err)
			},
		})
		if err != nil {
			return nil, err
		}
	}
	return nil, herb.Errorf(herb.CodeUnavailable, "the cache has no room for the Parquet file of %s; try again", v.Ref)
}

// hold keeps the version open until release is called.
func (v View) hold() (release func(), err error) {
	if !v.Reader.Acquire() {
		return nil, herb.Errorf(herb.CodeUnavailable, "version %s of %s was closed; try again", v.Version, v.Ref)
	}
	return func() { _ = v.Reader.Release() }, nil // unmapping fails for unmapped files only
}

// makeParquet fetches the file that another node has built, or builds it and stores it for others.
func (l *Library) makeParquet(ctx context.Context, v View, exact bool, t *background.Task) error {
	name := ParquetName(v.Version, exact)
	path := filepath.Join(l.opts.Dir, name)
	if l.shared() {
		size := int64(0)
		err := l.saveFile(path, func(file io.Writer) error {
			return l.opts.Blobs.Get(ctx, name, writerFunc(func(p []byte) (int, error) {
				n, err := file.Write(p)
				size += int64(n)
				return n, err
			}))
		})
		if err == nil {
			l.AddFile(name, size)
			return nil
		}
	}
	return l.storeParquet(ctx, v, exact, t)
}

// BuildParquet builds the Parquet file of a version and stores it for others. The version need not
// be in the catalogue.
func (l *Library) BuildParquet(ctx context.Context, v View) error {
	return l.storeParquet(ctx, v, false, background.NewTask(""))
}

// storeParquet builds a file and stores it for others.
func (l *Library) storeParquet(ctx context.Context, v View, exact bool, t *background.Task) error {
	started := time.Now()
	name := ParquetName(v.Version, exact)
	path := filepath.Join(l.opts.Dir, name)
	if err := l.buildParquet(ctx, v, exact, path, t); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	l.opts.Log.Info("built Parquet file", "dataset", v.Ref.String(), "version", v.Version, "file", name, "bytes", info.Size(), "duration", time.Since(started))
	if !l.shared() {
		return nil
	}
	stored := l.opts.Blobs.Put(ctx, name, path, nil)
	if stored != nil {
		l.opts.Log.Warn("cannot store Parquet file; other nodes build it, too", "object", name, "err", stored)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.add(name, info.Size(), stored == nil)
	return nil
}

// buildParquet writes a file, which gets its name once it is complete.
func (l *Library) buildParquet(ctx context.Context, v View, exact bool, path string, t *background.Task) (err error) {
	lock, err := store.LockVersions(l.opts.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	scratch, err := filesystem.TempFile(l.opts.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	return filesystem.WriteFile(l.opts.FS, path+"."+rand.Text()+segment.PartSuffix, path, 0o600, func(file io.Writer) error {
		types, err := v.Types()
		if err != nil {
			return err
		}
		sorted, err := v.Reader.SortedField(types)
		if err != nil {
			return err
		}
		buffered := bufio.NewWriterSize(file, 1<<20)
		w, err := parquet.NewWriter(buffered, parquet.Options{
			Fields: v.Fields, Types: types, Exact: exact, Sorted: sorted, Scratch: scratch,
			Metadata: [][2]string{{"herbarium.dataset", v.Ref.String()}, {"herbarium.version", v.Version}},
		})
		if err != nil {
			return err
		}
		if err := addRecords(ctx, w, v, t); err != nil {
			return err
		}
		query.Idle(ctx)
		return errors.Join(w.Close(), buffered.Flush())
	})
}

// addRecords adds all records of a version to a file.
func addRecords(ctx context.Context, w *parquet.Writer, v View, t *background.Task) error {
	const reportEvery = 1024
	written := int64(0)
	decoder := herb.NewRecordDecoder(v.Fields)
	return v.Reader.Each(ctx, func(record []byte) error {
		field, failed := 0, error(nil)
		err := decoder.Decode(record, func(value []byte) {
			if failed == nil {
				failed = w.Add(field, value)
			}
			field++
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		written++
		if written%reportEvery == 0 {
			t.SetDone(written)
		}
		return w.EndRecord()
	})
}
