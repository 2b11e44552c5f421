package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
	"herbarium/internal/store/sqlite"
)

// noon is the time of the local clock.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// newDoctor returns a doctor of a machine without problems and a function that returns its findings
// as "status detail".
func newDoctor(change func(*doctor)) (*doctor, func() []string) {
	var found []string
	d := &doctor{
		Config: app.DefaultConfig(), program: "v1",
		host: host{
			now:       func() time.Time { return noon },
			diskSpace: func(string) (free, total uint64, ok bool) { return 10 << 30, 20 << 30, true },
			openFiles: func() int { return 1 << 20 },
			memMaps:   func() int { return 65530 },
		},
		report: func(r Result) {
			text := string(r.Status) + " " + r.Detail
			if (r.Remedy == "") != (r.Status == OK) {
				text += "; wrong remedy " + r.Remedy
			}
			found = append(found, text)
		},
	}
	if change != nil {
		change(d)
	}
	return d, func() []string { return found }
}

// testCase is a check of a machine and its findings. A finding that ends in … is a prefix.
type testCase struct {
	change func(*doctor)
	want   []string
}

func runCases(t *testing.T, check func(*doctor), cases map[string]testCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, found := newDoctor(c.change)
			check(d)
			got := found()
			for i, want := range c.want {
				if beginning, ok := strings.CutSuffix(want, "…"); ok && i < len(got) &&
					strings.HasPrefix(got[i], beginning) {
					got[i] = want
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckSettings(t *testing.T) {
	t.Parallel()
	settings := func(change func(*app.Config)) func(*doctor) { return func(d *doctor) { change(&d.Config) } }
	runCases(t, func(d *doctor) { d.checkSettings(t.Context()) }, map[string]testCase{
		"defaults": {nil, []string{"ok 29 settings, none of them unsafe"}},
		"public admin address": {settings(func(c *app.Config) { c.AdminAddr = ":9090" }),
			[]string{"warn admin_addr :9090 serves …"}},
		"local admin address": {settings(func(c *app.Config) { c.AdminAddr = "[::1]:9090" }),
			[]string{"ok 29 settings, none of them unsafe"}},
		"password in the environment": {settings(func(c *app.Config) { c.Database = "postgres://a:secret@db/x" }),
			[]string{"ok 29 settings, none of them unsafe"}},
		"password on the command line": {func(d *doctor) {
			d.Config.Database, d.Config.Origins["database"] = "postgres://a:secret@db/x", "--database"
		}, []string{"warn the password of the database is on the command line, where all users of the machine can " +
			"read it"}},
		"one version": {settings(func(c *app.Config) { c.Keep = 1 }), []string{"warn keep is 1: …"}},
		"http": {settings(func(c *app.Config) { c.PublicURL = "http://example.org" }),
			[]string{"warn public_url http://example.org …"}},
		"store without": {settings(func(c *app.Config) { c.Blobs = "s3://b?endpoint=http://minio:9000" }),
			[]string{"warn the connection to the object store …"}},
		"local store": {settings(func(c *app.Config) { c.Blobs = "s3://b?endpoint=http://127.0.0.1:9000" }),
			[]string{"ok 29 settings, none of them unsafe"}},
		"https off": {settings(func(c *app.Config) { c.Blobs = "s3://b?disable_https=true" }),
			[]string{"warn the connection to the object store …"}},
	})
}

func TestCheckFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := func(name string, mode os.FileMode, files ...string) string {
		path := filepath.Join(dir, name)
		must.NoError(t, os.Mkdir(path, 0o700))
		for _, f := range files {
			must.NoError(t, os.WriteFile(filepath.Join(path, f), nil, 0o600))
		}
		must.NoError(t, os.Chmod(path, mode))
		return path
	}
	in := func(path string) func(*doctor) { return func(d *doctor) { d.Config.Data = path } }
	file := filepath.Join(dir, "file")
	must.NoError(t, os.WriteFile(file, nil, 0o600))
	good, open, other := folder("good", 0o700, store.DatabaseFile), folder("open", 0o750, store.DatabaseFile),
		folder("other", 0o700)
	unreadable := folder("unreadable", 0o700)
	must.NoError(t, os.Symlink(store.DatabaseFile, filepath.Join(unreadable, store.DatabaseFile))) // a link to itself
	runCases(t, func(d *doctor) { d.checkFolder(t.Context()) }, map[string]testCase{
		"good": {in(good), []string{"ok " + good + " exists, is private and can be written"}},
		"open": {in(open),
			[]string{"warn " + open + " has mode 0750: other users of the machine can access it"}},
		"other": {in(other), []string{"fail " + other + " is not a data folder"}},
		"unreadable": {in(unreadable),
			[]string{"fail cannot access it: stat " + unreadable + "/herbarium.db: too many levels of symbolic links"}},
		"a file":       {in(file), []string{"fail " + file + " is not a folder"}},
		"missing":      {in(dir + "/no"), []string{"fail " + dir + "/no does not exist"}},
		"below a file": {in(file + "/x"), []string{"fail stat " + file + "/x: not a directory"}},
		"missing cache": {func(d *doctor) { d.Config.Data, d.Config.Database = dir+"/no", "postgres://db/x" },
			[]string{"warn " + dir + "/no does not exist; it is the cache of a node, which creates it"}},
	})
}

func TestCheckSpace(t *testing.T) {
	t.Parallel()
	free := func(n uint64, known bool) func(*doctor) {
		return func(d *doctor) {
			d.diskSpace = func(string) (uint64, uint64, bool) { return n, 20 << 30, known }
		}
	}
	runCases(t, func(d *doctor) { d.checkSpace(t.Context()) }, map[string]testCase{
		"enough": {nil, []string{"ok 10 GiB of 20 GiB free"}},
		"low": {free(812<<20, true),
			[]string{"warn 812 MiB of 20 GiB free; a publish needs several times the size of its file"}},
		"none":    {free(63<<20, true), []string{"fail 63 MiB of 20 GiB free; writes will fail"}},
		"unknown": {free(0, false), []string{"warn the free space is unknown"}},
	})
}

func TestCheckPostgres(t *testing.T) {
	t.Parallel()
	good := postgres.Inspection{Version: 5, Latest: 5, Server: "15.1", Accuracy: 10 * time.Millisecond}
	const fine = "ok PostgreSQL 15.1, schema version 5"
	for name, c := range map[string]struct {
		change func(*postgres.Inspection)
		usable bool
		want   []string
	}{
		"good": {func(*postgres.Inspection) {}, true, []string{fine}},
		"empty": {func(i *postgres.Inspection) { i.Version = 0 }, false,
			[]string{"warn the database is empty"}},
		"standby": {func(i *postgres.Inspection) { i.ReadOnly = true }, false,
			[]string{"fail the server is read-only or a standby"}},
		"old schema": {func(i *postgres.Inspection) { i.Version = 4 }, false,
			[]string{"warn PostgreSQL 15.1 with schema version 4; this program uses 5"}},
		"exact clock": {func(i *postgres.Inspection) { i.ClockOffset = -time.Second }, true, []string{fine}},
		"clock behind": {func(i *postgres.Inspection) { i.ClockOffset = -90 * time.Second }, true,
			[]string{fine, "warn its clock differs from the local one by 1m30s"}},
		"clock ahead": {func(i *postgres.Inspection) { i.ClockOffset = 2 * time.Second }, true,
			[]string{fine, "warn its clock differs from the local one by 2s"}},
		"not encrypted": {func(i *postgres.Inspection) { i.Exposed = true }, true,
			[]string{fine, "warn the connection is not encrypted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := good
			c.change(&i)
			d, found := newDoctor(nil)
			if usable := d.checkPostgres(i); usable != c.usable {
				t.Errorf("usable: %t", usable)
			}
			if diff := cmp.Diff(c.want, found()); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckDatabase checks databases that cannot be used; TestDoctor of the command checks others.
func TestCheckDatabase(t *testing.T) {
	t.Parallel()
	address := func(a herb.Address) func(*doctor) { return func(d *doctor) { d.Config.Database = a } }
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, store.DatabaseFile),
		[]byte(strings.Repeat("not a database ", 100)), 0o600))
	runCases(t, func(d *doctor) {
		d.checkDatabase(t.Context())
		d.checkCatalogue(t.Context())
		d.checkFiles(t.Context())
	}, map[string]testCase{
		"no server": {address("postgres://127.0.0.1:1/x?connect_timeout=5"),
			[]string{"fail the database cannot be used now: …",
				"warn not checked, because the database cannot be used"}},
		"no certificate": {address("postgres://127.0.0.1:1/x?sslmode=verify-full&sslrootcert=/no/such/file"),
			[]string{"fail invalid database address: …", "warn not checked, because the database cannot be used"}},
		"missing": {func(d *doctor) { d.Config.Data = filepath.Join(dir, "no") },
			[]string{"fail " + filepath.Join(dir, "no", store.DatabaseFile) + " does not exist",
				"warn not checked, because the database cannot be used"}},
		"another file": {func(d *doctor) { d.Config.Data = dir },
			[]string{"fail opening the database …", "warn not checked, because the database cannot be used"}},
	})
}

// TestCheckFiles checks live versions without a file, in a data folder and in the cache of a node.
func TestCheckFiles(t *testing.T) {
	t.Parallel()
	dir, blobs := t.TempDir(), t.TempDir()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, store.DatabaseFile), sqlite.Options{})
	must.NoError(t, err)
	for _, name := range []string{"a", "b", "c", "d"} {
		v := herb.Dataset{Ref: herb.Ref{Namespace: "x", Name: name}, Version: name + "1", Access: herb.AccessOpen,
			Published: noon}
		_, err := s.AddVersion(t.Context(), v, "", herb.Keep{Versions: 1}, noon)
		must.NoError(t, err)
	}
	must.NoError(t, s.Close())
	must.NoError(t, os.WriteFile(filepath.Join(blobs, "a1.segment"), nil, 0o600))
	check := func(d *doctor) {
		d.Config.Data = dir
		d.checkDatabase(t.Context())
		d.checkCatalogue(t.Context())
		d.checkFiles(t.Context())
		d.checkObjectStore(t.Context())
	}
	database := []string{"ok SQLite, intact, …", "ok 4 published datasets"}
	runCases(t, check, map[string]testCase{
		"data folder": {nil, append(database, "fail 4 of 4 live versions cannot be opened: x/a: …",
			"ok not used; published files are in the data folder")},
		"node": {func(d *doctor) { d.Config.Blobs = herb.Address("file://" + filepath.ToSlash(blobs)) },
			append(database,
				"ok 0 live versions can be opened, 4 are not in the cache; …",
				"ok wrote, read, listed and deleted a probe",
				"fail 3 live versions without an object, such as that of x/b, x/c, x/d")},
		"no object store": {func(d *doctor) { d.Config.Blobs = "file:///no/such/folder" }, append(database,
			"ok 0 live versions can be opened, …",
			"fail the folder of the object store file:///no/such/folder does not exist; …")},
	})
}

func TestCheckAddress(t *testing.T) {
	t.Parallel()
	answering := func(body string) string {
		s := httptest.NewServer(
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	ready, starting, other := answering(`{"status":"ready","parts":{"datasets":"ok"}}`),
		answering(`{"error":503,"message":"not ready: the server is starting"}`), answering("hello")
	failing := answering(`{"status":"degraded","parts":{"datasets":"1 of 15 cannot be read","sources":"1 source could not be published","database":"ok"}}`)
	sources := answering(`{"status":"degraded","parts":{"datasets":"ok","sources":"1 source could not be published"}}`)
	at := func(addr, admin string) func(*doctor) {
		return func(d *doctor) { d.Config.Addr, d.Config.AdminAddr = addr, admin }
	}
	runCases(t, func(d *doctor) {
		d.checkAddress(t.Context())
		d.checkAdminAddress(t.Context())
	}, map[string]testCase{
		"free": {at("127.0.0.1:0", ""), []string{"ok 127.0.0.1:0 is free; no server is running there",
			"ok not used"}},
		"ready": {at(ready, other), []string{"ok a server is running on " + ready + " and is ready",
			"ok " + other + " is in use while the server is running"}},
		"starting": {at(starting, "127.0.0.1:0"),
			[]string{"warn a server is running on " + starting + ": not ready: the server is starting",
				"ok 127.0.0.1:0 is free"}},
		"failing": {at(failing, ""), []string{"fail a server is running on " + failing +
			" and is degraded: datasets: 1 of 15 cannot be read; sources: 1 source could not be published",
			"ok not used"}},
		"failed source": {at(sources, ""),
			[]string{"warn a server is running on " + sources +
				" and is degraded: sources: 1 source could not be published", "ok not used"}},
		"other": {at(other, other), []string{"fail " + other + " is in use by another program",
			"fail " + other + " is in use by another program"}},
		"elsewhere": {at("192.0.2.1:80", "192.0.2.1:81"),
			[]string{"fail cannot listen on 192.0.2.1:80: …", "fail cannot listen on 192.0.2.1:81: …"}},
	})
}

// TestRemedy looks for the cause of errors of files.
func TestRemedy(t *testing.T) {
	t.Parallel()
	loop := filepath.Join(t.TempDir(), "loop")
	must.NoError(t, os.Symlink(loop, loop))
	readable := filepath.Join(t.TempDir(), "readable")
	must.NoError(t, os.WriteFile(readable, nil, 0o600))
	for name, tt := range map[string]struct {
		err   error
		files []string
		free  uint64
		want  string
	}{
		"content":      {segment.ErrCorrupt, []string{readable, readable + "-wal"}, 1 << 40, "restore"},
		"another file": {segment.ErrCorrupt, []string{loop}, 1 << 40, "restore"},
		"permission": {fmt.Errorf("open: %w", syscall.EACCES), nil, 1 << 40,
			"run the command as the user of the server, or fix owner and permissions of the file"},
		"full": {fmt.Errorf("write: %w", syscall.ENOSPC), nil, 1 << 40,
			"free space, or move the data folder to a larger disk"},
		"full, of SQLite": {errors.New("disk full"), []string{readable}, 0,
			"free space, or move the data folder to a larger disk"},
		"read-only":   {syscall.EROFS, nil, 0, "mount the disk writable"},
		"descriptors": {syscall.EMFILE, nil, 1 << 40, "raise the limit of open files"},
	} {
		d, _ := newDoctor(func(d *doctor) {
			d.diskSpace = func(string) (uint64, uint64, bool) { return tt.free, 1 << 41, true }
		})
		if got := d.remedy(tt.err, "restore", tt.files...); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestCheckClock(t *testing.T) {
	t.Parallel()
	published := func(ago time.Duration) func(*doctor) {
		return func(d *doctor) {
			d.live = []herb.LiveVersion{{Published: noon.Add(-time.Hour)}, {Published: noon.Add(-ago)},
				{Published: noon.Add(-2 * time.Hour)}}
		}
	}
	runCases(t, func(d *doctor) { d.checkClock(t.Context()) }, map[string]testCase{
		"no versions": {nil, []string{"ok 2026-03-14T12:00:00Z"}},
		"past":        {published(time.Minute), []string{"ok 2026-03-14T12:00:00Z"}},
		"tolerated":   {published(-time.Second), []string{"ok 2026-03-14T12:00:00Z"}},
		"future": {published(-time.Minute),
			[]string{"warn 2026-03-14T12:00:00Z; the newest version was published 1m0s later"}},
	})
}

func TestCheckLimits(t *testing.T) {
	t.Parallel()
	runCases(t, func(d *doctor) {
		d.checkOpenFiles(t.Context())
		d.checkMaps(t.Context())
	}, map[string]testCase{
		"enough": {nil, []string{"ok the limit is 1048576", "ok vm.max_map_count is 65,530"}},
		"few": {func(d *doctor) {
			d.openFiles, d.live = func() int { return 1024 }, make([]herb.LiveVersion, 40_000)
		}, []string{"warn the limit is 1024", "warn vm.max_map_count is 65,530 for 40,000 datasets"}},
		"unknown": {func(d *doctor) {
			d.openFiles, d.memMaps = func() int { return 0 }, func() int { return 0 }
		}, []string{"ok the limit is unknown on …", "ok the limit is unknown on …"}},
	})
}

// TestRun_canceled checks that no check begins after the command was interrupted.
func TestRun_canceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	found := 0
	Run(ctx, app.DefaultConfig(), "", func(Result) {
		found++
		cancel()
	})
	if found != 1 {
		t.Errorf("%d findings", found)
	}
}

func TestCheckFreshness(t *testing.T) {
	t.Parallel()
	version := func(name string, expected herb.Frequency, age time.Duration) herb.LiveVersion {
		return herb.LiveVersion{Ref: herb.Ref{Namespace: "x", Name: name}, Expected: expected,
			Published: noon.Add(-age)}
	}
	check := func(d *doctor) { d.known = true; d.checkFreshness(t.Context()) }
	const hour = time.Hour
	runCases(t, check, map[string]testCase{
		"none": {func(d *doctor) {
			d.live = []herb.LiveVersion{version("a", "", 1000*hour), version("b", "1h", 2*hour-1)}
		}, []string{"ok 1 of 2 datasets declare how often they change, and none is overdue"}},
		"overdue": {func(d *doctor) {
			d.live = []herb.LiveVersion{version("a", "1h", 2*hour), version("b", "never", 1000*hour),
				version("c", "daily", hour)}
		}, []string{"warn 1 dataset is overdue: x/a since …"}},
	})
}
