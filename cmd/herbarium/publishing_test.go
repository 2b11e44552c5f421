package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"herbarium/internal/programtest"
)

// TestPublishingGuide runs the commands of the first part of docs/publishing.md, one after the
// other in an empty folder, and compares their output with the guide. Version names are shown as …,
// because they differ each time.
func TestPublishingGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/publishing.md")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if _, err := programtest.Install(t.Context(), bin); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	version := regexp.MustCompile(`version \d{8}T\d{6}Z-[a-z0-9]+`)
	ran := 0
	var printed string
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(guide), -1) {
		switch m[1] {
		case "sh":
			cmd := exec.CommandContext(t.Context(), "sh", "-ec", m[2])
			cmd.Dir, cmd.Env = dir, env
			var log strings.Builder
			cmd.Stderr = &log
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s\n%v\n%s", m[2], err, &log)
			}
			printed = strings.ReplaceAll(version.ReplaceAllString(string(out), "version …"), "\r\n", "\n")
			ran++
		case "text":
			if printed != m[2] {
				t.Errorf("the guide shows\n%s\nand the commands print\n%s", m[2], printed)
			}
		}
	}
	if ran < 6 {
		t.Errorf("the guide has only %d commands; has its format changed?", ran)
	}
}
