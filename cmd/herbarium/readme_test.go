package main_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/programtest"
)

var update = flag.Bool("update", false, "write what the commands print into the README")

const (
	readme  = "../../README.md"
	address = "127.0.0.1:8080" // as the README has it
	marker  = "--- end of block ---"
)

// block is a fenced code block of the README.
type block struct{ language, text string }

func readBlocks(t *testing.T) (content string, blocks []block) {
	t.Helper()
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(b), -1) {
		blocks = append(blocks, block{m[1], m[2]})
	}
	return string(b), blocks
}

// TestReadme runs the commands of the README unchanged in one shell, next to a server, and compares
// their output with the README. Only the address and the data folder are replaced.
func TestReadme(t *testing.T) {
	programtest.LookPath(t, "sh")
	programtest.LookPath(t, "curl")
	content, blocks := readBlocks(t)
	if len(blocks) < 8 || !strings.Contains(blocks[0].text, " serve ") {
		t.Fatalf("the README does not begin with serving: %q", blocks)
	}
	env := append(os.Environ(), "HERBARIUM_DATA="+filepath.Join(t.TempDir(), "data"), "HERBARIUM_ADDR=127.0.0.1:0",
		"CGO_ENABLED=0")
	url := startServer(t, blocks[0].text, env)

	var script strings.Builder
	script.WriteString("set -e\n")
	var commands []block
	for _, b := range blocks[1:] {
		if b.language == "sh" && !strings.HasPrefix(b.text, "make ") && !strings.HasPrefix(b.text, "go build") &&
			!strings.HasPrefix(b.text, "tar ") {
			commands = append(commands, b)
			script.WriteString(strings.ReplaceAll(b.text, "http://"+address, url) + "echo\necho '" + marker + "'\n")
		}
	}
	outputs := strings.Split(runShell(t, script.String(), env), "\n"+marker+"\n")
	for i, c := range commands {
		at := strings.Index(content, c.text)
		shown := strings.Index(content[at:], "```json\n") + at + len("```json\n")
		end := strings.Index(content[shown:], "\n```") + shown
		if content[shown:end] == outputs[i] {
			continue
		}
		if *update {
			content = content[:shown] + outputs[i] + content[end:]
			continue
		}
		t.Errorf("%s\nprints\n%s\nand the README shows\n%s", c.text, outputs[i], content[shown:end])
	}
	if *update {
		if err := os.WriteFile(readme, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadme_build runs the block that builds the binary and publishes with it.
func TestReadme_build(t *testing.T) {
	_, blocks := readBlocks(t)
	for _, b := range blocks {
		if !strings.HasPrefix(b.text, "go build") {
			continue
		}
		dir := t.TempDir()
		script := strings.ReplaceAll(b.text, "go build", "go build -o "+dir+"/herbarium")
		script = strings.ReplaceAll(script, "./herbarium ", dir+"/herbarium ")
		out := runShell(t, "set -e\n"+script, append(os.Environ(), "HERBARIUM_DATA="+filepath.Join(dir, "data")))
		if !strings.Contains(out, "nursery/stock") {
			t.Errorf("the dataset was not published:\n%s", out)
		}
		if _, err := exec.LookPath("git"); err == nil { // go build records the commit of a clone
			if version := runShell(t, dir+"/herbarium version", os.Environ()); !regexp.MustCompile(
				` commit [0-9a-f]{40}`).MatchString(version) {
				t.Errorf("version prints %q", version)
			}
		}
		return
	}
	t.Error("the README does not say how to build")
}

// startServer runs a command in the background and returns the address it prints.
func startServer(t *testing.T, command string, env []string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = "../..", env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // `go run` starts the program as a child of its own
	p, err := programtest.StartProcess(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-p.PID(), syscall.SIGTERM) // it may have ended
		<-p.Ended()
	})
	url, err := p.WaitForOutput(t.Context(), `listens on (http://\S+)\n`)
	if err != nil {
		t.Fatalf("%s\n%v", command, err)
	}
	return url
}

func runShell(t *testing.T, script string, env []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir, cmd.Env = "../..", env
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s%s", err, script, out, &log)
	}
	return string(out)
}
