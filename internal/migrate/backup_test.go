package migrate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/progress"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// backedUp returns an archive of a place.
func backedUp(t *testing.T, from Place) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := Backup(t.Context(), from, StandardStream, &b, "test", Options{})
	must.NoError(t, err)
	return b.Bytes()
}

// restore restores an archive from standard input.
func restore(ctx context.Context, archive []byte, to Place, o Options) (Result, error) {
	return Restore(ctx, StandardStream, bytes.NewReader(archive), to, o)
}

func (p Place) auditEntries(t *testing.T) (entries []herb.AuditEntry) {
	t.Helper()
	p.use(t, func(d *app.Data) {
		var err error
		entries, err = d.Store.AuditEntries(t.Context(), herb.AuditQuery{})
		must.NoError(t, err)
	})
	return entries
}

// TestBackup backs up folders and clusters, to files and folders, and restores them in each other.
func TestBackup(t *testing.T) {
	t.Parallel()
	g, cluster := newGarden(t, 2_100), newCluster(t)
	file, folder := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "new", "backup")
	made, err := Backup(t.Context(), g.Place, file, nil, "test", Options{Progress: filesReported(t)})
	must.NoError(t, err)
	want := Result{
		Plants: g.plants, IdempotencyKeys: len(g.retried), Keys: 3, AuditEntries: made.AuditEntries, Datasets: 2,
		Versions: 4, Sources: 1, Bytes: made.Bytes,
	}
	if diff := cmp.Diff(want, made); diff != "" || made.AuditEntries < 9 {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	r, err := Restore(t.Context(), file, nil, cluster, Options{})
	must.NoError(t, err)
	if r.NewFiles != 5 {
		t.Errorf("restored %+v; want 5 new files", r)
	}
	for _, files := range []int{5, 0} { // the second run updates the folder
		r, err := Backup(t.Context(), cluster, folder+"/", nil, "test", Options{Progress: filesReported(t)})
		must.NoError(t, err)
		if r.NewFiles != files {
			t.Errorf("backed up %+v; want %d new files", r, files)
		}
	}
	to := Place{Folder: filepath.Join(t.TempDir(), "new", "data")}
	_, err = Restore(t.Context(), folder, nil, to, Options{})
	must.NoError(t, err)
	for _, place := range []Place{cluster, to} {
		wantAlike(t, g.Place, place)
		isBackup := func(e herb.AuditEntry) bool { return e.Action == herb.AuditBackedUp }
		log := place.auditEntries(t)
		if diff := cmp.Diff(slices.DeleteFunc(g.auditEntries(t), isBackup),
			slices.DeleteFunc(slices.Clone(log), isBackup)); diff != "" {
			t.Errorf("audit log (-want +got):\n%s", diff)
		}
		if n := len(log) - len(slices.DeleteFunc(log, isBackup)); n != 3 { // of the garden, and two of the cluster
			t.Errorf("the audit log has %d backups; want 3", n)
		}
		g.works(t, place)
	}
	for path, more := range map[string]int{file: 0, folder: 2} {
		made := made
		made.AuditEntries += more
		checked, err := Restore(t.Context(), path, nil, Place{}, Options{Check: true})
		must.NoError(t, err)
		if diff := cmp.Diff(made, checked); diff != "" {
			t.Errorf("%s (-made +checked):\n%s", path, diff)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.part")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// replacingObjects calls replace before one of the reads of files.
type replacingObjects struct {
	Objects
	reads   int // until then
	replace func(name string)
}

func (o *replacingObjects) Get(ctx context.Context, name string, to io.Writer) error {
	o.reads--
	if o.reads == 0 {
		o.replace(name)
	}
	return o.Objects.Get(ctx, name, to)
}

// backupWith is Backup with the installation modified by a test.
func backupWith(ctx context.Context, from Place, modify func(*Installation)) (archive []byte, err error) {
	var source Installation
	defer func() { err = errors.Join(err, source.close()) }()
	if err := source.openPlace(ctx, from, true, Options{}); err != nil {
		return nil, err
	}
	modify(&source)
	var b bytes.Buffer
	var o Options
	o.begin()
	err = new(Result).saveArchive(ctx, source, &b, Header{Format: FormatVersion}, o)
	return b.Bytes(), err
}

// TestBackup_publishing drops versions after the catalogue was read and before their files are. The
// backup has the newer state.
func TestBackup_publishing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ published, reads int }{
		{1, 1}, // drops the first version before it is read
		{2, 3}, // drops the first version, which has been copied, and the second
	} {
		t.Run(fmt.Sprintf("published=%d", tt.published), func(t *testing.T) {
			t.Parallel()
			g, to := newGarden(t, 3), Place{Folder: t.TempDir()}
			archive, err := backupWith(t.Context(), g.Place, func(from *Installation) {
				from.Objects = &replacingObjects{from.Objects, tt.reads, func(name string) {
					for n := range tt.published {
						g.use(t, func(d *app.Data) { publish(t, d, trees, 4+n) })
					}
					if err := os.Remove(filepath.Join(from.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
						t.Error(err)
					}
				}}
			})
			must.NoError(t, err)
			r, err := restore(t.Context(), archive, to, Options{})
			must.NoError(t, err)
			wantAlike(t, g.Place, to)
			if files, err := filepath.Glob(filepath.Join(to.Folder, store.VersionsDir, "*.segment")); err != nil ||
				len(files) != r.Versions {
				t.Errorf("%d versions have %d files (%v)", r.Versions, len(files), err)
			}
		})
	}
}

// TestRestore_damaged damages a backup in various ways: nothing may be restored.
func TestRestore_damaged(t *testing.T) {
	t.Parallel()
	good := backedUp(t, newGarden(t, 3).Place)
	change := func(at int) func([]byte) []byte {
		return func(b []byte) []byte {
			b[at] ^= 0x20
			return b
		}
	}
	entries := bytes.Index(good, []byte(`{"backup":`))
	for _, tt := range []struct {
		name   string
		damage func([]byte) []byte
		want   string
	}{
		{"header of a file", change(3), "not a backup of Herbarium"},
		{"entry", change(bytes.Index(good, []byte(`"name":"active"`)) + 9), "the backup is damaged: section keys"},
		{"empty", func([]byte) []byte { return nil }, "backup.ndjson is missing"},
		{"truncated in a segment", func(b []byte) []byte { return b[:700] },
			"the backup is incomplete: it ends in segments/"},
		{"truncated before the entries", func(b []byte) []byte { return b[:entries-512] }, "backup.ndjson is missing"},
		{"truncated in the entries", func(b []byte) []byte { return b[:entries+700] }, "backup.ndjson"},
		{"other files", func(b []byte) []byte { return bytes.Replace(b, []byte("segments/"), []byte("segmentz/"), 1) },
			"not a backup"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			damaged, to := tt.damage(bytes.Clone(good)), Place{Folder: t.TempDir()}
			wantRejected(t, to, tt.want, func(o Options) (Result, error) {
				return restore(t.Context(), damaged, to, o)
			})
		})
	}
}

// wantRejected checks the error of a check and of a restore, and that nothing is restored.
func wantRejected(t *testing.T, to Place, want string, restore func(Options) (Result, error)) {
	t.Helper()
	for _, check := range []bool{true, false} {
		_, err := restore(Options{Check: check})
		if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("check=%t: the error is %v; want one that contains %q", check, err, want)
		}
	}
	if left, err := os.ReadDir(to.Folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// TestRestore_damagedFolder damages a backup in a folder.
func TestRestore_damagedFolder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		want   string
	}{
		{"changed plant", func(t *testing.T, dir string) {
			path := filepath.Join(dir, entriesFile)
			b, err := os.ReadFile(path)
			must.NoError(t, err)
			must.NoError(t, os.WriteFile(path,
				bytes.Replace(b, []byte(`{"plants":{"number":3,`), []byte(`{"plants":{"number":4,`), 1), 0o600))
		}, "section plants"},
		{"truncated entries", func(t *testing.T, dir string) {
			must.NoError(t, os.Truncate(filepath.Join(dir, entriesFile), 2000))
		},
			"the backup is incomplete"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, to := t.TempDir(), Place{Folder: t.TempDir()}
			_, err := Backup(t.Context(), newGarden(t, 5).Place, dir+"/", nil, "test", Options{})
			must.NoError(t, err)
			tt.damage(t, dir)
			wantRejected(t, to, tt.want, func(o Options) (Result, error) {
				return Restore(t.Context(), dir, nil, to, o)
			})
		})
	}
}

// TestRestore_otherData restores into a database with plants that the backup does not have.
func TestRestore_otherData(t *testing.T) {
	t.Parallel()
	archive, to := backedUp(t, newGarden(t, 5).Place), newCluster(t)
	to.use(t, func(d *app.Data) { (&garden{plants: 99}).create(t, d, 1) })
	before := contentOf(t, to)
	if _, err := restore(t.Context(), archive, to, Options{}); herb.CodeOf(err) != herb.CodeRejected ||
		!strings.Contains(err.Error(), "the target has data (1 plant") {
		t.Errorf("the error is %v", err)
	}
	if diff := cmp.Diff(before, contentOf(t, to), cmp.AllowUnexported(content{})); diff != "" {
		t.Errorf("the target has changed (-before +after):\n%s", diff)
	}
}

// TestRestore_replace restores over other data, which stays if the restore fails or a server uses
// it.
func TestRestore_replace(t *testing.T) {
	t.Parallel()
	g, other := newGarden(t, 5), newGarden(t, 8)
	archive, before := backedUp(t, g.Place), other.listing(t)
	for name, attempt := range map[string]func() error{
		"not requested": func() error {
			_, err := restore(t.Context(), archive, other.Place, Options{})
			return err
		},
		"damaged": func() error {
			_, err := restore(t.Context(), archive[:len(archive)-5000], other.Place, Options{Replace: true})
			return err
		},
		"in use at the end": func() (err error) {
			db := sync.OnceValues(func() (*sqlite.Store, error) {
				return sqlite.Open(t.Context(), filepath.Join(other.Folder, store.DatabaseFile), sqlite.Options{})
			})
			_, err = restore(t.Context(), archive, other.Place,
				Options{Replace: true, Progress: func(progress.Progress) {
					if _, err := db(); err != nil {
						t.Error(err)
					}
				}})
			opened, openErr := db()
			must.NoError(t, openErr)
			must.NoError(t, opened.Close())
			return err
		},
		"in use": func() (err error) {
			other.use(t, func(*app.Data) {
				_, err = restore(t.Context(), archive, other.Place, Options{Replace: true})
			})
			return err
		},
	} {
		if attempt() == nil {
			t.Errorf("%s: the data was replaced", name)
		}
		if diff := cmp.Diff(before, other.listing(t)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
	other.exec(t, "UPDATE schema_version SET version = 99, needs = 99") // a later release has used it
	_, err := restore(t.Context(), archive, other.Place, Options{Replace: true})
	must.NoError(t, err)
	wantAlike(t, g.Place, other.Place)
	g.works(t, other.Place)
}

// The environment of the processes that TestBackup_survivesKill kills: the arguments of Backup or
// Restore.
const backupEnv, restoreEnv = "HERBARIUM_TEST_BACKUP", "HERBARIUM_TEST_RESTORE"

// TestBackup_process is such a process. It prints a line for each progress report.
func TestBackup_process(t *testing.T) {
	o := Options{Progress: func(progress.Progress) { fmt.Println("progress") }}
	var err error
	if args, ok := os.LookupEnv(backupEnv); ok {
		data, file, _ := strings.Cut(args, "\n")
		_, err = Backup(t.Context(), Place{Folder: data}, file, nil, "test", o)
	} else if args, ok := os.LookupEnv(restoreEnv); ok {
		data, file, _ := strings.Cut(args, "\n")
		_, err = Restore(t.Context(), file, nil, Place{Folder: data}, o)
	} else {
		t.Skip("runs only as a process that TestBackup_survivesKill starts")
	}
	must.NoError(t, err)
}

// killAfter runs a test as a process with an environment and kills it after a number of progress
// reports. It returns how many there were.
func killAfter(t *testing.T, reports int, test string, env ...string) (seen int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	must.NoError(t, err)
	must.NoError(t, cmd.Start())
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "progress" {
			seen++
			if seen == reports {
				_ = cmd.Process.Kill() // it may have ended
			}
		}
	}
	if err := cmd.Wait(); err != nil && err.Error() != "signal: killed" { // it may have ended before
		t.Errorf("the process failed: %v", err)
	}
	return seen
}

// TestBackup_survivesKill kills a backup and a restore after their first progress report, then
// after more of them. There is never a partial backup nor a partial data folder.
func TestBackup_survivesKill(t *testing.T) {
	t.Parallel()
	g, to := newGarden(t, 2_100), Place{Folder: t.TempDir()}
	file := filepath.Join(t.TempDir(), "backup.tar")
	const steps = 3
	for reports := 1; reports <= 1+2*steps; reports += steps {
		if killAfter(t, reports, "TestBackup_process", backupEnv+"="+g.Folder+"\n"+file) == 0 {
			t.Fatal("the backup has not reported any progress")
		}
		if _, err := os.Stat(file); err == nil {
			_, err := Restore(t.Context(), file, nil, Place{}, Options{Check: true})
			must.NoError(t, err)
		}
	}
	_, err := Backup(t.Context(), g.Place, file, nil, "test", Options{})
	must.NoError(t, err)
	restored := filepath.Join(to.Folder, store.DatabaseFile)
	for reports := 1; reports <= 1+2*steps; reports += steps {
		if killAfter(t, reports, "TestBackup_process", restoreEnv+"="+to.Folder+"\n"+file) == 0 {
			t.Fatal("the restore has not reported any progress")
		}
		if _, err := os.Stat(restored); err == nil {
			wantAlike(t, g.Place, to)
			must.NoError(t, os.Remove(restored))
			continue
		}
		if _, err := os.Stat(filepath.Join(to.Folder, stagingDir)); err != nil {
			t.Errorf("a killed restore has left nothing to remove: %v", err)
		}
	}
	_, err = Restore(t.Context(), file, nil, to, Options{})
	must.NoError(t, err)
	wantAlike(t, g.Place, to)
	g.works(t, to)
	if _, err := os.Stat(filepath.Join(to.Folder, stagingDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the leftovers of a killed restore are still there: %v", err)
	}
}

// TestRestore_concurrent restores into a folder while another restore does.
func TestRestore_concurrent(t *testing.T) {
	t.Parallel()
	g, to := newGarden(t, 5), Place{Folder: t.TempDir()}
	archive, tried := backedUp(t, g.Place), false
	_, err := restore(t.Context(), archive, to, Options{Progress: func(progress.Progress) {
		if tried {
			return
		}
		tried = true
		if _, err := restore(t.Context(), archive, to, Options{}); herb.CodeOf(err) != herb.CodeRejected {
			t.Errorf("the error is %v", err)
		}
	}})
	must.NoError(t, err)
	wantAlike(t, g.Place, to)
}

// TestBackup_concurrent backs up to a file while another backup writes it.
func TestBackup_concurrent(t *testing.T) {
	t.Parallel()
	g, file, tried := newGarden(t, 5), filepath.Join(t.TempDir(), "backup.tar"), false
	_, err := Backup(t.Context(), g.Place, file, nil, "test", Options{Progress: func(progress.Progress) {
		if tried {
			return
		}
		tried = true
		if _, err := Backup(t.Context(), g.Place, file, nil, "test", Options{}); herb.CodeOf(err) != herb.CodeRejected {
			t.Errorf("the error is %v", err)
		}
	}})
	must.NoError(t, err)
	_, err = Restore(t.Context(), file, nil, Place{}, Options{Check: true})
	must.NoError(t, err)
}
