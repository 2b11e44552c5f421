package deploy_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/app"
	"herbarium/internal/must"
)

// TestSettings_names checks that every HERBARIUM_ variable in this folder and in the Compose files
// is a setting.
func TestSettings_names(t *testing.T) {
	t.Parallel()
	known := []string{app.ConfigEnv, app.TokenEnv, "HERBARIUM_TEST_REQUIRE"}
	for _, s := range new(app.Config).Settings() {
		known = append(known, s.Env())
	}
	name := regexp.MustCompile(`HERBARIUM_[A-Z0-9_]+`)
	found := 0
	check := func(path string) {
		for _, n := range name.FindAllString(read(t, path), -1) {
			found++
			if !slices.Contains(known, n) {
				t.Errorf("%s names %s, which is not a setting", path, n)
			}
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) != ".go" {
			check(path)
		}
		return err
	})
	must.NoError(t, err)
	check("../compose.yaml")
	check("../compose.cluster.yaml")
	if found < 20 {
		t.Errorf("found only %d variables; has the folder moved?", found)
	}
}

// load reads settings as the program does.
func load(t *testing.T, env map[string]string) app.Config {
	t.Helper()
	c, err := app.LoadConfig("", func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}, nil)
	if err != nil {
		t.Error(err)
	}
	return c
}

// assignments returns the variables that a text assigns, in any of the notations of this folder. It
// includes assignments that are commented out for users who need them.
func assignments(text string) map[string]string {
	out := map[string]string{}
	assignment := regexp.MustCompile(`(?m)^(?:Environment=|ENV |#)?([A-Z][A-Z0-9_]*)=(.*)$`)
	for _, m := range assignment.FindAllStringSubmatch(text, -1) {
		out[m[1]] = strings.ReplaceAll(m[2], "%S", "/var/lib")
	}
	return out
}

func TestSettings_values(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"systemd/herbarium.service": "HERBARIUM_DATA",
		"systemd/herbarium.env":     "HERBARIUM_DATABASE",
		"container/Containerfile":   "HERBARIUM_ADDR",
	} {
		env := assignments(read(t, file))
		if env[want] == "" {
			t.Errorf("%s does not set %s", file, want)
		}
		delete(env, "HERBARIUM_TOKEN") // a placeholder, which the program rejects
		load(t, env)
	}
}
