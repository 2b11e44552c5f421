//go:build unix

package clienttest

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// toolCall is a call of a tool as testdata/agents/calls.mjs reads it.
type toolCall struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// toolResult is the result of a call.
type toolResult struct {
	Text  string
	Facts struct {
		Total              int
		Version, Permalink string
	}
	Failed bool
}

// table returns the CSV of a result: what follows the head line and the notes, whose lines do not
// have the same number of values.
func (r toolResult) table(t *testing.T) (rows [][]string) {
	t.Helper()
	for content := r.Text; content != ""; {
		_, content, _ = strings.Cut(content, "\n")
		rows, err := csv.NewReader(strings.NewReader(content)).ReadAll()
		if err == nil && len(rows) > 0 {
			return rows
		}
	}
	t.Fatalf("no CSV in %s", r.Text)
	return nil
}

// callTools calls tools with the official client for TypeScript.
func callTools(t *testing.T, url string, calls []toolCall, headers ...string) (names []string, results []toolResult) {
	t.Helper()
	modules := programtest.NodeModules(t, "@modelcontextprotocol/sdk")
	folder := filepath.Join(t.TempDir(), "agents")
	must.NoError(t, os.CopyFS(folder, os.DirFS("testdata/agents")))
	must.NoError(t, os.Symlink(modules, filepath.Join(folder, "node_modules")))
	input, err := json.Marshal(calls)
	must.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"calls.mjs", url + "/mcp"}, headers...)...)
	cmd.Dir, cmd.Stdin, cmd.Stderr = folder, bytes.NewReader(input), os.Stderr
	out, err := cmd.Output()
	must.NoError(t, err)
	var answer struct {
		Server       struct{ Name string }
		Instructions string
		Tools        []struct{ Name string }
		Results      []toolResult
	}
	must.NoError(t, json.Unmarshal(out, &answer))
	if answer.Server.Name != "herbarium" || !strings.Contains(answer.Instructions, "describe_dataset") ||
		len(answer.Results) != len(calls) {
		t.Fatalf("got %s", out)
	}
	for _, tool := range answer.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names, answer.Results
}

// TestInterop_agents answers questions about three datasets with the tools only, through the
// official client. The expected answers are computed from the source files.
func TestInterop_agents(t *testing.T) {
	t.Parallel()
	programtest.NodeModules(t, "@modelcontextprotocol/sdk")
	files := writeSources(t)
	settings := []string{"HERBARIUM_DATA=" + filepath.Join(t.TempDir(), "data")}
	server, err := programtest.Start(t.Context(), programtest.Options{
		Program: program, Args: []string{files, "../../examples/garden"}, Settings: settings,
	})
	must.NoError(t, err)
	t.Cleanup(server.Kill)
	asked := questions(readSource(t, "../../examples/garden/catalog.csv", ','), readSource(t, files+"/orders.csv", ','),
		readSource(t, files+"/sensors.csv", ';'))
	if len(asked) != 40 {
		t.Errorf("%d questions", len(asked))
	}
	var calls []toolCall
	for _, q := range asked {
		calls = append(calls, toolCall{q.tool, q.arguments})
	}
	names, results := callTools(t, server.URL, calls)
	if want := []string{"aggregate", "describe_dataset", "get_record", "query_records",
		"search_datasets"}; !slices.Equal(names, want) {
		t.Errorf("the client found the tools %q", names)
	}
	for i, q := range asked {
		r := results[i]
		if r.Failed {
			t.Errorf("%s\n%v: %s", q.question, q.arguments, r.Text)
			continue
		}
		if got := q.answer(t, r); !sameAnswer(got, q.want) {
			t.Errorf("%s\n%v\nanswer %q, want %q\n%.2000s", q.question, q.arguments, got, q.want, r.Text)
		}
	}
}

// TestInterop_agentKeys connects with and without a key, and makes mistakes that the client must
// show.
func TestInterop_agentKeys(t *testing.T) {
	t.Parallel()
	programtest.NodeModules(t, "@modelcontextprotocol/sdk")
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "staff.csv"), "name,salary\nAna,100\nBo,200\n")
	settings := []string{"HERBARIUM_DATA=" + filepath.Join(t.TempDir(), "data"), "HERBARIUM_ACCESS=key"}
	server, err := programtest.Start(t.Context(), programtest.Options{Program: program, Args: []string{folder},
		Settings: settings})
	must.NoError(t, err)
	t.Cleanup(server.Kill)
	list := get(t, server.URL+"/api/v1?search=staff")
	ref := regexp.MustCompile(`"namespace":"([^"]+)"`).FindSubmatch(list)
	if ref == nil {
		t.Fatalf("the dataset is missing: %s", list)
	}
	dataset := string(ref[1]) + "/staff"
	sum := toolCall{"aggregate", map[string]any{"dataset": dataset, "measures": []string{"sum:salary"}}}
	typo := toolCall{"aggregate", map[string]any{"dataset": dataset, "measures": []string{"sum:salaries"}}}
	_, results := callTools(t, server.URL, []toolCall{sum, typo})
	for _, r := range results {
		if !r.Failed || !strings.Contains(r.Text, "requires a key with the scope data:read:"+dataset) ||
			strings.Contains(r.Text, "salary") {
			t.Errorf("without a key: %s", r.Text)
		}
	}
	_, results = callTools(t, server.URL, []toolCall{sum, typo}, "authorization=Bearer "+
		createKey(t, settings, "data:read:"+dataset))
	if rows := results[0].table(t); len(rows) != 2 || rows[1][0] != "300" {
		t.Errorf("with a key: %s", results[0].Text)
	}
	if !results[1].Failed || !strings.Contains(results[1].Text, `did you mean "salary"?`) {
		t.Errorf("a typo: %s", results[1].Text)
	}
}

// TestInterop_inspector lists and calls tools with the command line of the inspector.
func TestInterop_inspector(t *testing.T) {
	t.Parallel()
	modules := programtest.NodeModules(t, "@modelcontextprotocol/sdk")
	server, _ := startServer(t)
	inspect := func(args ...string) []byte {
		cmd := exec.CommandContext(t.Context(), "node", append([]string{
			filepath.Join(modules, "@modelcontextprotocol/inspector/clients/cli/build/index.js"), server.URL + "/mcp",
			"--transport", "http",
		}, args...)...)
		cmd.Env = append(os.Environ(), "MCP_CATALOG_PATH="+filepath.Join(t.TempDir(), "catalog.json"),
			"HOME="+t.TempDir())
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		must.NoError(t, err)
		return out
	}
	var list struct{ Tools []struct{ Name string } }
	must.NoError(t, json.Unmarshal(inspect("--method", "tools/list"), &list))
	if len(list.Tools) != 5 {
		t.Errorf("the inspector lists %v", list.Tools)
	}
	var result struct{ Content []struct{ Text string } }
	must.NoError(t, json.Unmarshal(inspect("--method", "tools/call", "--tool-name", "aggregate", "--tool-arg",
		"dataset=garden/catalog", "--tool-arg", `by=["category"]`,
		"--tool-arg", `sort=["-count"]`), &result))
	if len(result.Content) != 1 ||
		!strings.HasPrefix(result.Content[0].Text, "groups 1–14 of 14 (exact) over 513 records (exact); version ") {
		t.Errorf("the inspector shows %+v", result)
	}
}

// TestInterop_agentExamples runs the program of examples/agents and reads its settings.
func TestInterop_agentExamples(t *testing.T) {
	t.Parallel()
	server, _ := startServer(t)
	if _, err := exec.LookPath("python3"); err != nil {
		programtest.SkipWithout(t, "python3", "python3 is not installed")
	}
	cmd := exec.CommandContext(t.Context(), "python3", "tools.py", "query_records", "dataset=garden/catalog",
		"filters=category=tree", "filters=price[gt]=200", "fields=id", "sort=-price")
	cmd.Dir = "../../examples/agents"
	cmd.Env = append(os.Environ(), "HERBARIUM_URL="+server.URL)
	out, err := cmd.CombinedOutput()
	must.NoError(t, err)
	if !strings.HasPrefix(string(out), "rows 1–") || !strings.Contains(string(out), "\nid\n17\n238\n") {
		t.Errorf("got %s", out)
	}
	content, err := os.ReadFile("../../examples/agents/README.md")
	must.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(content, -1)
	for _, block := range blocks {
		var settings map[string]any
		if err := json.Unmarshal(block[1], &settings); err != nil ||
			!bytes.Contains(block[1], []byte(`http://127.0.0.1:8080/mcp"`)) {
			t.Errorf("%v: %s", err, block[1])
		}
	}
	if len(blocks) != 4 {
		t.Errorf("the guide has the settings of %d clients", len(blocks))
	}
}

// compareText orders texts by their bytes.
func compareText(a, b string) int { return cmp.Compare(a, b) }
