//go:build unix

package clienttest

import (
	"encoding/csv"
	"os"
	"os/exec"
	"strings"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// TestExamples runs the programs in examples/clients. CI has neither pandas nor R, so these may be
// skipped anywhere.
func TestExamples(t *testing.T) {
	t.Parallel()
	server, _ := startServer(t)
	exported := string(get(t,
		server.URL+"/api/v1/garden/catalog/data.csv?search=rose&tags=fragrant&sort=price&_fields=price,title"))
	rows, err := csv.NewReader(strings.NewReader(exported)).ReadAll()
	must.NoError(t, err)
	if len(rows) < 6 {
		t.Errorf("%d rows are not several pages", len(rows))
	}
	var lines strings.Builder
	for _, row := range rows[1:] {
		lines.WriteString(strings.Join(row, "\t") + "\n")
	}
	for _, tt := range []struct {
		name, want string
		optional   []string // command that fails if the example cannot be run
		command    []string
	}{
		{name: "curl", want: exported, command: []string{"sh", "roses.sh"}},
		{name: "python", want: lines.String(), command: []string{"python3", "roses.py"}},
		{name: "pandas", want: lines.String(), command: []string{"python3", "roses_pandas.py"},
			optional: []string{"python3", "-c", "import pandas"}},
		{name: "r", want: lines.String(), command: []string{"Rscript", "roses.R"},
			optional: []string{"Rscript", "--version"}},
		{name: "go", want: lines.String(), command: []string{"go", "run", "./go"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(tt.command[0]); err != nil && tt.optional == nil {
				programtest.SkipWithout(t, tt.command[0], tt.command[0]+" is not installed")
			}
			if tt.optional != nil && exec.CommandContext(t.Context(), tt.optional[0], tt.optional[1:]...).Run() != nil {
				t.Skipf("%s fails", strings.Join(tt.optional, " "))
			}
			cmd := exec.CommandContext(t.Context(), tt.command[0], tt.command[1:]...)
			cmd.Dir = "../../examples/clients"
			cmd.Env = append(os.Environ(), "HERBARIUM_URL="+server.URL, "LC_ALL=C.UTF-8")
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil || string(out) != tt.want {
				t.Errorf("%v; got %q, want %q", err, out, tt.want)
			}
		})
	}
}
