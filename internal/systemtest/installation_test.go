//go:build linux

package systemtest

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/minio/minio-go/v7"
	_ "modernc.org/sqlite"

	"herbarium/internal/blobs/s3test"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/store"
	"herbarium/internal/store/pgtest"
)

// services are a PostgreSQL server and an S3 server that several installations share.
type services struct {
	db *pgtest.Cluster
	s3 *s3test.Server
}

// newServices starts both servers until the test ends.
func newServices(t *testing.T) *services {
	t.Helper()
	s := &services{db: &pgtest.Cluster{}, s3: s3test.New(t)}
	t.Cleanup(func() {
		if err := s.db.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// installation is the data of servers: a folder with an SQLite database, or a PostgreSQL database
// and an object store.
type installation struct {
	program  string   // which runs commands and servers; empty means today's
	settings []string // where the data is

	folder          string // of the data, or of the cache of a node
	database, blobs string // URLs; empty if the folder has everything
	bucket          string
	services        *services
}

// newFolder returns an installation in an empty folder.
func newFolder(t *testing.T) *installation {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "data")
	return &installation{folder: folder, settings: []string{"HERBARIUM_DATA=" + folder}}
}

// newShared returns an installation in an empty database and an empty bucket.
func (s *services) newShared(t *testing.T) *installation {
	t.Helper()
	i := newFolder(t)
	i.services, i.database = s, s.db.Database(t)
	parsed, err := url.Parse(i.database)
	must.NoError(t, err)
	i.bucket = "herbarium-" + strings.Trim(parsed.Path, "/") // names of databases are unique
	i.blobs = s.s3.URL(t, i.bucket)
	i.settings = append(append(i.settings, s3test.Environ()...), "HERBARIUM_DATABASE="+i.database,
		"HERBARIUM_BLOBS="+i.blobs)
	return i
}

// with returns the same installation for another program.
func (i *installation) with(program string) *installation {
	other := *i
	other.program = program
	return &other
}

// newNode returns the same installation for another node, with a cache of its own.
func (i *installation) newNode(t *testing.T) *installation {
	t.Helper()
	other := *i
	other.folder = filepath.Join(t.TempDir(), "data")
	other.settings = append(slices.Clone(i.settings), "HERBARIUM_DATA="+other.folder)
	return &other
}

// start starts a server, and waits until it is ready.
func (i *installation) start(t *testing.T, args ...string) *node {
	t.Helper()
	n := start(t, config{program: i.program, data: i.folder, args: args, settings: i.settings})
	eventually(t, "the server is ready", func(ctx context.Context) error {
		_, err := get(ctx, n.URL+"/readyz")
		return err
	})
	return n
}

// try runs a command and returns its output and exit code.
func (i *installation) try(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	out, code, err := programtest.Run(t.Context(), cmp.Or(i.program, program), i.settings, args...)
	must.NoError(t, err)
	return out, code
}

// run is try for a command that must succeed.
func (i *installation) run(t *testing.T, args ...string) string {
	t.Helper()
	out, code := i.try(t, args...)
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// list is run for a command that lists something. Sources that could not be published are an error
// of such a command, which is left out.
func (i *installation) list(t *testing.T, args ...string) string {
	t.Helper()
	const failedSources = 4
	out, code := i.try(t, args...)
	if code != 0 && code != failedSources {
		t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	out, _, _ = strings.Cut(out, "herbarium: ")
	return out
}

// files returns the stored files of an installation by their names: objects, or files of the
// folder.
func (i *installation) files(t *testing.T) map[string][]byte {
	t.Helper()
	if i.blobs == "" {
		return readFolder(t, i.folder)
	}
	found := map[string][]byte{}
	c := i.services.s3.Client(t)
	for o := range c.Client.ListObjects(t.Context(), i.bucket, minio.ListObjectsOptions{Recursive: true}) {
		must.NoError(t, o.Err)
		r, err := c.Client.GetObject(t.Context(), i.bucket, o.Key, minio.GetObjectOptions{})
		must.NoError(t, err)
		content, err := io.ReadAll(r)
		must.NoError(t, errors.Join(err, r.Close()))
		found[o.Key] = content
	}
	return found
}

// segments returns the segments of an installation by their names.
func (i *installation) segments(t *testing.T) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for name, content := range i.files(t) {
		f, ok := store.ParseVersionFile(filepath.Base(name))
		isSegment := ok && (f.Kind == store.SegmentKind || f.Kind == store.RebuiltKind)
		if isSegment && !strings.HasPrefix(name, store.PlantsDir+"/") {
			found[filepath.Base(name)] = content
		}
	}
	return found
}

// readFolder returns the files of a folder by their names.
func readFolder(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	must.NoError(t, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	}))
	return found
}

// exec runs statements in the database of an installation that no server uses.
func (i *installation) exec(t *testing.T, statements string) {
	t.Helper()
	if i.database == "" {
		db, err := sql.Open("sqlite", filepath.Join(i.folder, store.DatabaseFile))
		must.NoError(t, err)
		_, err = db.ExecContext(t.Context(), statements)
		must.NoError(t, errors.Join(err, db.Close()))
		return
	}
	conn, err := pgx.Connect(t.Context(), i.database)
	must.NoError(t, err)
	_, err = conn.PgConn().Exec(t.Context(), statements).ReadAll()
	must.NoError(t, errors.Join(err, conn.Close(t.Context())))
}

// fill stores recorded files and the dump of a database in an empty installation.
func (i *installation) fill(t *testing.T, files map[string][]byte, dump string) {
	t.Helper()
	if i.database == "" {
		for name, content := range files {
			write(t, string(content), i.folder, filepath.FromSlash(name))
		}
		return
	}
	i.exec(t, dump)
	for name, content := range files {
		_, err := i.services.s3.Client(t).Client.PutObject(t.Context(), i.bucket, name, bytes.NewReader(content),
			int64(len(content)), minio.PutObjectOptions{})
		must.NoError(t, err)
	}
}
