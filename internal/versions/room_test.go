package versions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/versions/versionstest"
)

// TestOpenParquet_room checks that the files that readers have built take a part of the free disk
// space only: those of kept versions are removed first, the least recently read before others, and
// if there is no room without any, no file is built.
func TestOpenParquet_room(t *testing.T) {
	t.Parallel()
	const spare = 256 << 20
	room := int64(1 << 40)
	s := versionstest.NewSharedDir(t)
	l := versionstest.OpenLibrary(t, s.DB,
		versionstest.Options{Dir: s.Dir, Free: func(string) (free, total uint64, ok bool) {
			used := int64(0)
			for _, name := range parquetFiles(t, s.Dir) {
				used += fileSize(t, filepath.Join(s.Dir, name))
			}
			for _, name := range comparisons(t, s.Dir) {
				used += fileSize(t, filepath.Join(s.Dir, name))
			}
			return uint64(max(0, spare+room-used)), 1 << 41, true
		}})
	var names []string
	for range 4 {
		names = append(names, versionstest.Publish(t, l, 300).Version)
	}
	views := acquireVersions(t, l, names...)
	open := func(i int) error {
		f, err := l.OpenParquet(t.Context(), views[i], false)
		if err == nil {
			err = f.Close()
		}
		return err
	}
	for _, i := range []int{3, 0, 1} { // the live version first
		must.NoError(t, open(i))
	}
	for _, name := range comparisons(t, s.Dir) {
		must.NoError(t, os.Remove(filepath.Join(s.Dir, name)))
	}
	must.NoError(t, open(0)) // now 1 is the least recently read one
	total := int64(0)
	for _, name := range parquetFiles(t, s.Dir) {
		total += fileSize(t, filepath.Join(s.Dir, name))
	}
	expected := int64(views[2].Reader.Size()) / 2
	room = 2 * (total + expected - 1) // a byte short
	must.NoError(t, open(2))
	if got := strings.Join(parquetFiles(t, s.Dir), " "); strings.Contains(got, names[1]) ||
		!strings.Contains(got, names[0]) || !strings.Contains(got, names[3]) {
		t.Errorf("the files are %s", got)
	}
	room = 2 * expected
	must.NoError(t, open(1))
	if got := parquetFiles(t, s.Dir); len(got) != 1 || got[0] != library.ParquetName(names[1], false) {
		t.Errorf("with room for one file: %v", got)
	}
	room = 0
	for range 2 {
		if err := open(2); herb.CodeOf(err) != herb.CodeNoSpace {
			t.Errorf("without room: %v", err)
		}
	}
	must.NoError(t, l.Sweep(t.Context()))
	if got := parquetFiles(t, s.Dir); len(got) != 0 {
		t.Errorf("without room, a sweep leaves %v", got)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must.NoError(t, err)
	return info.Size()
}
