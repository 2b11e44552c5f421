package program_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/bench/internal/program"
)

// TestRun checks that cleanups run in reverse order and that a failure ends the function, not the
// process.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(testing.TB)
		want string
		err  error
	}{
		{"success", func(testing.TB) {}, "measured\nended\nsecond\nfirst\n", nil},
		{"error", func(t testing.TB) { t.Errorf("no %s", "figures") }, "measured\nno figures\nended\nsecond\nfirst\n",
			program.ErrFailed},
		{"fatal", func(t testing.TB) { t.Fatal("no server") }, "measured\nno server\nsecond\nfirst\n",
			program.ErrFailed},
		{"missing part", func(t testing.TB) { t.Skip("no PostgreSQL") }, "measured\nno PostgreSQL\nsecond\nfirst\n",
			program.ErrFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			var folder string
			err := program.Run(t.Context(), &log, func(p testing.TB) {
				p.Helper()
				p.Cleanup(func() { p.Log("first") })
				p.Cleanup(func() { p.Log("second") })
				folder = p.TempDir()
				if err := os.WriteFile(filepath.Join(folder, "file"), nil, 0o600); err != nil {
					t.Error(err)
				}
				p.Log("measured")
				tt.end(p)
				p.Log("ended")
			})
			if !errors.Is(err, tt.err) || log.String() != tt.want {
				t.Errorf("error %v, log %q; want %v, %q", err, log.String(), tt.err, tt.want)
			}
			if _, err := os.Stat(folder); !os.IsNotExist(err) {
				t.Errorf("the temporary folder was not removed: %v", err)
			}
		})
	}
}
