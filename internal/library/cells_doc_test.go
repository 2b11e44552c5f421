package library_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// TestCellsDoc publishes the example of docs/format/cells.md and compares the documented bytes and hash.
func TestCellsDoc(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/format/cells.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	out, err := newSharedDir(t).open(t).Publish(t.Context(), library.Publication{
		Dataset: herb.Dataset{Ref: ref, Fields: []herb.Field{
			field("id", herb.TypeNumber), field("name", herb.TypeText), field("note", herb.TypeText),
		}},
		Records: sequence(herb.Record{"1", "Röse", `said "hardy"`}, herb.Record{"2", "", "two\nlines"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	hash := out.Dataset.Report.Cells
	if !strings.Contains(doc, "\n"+hash+"\n") {
		t.Errorf("the document does not have the hash %s", hash)
	}
	blocks := regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(doc, -1)
	find := func(language string) string {
		for _, m := range blocks {
			if m[1] == language {
				return m[2]
			}
		}
		t.Fatalf("the document has no block of %s", language)
		return ""
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("HERBARIUM_TEST_REQUIRE") != "" {
			t.Fatal("python3 is needed to run the program of the document")
		}
		t.Skip("python3 is needed to run the program of the document")
	}
	file := filepath.Join(t.TempDir(), "example.csv")
	if err := os.WriteFile(file, []byte(find("csv")), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := exec.CommandContext(t.Context(), python, "-c", find("python"), file).CombinedOutput()
	if err != nil || strings.TrimSpace(string(got)) != hash {
		t.Errorf("the program of the document says %s, %v; want %s", got, err, hash)
	}
}
