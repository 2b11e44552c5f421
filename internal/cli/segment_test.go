package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/segment"
)

// threeRecords is a frozen segment file.
const threeRecords = "../segment/testdata/v5/three.seg"

// damaged returns a copy of the segment with one byte changed.
func damaged(t *testing.T, at int) string {
	t.Helper()
	b, err := os.ReadFile(threeRecords)
	must.NoError(t, err)
	b[at] ^= 1
	path := filepath.Join(t.TempDir(), "damaged.seg")
	must.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}

func TestSegment(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.seg")
	must.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, c := range []struct {
		name     string
		args     []string
		code     int
		out, err string // parts of the output
	}{
		{"verify", []string{"verify", threeRecords}, 0, "intact: 3 records, 3,936 bytes\n", ""},
		{"verify damaged record", []string{"verify", damaged(t, 20)}, 1, "",
			"damaged.seg: the segment is damaged: section RECS"},
		{"verify index of another release", []string{"verify", damaged(t, 8)}, 0,
			"intact: 3 records, 3,936 bytes; its index, f4-r1, is rebuilt by servers of this release\n", ""},
		{"dump index of another release", []string{"dump", damaged(t, 8)}, 1, "",
			"the segment has the indexes of another release: it has format 4"},
		{"verify no segment", []string{"verify", "segment_test.go"}, 1, "",
			"the segment is damaged: no magic number at the start"},
		{"verify empty", []string{"verify", empty}, 1, "", "the segment is cut off: it is empty"},
		{"verify missing", []string{"verify", "no.seg"}, 1, "", "no.seg: no such file"},
		{"verify nothing", []string{"verify"}, 2, "", "expected one segment file"},
		{"dump", []string{"dump", threeRecords}, 0, "records  3\n", ""},
		{"dump damaged record", []string{"dump", damaged(t, 20)}, 0, "records  3\n", ""},
		{"dump missing", []string{"dump", "no.seg"}, 1, "", "no.seg: no such file"},
		{"stat", []string{"stat", threeRecords}, 0, "3 records, 4 words (3 distinct), format version 5\n", ""},
		{"stat missing", []string{"stat", "no.seg"}, 1, "", "no.seg: no such file"},
		{"no such command", []string{"stats", threeRecords}, 2, "",
			`did you mean "stat"? valid commands: dump, stat, verify`},
		{"help", nil, 0, "herbarium segment verify", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t)
			code, out, errOut := env.run(t, append([]string{"segment"}, c.args...)...)
			if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errOut, c.err) {
				t.Errorf("exit code %d, want %d\nout: %s\nerr: %s", code, c.code, out, errOut)
			}
			if c.err == "" && errOut != "" || c.out == "" && out != "" {
				t.Errorf("unexpected output\nout: %s\nerr: %s", out, errOut)
			}
			if _, err := os.Stat(env["HERBARIUM_DATA"]); err == nil {
				t.Error("the command made a data folder")
			}
		})
	}
}

func TestSegmentStat_json(t *testing.T) {
	t.Parallel()
	var s segment.Stat
	must.NoError(t, json.Unmarshal([]byte(newEnvironment(t).must(t, "segment", "stat", "--json", threeRecords)), &s))
	if s.Records != 3 || s.Bytes != 3936 || len(s.Sections) != 32 ||
		s.Sections[0] != (segment.KindStat{Tag: "RECS", Sections: 1, Bytes: 96}) {
		t.Errorf("%+v", s)
	}
}

// TestSegment_published inspects the segment of a published dataset.
func TestSegment_published(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	env.must(t, "publish", garden)
	files, err := filepath.Glob(filepath.Join(env["HERBARIUM_DATA"], "versions", "*.segment"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d segments, %v", len(files), err)
	}
	if out := env.must(t, "segment", "verify", files[0]); !strings.HasPrefix(out, "intact: ") {
		t.Error(out)
	}
}
