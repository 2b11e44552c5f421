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
	"herbarium/internal/herb"
)

func noEnv(string) (string, bool) { return "", false }

// TestLoadConfig_emptyValue checks that a key without a value in the file is an empty value: the
// default of optional settings, and an error of others.
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

// TestLoadConfig_trustedProxies reads a list in each of its notations.
func TestLoadConfig_trustedProxies(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "herbarium.yaml")
	for content, want := range map[string]string{
		"trusted_proxies: 10.1.2.3/8, ::ffff:192.0.2.7\n":        "10.0.0.0/8,192.0.2.7",
		"trusted_proxies: [10.0.0.0/8, '2001:db8::1', '::/0']\n": "10.0.0.0/8,2001:db8::1,::/0",
		"trusted_proxies: []\n":                                  "",
		"trusted_proxies:\n":                                     "",
		"trusted_proxies: [10.0.0.0/8, proxy.example]\n":         `"proxy.example" is neither an IP address nor a network`,
		"trusted_proxies: 10.0.0.0/33\n":                         `"10.0.0.0/33" is neither`,
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := app.LoadConfig(file, noEnv, nil)
		got := ""
		for _, s := range c.Settings() {
			if s.Key == "trusted_proxies" {
				got = s.Value()
			}
		}
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("%q gives %q, want %q", content, got, want)
		}
	}
}

// TestSecret_isRedacted checks that no log format and no encoding contains a secret.
func TestSecret_isRedacted(t *testing.T) {
	t.Parallel()
	const secret = herb.Secret("correct horse battery staple")
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Info("json", "token", secret, "config", struct{ Token herb.Secret }{secret})
	slog.New(slog.NewTextHandler(&b, nil)).Info("text", "token", secret, "config", struct{ Token herb.Secret }{secret})
	if err := json.NewEncoder(&b).Encode(app.Config{Token: secret}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "horse") || strings.Count(b.String(), "(hidden)") != 5 {
		t.Errorf("a secret is written as\n%s", b.String())
	}
}

func TestCheckEnv(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"HERBARIUM_ADDR=:80":                 "",
		"HERBARIUM_CONFIG=x.yaml":            "",
		"HERBARIUM_TOKEN=":                   "",
		"HERBARIUM_TEST_REQUIRE=all":         "",
		"HERBARIUM_KEY=herb_x":               "",
		"HERBARIUM_PORT=tcp://10.0.0.1:8080": "", // of Kubernetes, with the next two
		"HERBARIUM_PORT_8080_TCP_PORT=8080":  "",
		"HERBARIUM_SERVICE_HOST=10.0.0.1":    "",
		"HERBARIUMX=1":                       "",
		"PATH=/bin":                          "",
		"HERBARIUM_ADRR=:80": "unknown environment variable HERBARIUM_ADRR; did you mean " +
			"HERBARIUM_ADDR?",
		"HERBARIUM_PORT=80":                    "unknown environment variable HERBARIUM_PORT",
		"HERBARIUM_LOG.LEVEL=debug":            "unknown environment variable HERBARIUM_LOG.LEVEL",
		"HERBARIUM_LISTEN=secret-in-the-value": "HERBARIUM_LISTEN; valid variables: HERBARIUM_ACCESS",
	} {
		err := app.CheckEnv([]string{"HERBARIUM_DATA=x", variable})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v; want %q", variable, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error has the value: %v", variable, err)
		}
	}
}
