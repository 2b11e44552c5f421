//go:build linux

package deploy_test

import (
	"context"
	"debug/elf"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// instruction is one of a Containerfile.
type instruction struct{ name, text string }

// readStages returns the instructions of each stage.
func readStages(t *testing.T) [][]instruction {
	t.Helper()
	var stages [][]instruction
	for line := range strings.Lines(read(t, "container/Containerfile")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, text, _ := strings.Cut(line, " ")
		if name == "FROM" {
			stages = append(stages, nil)
		}
		last := len(stages) - 1
		stages[last] = append(stages[last], instruction{name, text})
	}
	if len(stages) != 2 {
		t.Fatalf("the Containerfile has %d stages; want one that builds and one that is the image", len(stages))
	}
	return stages
}

// values returns the texts of all instructions of a name.
func values(stage []instruction, name string) []string {
	var out []string
	for _, i := range stage {
		if i.name == name {
			out = append(out, i.text)
		}
	}
	return out
}

// words reads an instruction that is written as a JSON array.
func words(t *testing.T, stage []instruction, name string) []string {
	t.Helper()
	var out []string
	for _, text := range values(stage, name) {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%s %s: %v", name, text, err)
		}
	}
	return out
}

// TestContainer runs the build commands of the Containerfile and then the program as a container
// engine would: with a root folder that contains nothing else, as the user of the image and with
// its environment. Unless the test runs as root, the program runs as the current user and can
// access the whole file system.
func TestContainer(t *testing.T) {
	t.Parallel()
	stages := readStages(t)
	image := stages[1]
	if from := values(image, "FROM"); !slices.Equal(from, []string{"scratch"}) {
		t.Fatalf("the image is made from %q; want scratch", from)
	}
	root := t.TempDir()
	build(t, stages[0], root)

	entry := slices.Concat(words(t, image, "ENTRYPOINT"), words(t, image, "CMD"))
	binary := filepath.Join(root, entry[0])
	checkStatic(t, binary)

	c := container{root: root, binary: binary, env: values(image, "ENV")}
	data := c.lookup("HERBARIUM_DATA")
	if user := values(image, "USER"); os.Getuid() == 0 {
		id, err := strconv.ParseUint(strings.Split(user[0], ":")[0], 10, 32)
		if err != nil || id == 0 {
			t.Fatalf("USER %q is not a number that is not root: %v", user, err)
		}
		c.attr = &syscall.SysProcAttr{
			Chroot: root, Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id), NoSetGroups: true},
		}
		c.binary = entry[0]
	} else {
		c.env = append(c.env, "HERBARIUM_DATA="+filepath.Join(root, data), "TMPDIR="+filepath.Join(root, "tmp"))
	}
	if !slices.Contains(values(image, "VOLUME"), data) {
		t.Errorf("the data folder is %s, which is not a volume", data)
	}
	_, port, _ := strings.Cut(c.lookup("HERBARIUM_ADDR"), ":")
	if !slices.Contains(values(image, "EXPOSE"), port) {
		t.Errorf("the image listens on %s, which it does not expose", port)
	}
	c.env = append(c.env, "HERBARIUM_ADDR=127.0.0.1:0")

	before := c.files(t, data)
	url := c.serve(t, entry[1:])
	for _, path := range []string{"/healthz", "/readyz", "/api/v1/store/plants/data"} {
		get(t, url+path)
	}
	c.publish(t, data)
	if after := c.files(t, data); !slices.Equal(before, after) {
		t.Errorf("the root had %q and has %q: it cannot be read-only", before, after)
	}
}

// build runs the commands of the build stage with another root folder.
func build(t *testing.T, stage []instruction, root string) {
	t.Helper()
	for _, command := range values(stage, "RUN") {
		if command == "go mod download" {
			continue // go build fetches missing modules
		}
		if os.Getuid() != 0 {
			command = regexp.MustCompile(`chown \S+`).ReplaceAllString(command, "touch -c")
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", strings.ReplaceAll(command, "/out/", root+"/"))
		cmd.Dir = ".."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
}

// checkStatic checks that a binary needs no loader and no libraries.
func checkStatic(t *testing.T, binary string) {
	t.Helper()
	f, err := elf.Open(binary)
	must.NoError(t, err)
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary has a segment %s: it is not static", p.Type)
		}
	}
}

// container runs the program like a container engine.
type container struct {
	root, binary string
	launcher     string // starts the binary, which is its first argument; empty if there is none
	env          []string
	attr         *syscall.SysProcAttr // sets root folder and user; nil keeps those of the test
}

// lookup returns a variable of the image.
func (c container) lookup(name string) string {
	for _, v := range slices.Backward(c.env) {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return value
		}
	}
	return ""
}

func (c container) command(ctx context.Context, args ...string) *exec.Cmd {
	line := append([]string{c.binary}, args...)
	if c.launcher != "" {
		line = slices.Insert(line, 0, c.launcher)
	}
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env, cmd.SysProcAttr, cmd.Dir = c.env, c.attr, c.root
	if c.attr != nil {
		cmd.Dir = "/"
	}
	return cmd
}

// serve starts the server and returns its address. When the test ends, the server gets SIGTERM and
// must exit with code 0.
func (c container) serve(t *testing.T, args []string) string {
	t.Helper()
	server, err := programtest.StartProcess(c.command(context.Background(), args...))
	must.NoError(t, err)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	url, err := server.WaitForOutput(t.Context(), `listens on (http://\S+)`)
	must.NoError(t, err)
	return url
}

// get expects a response with status 200 and returns its body.
func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodGet, url, "")
	if err != nil || resp.Status != http.StatusOK {
		t.Errorf("GET %s: %d %s, %v", url, resp.Status, resp.Body, err)
	}
	return resp.Body
}

// publish publishes standard input while the server runs. This needs a temporary file.
func (c container) publish(t *testing.T, data string) {
	t.Helper()
	cmd := c.command(t.Context(), "publish", "-", "--as", "garden/catalog")
	cmd.Stdin = strings.NewReader("id,name\n1,Rose\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("publish: %v\n%s", err, out)
	}
	if found, err := filepath.Glob(filepath.Join(c.root, data, "versions", "*.segment")); err != nil ||
		len(found) == 0 {
		t.Errorf("there are no versions in %s (%v)", data, err)
	}
}

// files lists the files of the root folder outside the data folder.
func (c container) files(t *testing.T, data string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside := strings.TrimPrefix(path, c.root)
		if inside == data {
			return fs.SkipDir
		}
		out = append(out, inside)
		return nil
	})
	must.NoError(t, err)
	return out
}
