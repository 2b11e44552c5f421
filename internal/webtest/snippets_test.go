package webtest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// TestSnippets copies the API call of a page in each language, runs it, and compares its output
// with the page.
func TestSnippets(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := open(t, s, tabOptions{})
	b.AllowClipboard()
	b.Visit(catalog + "?search=garden*+-moss&sort=price&order=desc&per_page=5" +
		"&author=Siobh%C3%A1n+O%27Neill&author=%E5%B1%B1%E7%94%B0+%E8%8A%B1%E5%AD%90")
	b.settled()
	l := b.agree()
	if l.Meta.Total == 0 {
		t.Fatal("nothing to compare")
	}
	copied := func(selector string) string {
		t.Helper()
		b.Click(selector + " [data-copy]")
		b.Until("document.querySelector(" + quote(selector+" [data-copy]") + ").textContent === 'Copied'")
		return eval[string](b, "navigator.clipboard.readText()")
	}
	if got := copied("#call"); got != eval[string](b, `document.querySelector("#call code").dataset.url`) {
		t.Errorf("copied %q", got)
	}
	for _, language := range []struct{ name, file, program string }{
		{"curl", "call.sh", "sh"}, {"Python", "call.py", "python3"}, {"JavaScript", "call.mjs", "node"},
		{"Go", "call.go", "go"},
	} {
		b.Click(b.Pick(".languages summary", language.name))
		b.Until("document.querySelector('[data-pick]').parentElement.open")
		code := copied(".languages details[open]")
		t.Run(language.name, func(t *testing.T) {
			program, err := exec.LookPath(language.program)
			if err != nil {
				programtest.SkipWithout(t, language.program, language.program+" is not installed")
			}
			file := filepath.Join(t.TempDir(), language.file)
			must.NoError(t, os.WriteFile(file, []byte(code), 0o600))
			args := []string{file}
			if language.program == "go" {
				args = []string{"run", file}
			}
			out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s\n%s", err, out, code)
			}
			for _, r := range l.Data {
				if !strings.Contains(string(out), r["url"]) {
					t.Errorf("the answer lacks %s:\n%s", r["url"], out)
				}
			}
			if language.name == "curl" {
				var got listing
				if at := strings.IndexByte(string(out), '{'); at < 0 || json.Unmarshal(out[at:], &got) != nil ||
					!cmp.Equal(got, l) {
					t.Errorf("curl yields %s", out)
				}
			}
		})
	}
}
