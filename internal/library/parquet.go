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
	"sync"
	"sync/atomic"
	"time"

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

// parquetWait is how long a request waits for a Parquet file that is being built.
const parquetWait = 20 * time.Second

// parquetBuilds are the Parquet files that are being built or fetched.
type parquetBuilds struct {
	slot    chan struct{} // of a build: it uses a processor and the disk
	mu      sync.Mutex
	running map[string]*parquetBuild // by name
}

func newParquetBuilds() *parquetBuilds {
	return &parquetBuilds{slot: make(chan struct{}, 1), running: map[string]*parquetBuild{}}
}

type parquetBuild struct {
	started atomic.Int64 // nanoseconds since 1970; while it waits for the slot, when it began to
	records int          // of the version
	written atomic.Int64
	done    chan struct{}
	err     error // set before done is closed
}

// OpenParquet opens the Parquet file of a version, which the caller closes. If it is not there, it
// is fetched or built in the background, and the request waits for it. The error has
// herb.CodeUnavailable and a time to try again if that takes longer.
func (l *Library) OpenParquet(ctx context.Context, v View, exact bool) (*os.File, error) {
	if v.Reader == nil {
		return nil, herb.Invalidf("%s changes with every write and has no Parquet file; download data.csv", v.Ref)
	}
	path := filepath.Join(l.opts.Dir, ParquetName(v.Version, exact))
	timeout := time.NewTimer(parquetWait)
	defer timeout.Stop()
	for {
		if err := l.checkWithdrawn(v.Ref, v.Version, nil); err != nil {
			return nil, err
		}
		f, err := os.Open(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		b, err := l.joinParquet(v, exact)
		if err != nil {
			return nil, err
		}
		query.Idle(ctx)
		select {
		case <-b.done:
			if b.err != nil {
				_ = l.updateEntries(ctx) // another process may have withdrawn the version and removed the file
				return nil, l.checkWithdrawn(v.Ref, v.Version, b.err)
			}
		case <-timeout.C:
			return nil, b.inProgressError(v.Ref)
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
				return nil, cause
			}
			return nil, b.inProgressError(v.Ref)
		}
	}
}

// inProgressError is the error for a request whose wait has ended.
func (b *parquetBuild) inProgressError(ref herb.Ref) error {
	const least, most = time.Second, 10 * time.Minute
	written, wait := b.written.Load(), 10*time.Second
	if written > 0 {
		wait = time.Duration(float64(time.Since(time.Unix(0, b.started.Load()))) * float64(int64(b.records)-written) / float64(written))
	}
	wait = min(max(wait.Round(time.Second), least), most)
	return &herb.Error{
		Code: herb.CodeUnavailable, RetryAfter: wait,
		Message: fmt.Sprintf("the Parquet file of %s is being built (%d %% done); try again in %s", ref, 100*written/int64(max(b.records, 1)), wait),
	}
}

// joinParquet returns the build of a file, which it starts unless it runs.
func (l *Library) joinParquet(v View, exact bool) (*parquetBuild, error) {
	name, p := ParquetName(v.Version, exact), l.parquet
	l.mu.Lock() // the library is not closed meanwhile
	defer l.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.running[name]; b != nil {
		return b, nil
	}
	if l.cache.ctx.Err() != nil || !v.Reader.Acquire() {
		return nil, herb.Errorf(herb.CodeUnavailable, "cannot build the Parquet file of %s: the server is stopping", v.Ref)
	}
	b := &parquetBuild{records: v.Records, done: make(chan struct{})}
	b.started.Store(time.Now().UnixNano())
	p.running[name] = b
	l.cache.running.Go(func() {
		b.err = l.checkWithdrawn(v.Ref, v.Version, l.makeParquet(l.cache.ctx, v, exact, b))
		if err := v.Reader.Release(); err != nil {
			l.opts.Log.Warn("cannot close a version", "version", v.Version, "err", err)
		}
		if b.err != nil && herb.CodeOf(b.err) != herb.CodeGone {
			l.opts.Log.Error("cannot build Parquet file", "dataset", v.Ref.String(), "version", v.Version, "err", b.err)
		}
		p.mu.Lock()
		delete(p.running, name)
		p.mu.Unlock()
		close(b.done)
	})
	return b, nil
}

// makeParquet fetches the file that another node has built, or builds it and stores it for others.
func (l *Library) makeParquet(ctx context.Context, v View, exact bool, b *parquetBuild) (err error) {
	defer herb.Recover(&err)
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
	return l.storeParquet(ctx, v, exact, b)
}

// BuildParquet builds the Parquet file of a version and stores it for others. The version need not
// be in the catalogue.
func (l *Library) BuildParquet(ctx context.Context, v View) error {
	return l.storeParquet(ctx, v, false, &parquetBuild{records: v.Records})
}

// storeParquet builds a file, once no other one is being built, and stores it for others.
func (l *Library) storeParquet(ctx context.Context, v View, exact bool, b *parquetBuild) error {
	select {
	case l.parquet.slot <- struct{}{}:
		defer func() { <-l.parquet.slot }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	started := time.Now()
	b.started.Store(started.UnixNano())
	name := ParquetName(v.Version, exact)
	path := filepath.Join(l.opts.Dir, name)
	if err := l.buildParquet(ctx, v, exact, path, &b.written); err != nil {
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
func (l *Library) buildParquet(ctx context.Context, v View, exact bool, path string, written *atomic.Int64) (err error) {
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
		if err := addRecords(ctx, w, v, written); err != nil {
			return err
		}
		return errors.Join(w.Close(), buffered.Flush())
	})
}

// addRecords adds all records of a version to a file.
func addRecords(ctx context.Context, w *parquet.Writer, v View, written *atomic.Int64) error {
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
		written.Add(1)
		return w.EndRecord()
	})
}
