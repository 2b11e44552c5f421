//go:build linux

package systemtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// readRecording returns a recording and the files of its archive.
func readRecording(t *testing.T, name string) (r recording, files map[string][]byte) {
	t.Helper()
	files = extract(t, recordingPath(name))
	must.NoError(t, json.Unmarshal(files[recordingFile], &r))
	return r, files
}

// installed returns the files of a recorded installation.
func installed(files map[string][]byte) map[string][]byte {
	stored := map[string][]byte{}
	for name, content := range files {
		if name, ok := strings.CutPrefix(name, filesPrefix); ok {
			stored[name] = content
		}
	}
	return stored
}

// load stores a recorded installation in an empty one. Idempotency keys and drafts expire, so they
// become as old as if they had been written now.
func (i *installation) load(t *testing.T, r recording, files map[string][]byte) {
	t.Helper()
	i.fill(t, installed(files), string(files[dumpFile]))
	now := fmt.Sprint(time.Now().UnixMicro())
	i.exec(t, "UPDATE retries SET created = "+now)
	if r.Publishes {
		i.exec(t, "UPDATE publishes SET updated = "+now)
	}
}

// TestRecorded opens the installations that earlier programs have written, in place, restored from
// their backups and migrated, and compares all responses with those of the earlier programs.
func TestRecorded(t *testing.T) {
	t.Parallel()
	s := newServices(t)
	for _, name := range recordings() {
		r, files := readRecording(t, name)
		c := recordedCase{r, files, s}
		cases := map[string]func(*testing.T){"in place": c.upgradeInPlace, "restored": c.restore, "migrated": c.migrate}
		if strings.HasPrefix(name, beforeRules) {
			cases = map[string]func(*testing.T){"rejected": c.reject, "restored": c.restore}
		}
		for how, test := range cases {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				test(t)
			})
		}
	}
}

// recordedCase is a recording with the files of its archive.
type recordedCase struct {
	recording
	files    map[string][]byte
	services *services
}

// open returns the recorded installation.
func (c recordedCase) open(t *testing.T) *installation {
	t.Helper()
	i := newFolder(t)
	if c.files[dumpFile] != nil {
		i = c.services.newShared(t)
	}
	i.load(t, c.recording, c.files)
	return i
}

func (c recordedCase) upgradeInPlace(t *testing.T) {
	i := c.open(t)
	if i.database != "" { // otherwise the server upgrades it
		i.run(t, "upgrade")
		c.checkCommands(t, i)
	}
	n := i.start(t)
	c.checkResponses(t, n, false)
	c.checkKeys(t, n)
	c.checkDraft(t, n)
	c.useInstallation(t, n, i)
}

func (c recordedCase) restore(t *testing.T) {
	backup := write(t, string(c.files[backupFile]), t.TempDir(), backupFile)
	for _, i := range []*installation{newFolder(t), c.services.newShared(t)} {
		_, checked, _ := strings.Cut(i.run(t, "restore", "--check", backup), ": ")
		restored := i.run(t, "restore", backup)
		for line := range strings.Lines(checked) {
			if !strings.Contains(restored, line) {
				t.Errorf("restore prints\n%s\nand --check has printed\n%s", restored, checked)
			}
		}
		n := i.start(t)
		c.checkResponses(t, n, true)
		c.checkKeys(t, n)
	}
}

func (c recordedCase) migrate(t *testing.T) {
	if c.files[dumpFile] != nil {
		return
	}
	from, to := c.open(t), c.services.newShared(t)
	from.run(t, "upgrade")
	c.checkCommands(t, from)
	to.run(t, "migrate", "--from", from.folder, "--to", to.database, "--blobs", to.blobs)
	n := to.start(t)
	c.checkResponses(t, n, true)
	c.checkKeys(t, n)
}

// reject expects that an installation from before 0.9.0 is rejected with a remedy.
func (c recordedCase) reject(t *testing.T) {
	i := newFolder(t)
	i.fill(t, installed(c.files), "")
	if out, code := i.try(t, "upgrade"); code != 1 ||
		!strings.Contains(out, "'herbarium restore' of this one into an empty data folder") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// checkCommands runs the recorded commands on an installation. Each recorded line must be printed,
// with additional members at most.
func (r recording) checkCommands(t *testing.T, i *installation) {
	t.Helper()
	for _, c := range r.Commands {
		lines := strings.Split(i.list(t, append(c.Args, "--json")...), "\n")
		for n, recorded := range strings.Split(c.Out, "\n") {
			if n >= len(lines) {
				t.Errorf("%s prints %d lines, and printed %s", strings.Join(c.Args, " "), len(lines), recorded)
				break
			}
			if why := missingMembers(recorded, lines[n]); why != "" {
				t.Errorf("%s prints %s\nand printed %s: %s", strings.Join(c.Args, " "), lines[n], recorded, why)
			}
		}
	}
}

// checkResponses sends the recorded requests. Records, counts and measures must be as recorded byte
// for byte; descriptions may have additional members, and responses additional tags. Tags are those
// of this program: repeating a request with one gives 304. In another database, the plants have
// another version.
func (r recording) checkResponses(t *testing.T, n *node, otherDatabase bool) {
	t.Helper()
	before, now := r.plantsVersion(t, n)
	if !otherDatabase && before != now {
		t.Errorf("the version of the plants is %s instead of %s", now, before)
	}
	for _, want := range r.Responses {
		want.Body = strings.ReplaceAll(want.Body, before, now)
		got := n.recordResponse(want.Path, r.Key)
		if strings.Contains(got.Body, `"partial":true`) { // a search skips datasets whose indexes are being rebuilt
			eventually(t, "the search is complete", func(context.Context) error {
				got = n.recordResponse(want.Path, r.Key)
				if strings.Contains(got.Body, `"partial":true`) {
					return errors.New(got.Body)
				}
				return nil
			})
		}
		switch {
		case want.Status >= http.StatusBadRequest && got.Status < http.StatusInternalServerError:
			// it may have become valid
		case got.Status != want.Status || got.Type != want.Type || got.Tag == "" && want.Tag != "":
			t.Errorf("GET %s: %d %s %s, recorded %d %s %s: %s", want.Path, got.Status, got.Type, got.Tag, want.Status,
				want.Type, want.Tag, got.Body)
		case got.Body == want.Body:
		case !isDescription(want.Path):
			t.Errorf("GET %s: %s\nrecorded: %s", want.Path, got.Body, want.Body)
		default:
			if why := missingMembers(want.Body, got.Body); why != "" {
				t.Errorf("GET %s: %s: %s\nrecorded: %s", want.Path, why, got.Body, want.Body)
			}
		}
		if t.Failed() {
			return // others would fail for the same reason
		}
	}
	for _, path := range []string{"/api/v1/garden/array/data", "/api/v1/garden/prices/data.csv"} {
		tag := n.recordResponse(path, r.Key).Tag
		if tag == "" {
			t.Errorf("GET %s has no entity tag", path)
		}
		n.expect(http.StatusNotModified, path, "If-None-Match", tag)
	}
}

// plantsVersion returns the version of the plants when the installation was recorded, and now.
func (r recording) plantsVersion(t *testing.T, n *node) (before, now string) {
	t.Helper()
	const path = "/api/v1/store/plants"
	var a, b struct{ Version string }
	for _, response := range r.Responses {
		if response.Path == path {
			must.NoError(t, json.Unmarshal([]byte(response.Body), &a))
		}
	}
	must.NoError(t, json.Unmarshal([]byte(n.expect(http.StatusOK, path).Body), &b))
	return a.Version, b.Version
}

// isDescription reports whether the response to a request describes datasets, and has no records.
func isDescription(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(strings.TrimPrefix(path, "/api/v1"), "/")
	return len(parts) <= 3 || parts[3] == "versions" || parts[3] == "descriptor"
}

// missingMembers says what of a recorded JSON value another one lacks; empty if nothing.
func missingMembers(recorded, got string) string {
	if recorded == got {
		return ""
	}
	var a, b any
	if err := json.Unmarshal([]byte(recorded), &a); err != nil {
		return err.Error()
	}
	if err := json.Unmarshal([]byte(got), &b); err != nil {
		return err.Error()
	}
	return missing("", a, b)
}

func missing(at string, recorded, got any) string {
	switch recorded := recorded.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return at + " is no object"
		}
		for name, value := range recorded {
			if why := missing(at+"."+name, value, object[name]); why != "" {
				return why
			}
		}
	case []any:
		list, ok := got.([]any)
		if ok && len(recorded) > 0 && isText(recorded[0]) { // such as the operators of a field
			for _, value := range recorded {
				if !slices.Contains(list, value) {
					return fmt.Sprintf("%s lacks %v", at, value)
				}
			}
			return ""
		}
		if !ok || len(list) != len(recorded) {
			return fmt.Sprintf("%s is no list of %d elements", at, len(recorded))
		}
		for n, value := range recorded {
			if why := missing(fmt.Sprintf("%s[%d]", at, n), value, list[n]); why != "" {
				return why
			}
		}
	default:
		if recorded != got {
			return fmt.Sprintf("%s is %v instead of %v", at, got, recorded)
		}
	}
	return ""
}

func isText(value any) bool { _, ok := value.(string); return ok }

// checkKeys expects that recorded keys have the rights that they had.
func (r recording) checkKeys(t *testing.T, n *node) {
	t.Helper()
	const vault = "/api/v1/vault/people/data"
	n.expect(http.StatusOK, vault, "X-API-Key", r.Key)
	n.expect(http.StatusUnauthorized, vault, "X-API-Key", r.Revoked)
	n.expect(http.StatusUnauthorized, vault)
}

// checkDraft expects that a recorded draft can be reviewed.
func (r recording) checkDraft(t *testing.T, n *node) {
	t.Helper()
	if r.Draft == "" {
		return
	}
	eventually(t, "the draft is reviewed", func(ctx context.Context) error {
		page := n.expect(http.StatusOK, r.Draft, "Cookie", "herbarium_key="+r.Key)
		if !strings.Contains(page.Body, "draft two") {
			return fmt.Errorf("it does not show the rows: %.2000s", page.Body)
		}
		return nil
	})
}

// useInstallation does on a recorded installation what a program of today does: it repeats a
// creation, creates a plant, publishes over HTTP, rolls back and lists kept versions.
func (r recording) useInstallation(t *testing.T, n *node, i *installation) {
	t.Helper()
	a, err := post(t.Context(), n.URL, r.Key, r.Retried.Body, "Idempotency-Key", r.Retried.IdempotencyKey)
	if err != nil || a.Status != http.StatusOK || a.Body != r.Retried.Response {
		t.Errorf("repeating a creation: %v %d %s, recorded %s", err, a.Status, a.Body, r.Retried.Response)
	}
	if a, err := post(t.Context(), n.URL, r.Key, `{"id":99,"name":"after the upgrade"}`); err != nil ||
		a.Status != http.StatusOK {
		t.Errorf("creating a plant: %v %d %s", err, a.Status, a.Body)
	}
	if p, err := list(t.Context(), n.URL, "store/plants", ""); err != nil || p.Meta.Total != 5 {
		t.Errorf("plants: %v, total %d, want 5", err, p.Meta.Total)
	}

	r.publishAndRollBack(t, n, i)
}

// publishAndRollBack publishes over HTTP, lists kept versions and rolls back.
func (r recording) publishAndRollBack(t *testing.T, n *node, i *installation) {
	t.Helper()
	const ref = "garden/prices"
	live := n.recordResponse("/api/v1/"+ref+"/data.csv", r.Key).Body
	version := n.expect(http.StatusOK, "/api/v1/"+ref+"/data").Header.Get("X-Dataset-Version")
	key := strings.TrimSpace(i.run(t, "keys", "create", "--name", "publisher", "--scope", "publish"))
	n.mustPut(ref, key, "id,name,price\n1,new,8\n")
	n.eventuallyExports(ref, "id,name,price\r\n1,new,8\r\n")
	kept := 0
	for _, response := range r.Responses {
		if !strings.Contains(response.Path, "_version=") {
			continue
		}
		switch got := n.recordResponse(response.Path, r.Key); {
		case got.Status == http.StatusGone: // the oldest one
		case got.Body != response.Body:
			t.Errorf("GET %s after a publish: %s\nrecorded: %s", response.Path, got.Body, response.Body)
		default:
			kept++
		}
	}
	if kept != 4 {
		t.Errorf("%d recorded versions are kept after a publish; want 4", kept)
	}
	rollback, err := programtest.Send(t.Context(), client, http.MethodPost, n.URL+"/api/v1/"+ref+
		"/rollback?_allow_exposure=true", `{"to":"`+version+`"}`,
		"X-API-Key", key, "Content-Type", "application/json")
	if err != nil || rollback.Status != http.StatusOK {
		t.Fatalf("rolling back: %v %d %s", err, rollback.Status, rollback.Body)
	}
	n.eventuallyExports(ref, live)
}

// eventuallyExports waits until a dataset is exported as CSV with a content. A node with an object
// store may list the version before a little longer.
func (n *node) eventuallyExports(ref, content string, header ...string) {
	n.t.Helper()
	eventually(n.t, "the version is listed", func(context.Context) error {
		got, err := n.request(http.MethodGet, "/api/v1/"+ref+"/data.csv", "", header...)
		if err == nil && got.Body != content {
			err = fmt.Errorf("it lists %q instead of %q", got.Body, content)
		}
		return err
	})
}
