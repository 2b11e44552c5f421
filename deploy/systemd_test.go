package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

const (
	backupFile = "systemd/herbarium-backup.service"
	timerFile  = "systemd/herbarium-backup.timer"

	upgradeFile = "systemd/herbarium-upgrade.service"
)

// unit returns the values of the keys of a unit.
func unit(t *testing.T, file string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for line := range strings.Lines(read(t, file)) {
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
	// The programs that the units start must exist, so the path of this test is used.
	dir, args := t.TempDir(), []string{"verify", "--man=no"}
	for _, name := range []string{unitFile, backupFile, timerFile, upgradeFile} {
		text := strings.NewReplacer("/usr/local/bin/herbarium", self, "/usr/bin/find", self).Replace(read(t, name))
		file := filepath.Join(dir, filepath.Base(name))
		must.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		args = append(args, file)
	}
	out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "herbarium") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestSystemd_security(t *testing.T) {
	t.Parallel()
	analyze := programtest.LookPath(t, "systemd-analyze")
	exposure := strings.Replace(maxExposure, ".", "", 1) // systemd expects tenths as a whole number
	for _, file := range []string{unitFile, backupFile, upgradeFile} {
		cmd := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager",
			"--threshold="+exposure, file)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s is more exposed than %s: %v\n%s", file, maxExposure, err, out)
		}
	}
}

func TestSystemd_stopping(t *testing.T) {
	t.Parallel()
	u := unit(t, unitFile)
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

// TestSystemd_upgrade checks that an upgrade uses the data and the settings of the server.
func TestSystemd_upgrade(t *testing.T) {
	t.Parallel()
	server, upgrade := unit(t, unitFile), unit(t, upgradeFile)
	for _, key := range []string{"User", "Group", "StateDirectory", "WorkingDirectory", "EnvironmentFile", "UMask"} {
		if !slices.Equal(upgrade[key], server[key]) {
			t.Errorf("%s is %q, and %q of the server", key, upgrade[key], server[key])
		}
	}
	if s, u := load(t, assignments(read(t, unitFile))), load(t, assignments(read(t, upgradeFile))); u.Data != s.Data {
		t.Errorf("the data folder is %s, and %s of the server", u.Data, s.Data)
	}
}

// TestSystemd_rotation runs the command that deletes old backups in a folder with some.
func TestSystemd_rotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, days := range map[string]int{"herbarium-20260101T030000Z.tar": 20, "herbarium-20260119T030000Z.tar": 2,
		"other.tar": 20} {
		path := filepath.Join(dir, name)
		must.NoError(t, os.WriteFile(path, nil, 0o600))
		at := time.Now().AddDate(0, 0, -days)
		must.NoError(t, os.Chtimes(path, at, at))
	}
	rotation := strings.Fields(unit(t, backupFile)["ExecStartPost"][0])
	programtest.LookPath(t, rotation[0])
	cmd := exec.CommandContext(t.Context(), rotation[0], rotation[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	must.NoError(t, err)
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if !slices.Equal(left, []string{"herbarium-20260119T030000Z.tar", "other.tar"}) {
		t.Errorf("left: %v", left)
	}
}
