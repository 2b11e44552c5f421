package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

const unitFile = "systemd/herbarium.service"

// maxExposure is the maximum exposure level, of 10, that systemd-analyze may report. The service
// needs the network, the socket of PostgreSQL, and the parts of /proc that metrics are read from.
const maxExposure = "1.2"

// unit returns the values of the unit's keys.
func unit(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for line := range strings.Lines(read(t, unitFile)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			out[key] = append(out[key], value)
		}
	}
	return out
}

func TestSystemd_verify(t *testing.T) {
	t.Parallel()
	analyze := programtest.LookPath(t, "systemd-analyze")
	self, err := os.Executable()
	must.NoError(t, err)
	// The program that the unit starts must exist, so the path of this test is used.
	text := strings.Replace(read(t, unitFile), "/usr/local/bin/herbarium", self, 1)
	file := filepath.Join(t.TempDir(), filepath.Base(unitFile))
	must.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
	if err != nil || strings.Contains(string(out), filepath.Base(unitFile)) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestSystemd_security(t *testing.T) {
	t.Parallel()
	analyze := programtest.LookPath(t, "systemd-analyze")
	exposure := strings.Replace(maxExposure, ".", "", 1) // systemd expects tenths as a whole number
	cmd := exec.CommandContext(t.Context(), analyze,
		"security", "--offline=true", "--no-pager", "--threshold="+exposure, unitFile)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the service is more exposed than %s: %v\n%s", maxExposure, err, out)
	}
}

func TestSystemd_stopping(t *testing.T) {
	t.Parallel()
	u := unit(t)
	c := load(t, assignments(read(t, unitFile)))
	limit, err := time.ParseDuration(u["TimeoutStopSec"][0])
	must.NoError(t, err)
	if limit < c.Drain+c.Shutdown+5*time.Second {
		t.Errorf("systemd kills after %s; a stop may take %s and %s", limit, c.Drain, c.Shutdown)
	}
	if want := filepath.Join("/var/lib", u["StateDirectory"][0]); c.Data != want {
		t.Errorf("the data folder is %s; only %s is writable", c.Data, want)
	}
}
