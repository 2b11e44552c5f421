package app_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/app"
)

func noEnv(string) (string, bool) { return "", false }

// TestLoadConfig_emptyValue checks that a key without a value in the file is an empty value: the default of optional settings, and
// an error of others.
func TestLoadConfig_emptyValue(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "herbarium.yaml")
	for content, want := range map[string]string{
		"blobs:\npublic_url:\n": "",
		"log:\nkeep: 3\n":       `unknown key "log"`,
		"addr:\n":               `addr is "": write host:port`,
		"addr: ':99999'\n":      `addr is ":99999": write host:port`,
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := app.LoadConfig(file, noEnv, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q gives the error %v, want %q", content, err, want)
		}
	}
}

// TestSecret_isRedacted checks that no log format and no encoding contains a secret.
func TestSecret_isRedacted(t *testing.T) {
	t.Parallel()
	const secret = app.Secret("correct horse battery staple")
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Info("json", "token", secret, "config", struct{ Token app.Secret }{secret})
	slog.New(slog.NewTextHandler(&b, nil)).Info("text", "token", secret, "config", struct{ Token app.Secret }{secret})
	if err := json.NewEncoder(&b).Encode(app.Config{Token: secret}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "horse") || strings.Count(b.String(), "(hidden)") != 5 {
		t.Errorf("a secret is written as\n%s", b.String())
	}
}
