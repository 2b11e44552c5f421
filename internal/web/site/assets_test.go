package site

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestModules requires that pages preload every module that app.js imports, each once, and that all
// are served.
func TestModules(t *testing.T) {
	t.Parallel()
	a := newAssets(os.DirFS("../assets"), "/open")
	var names []string
	for _, address := range a.modules("app.js") {
		name := path.Base(address)
		if !strings.HasPrefix(address, "/open/assets/") || len(a.files[name].plain()) == 0 ||
			slices.Contains(names, name) {
			t.Errorf("%s is not served, or twice", address)
		}
		names = append(names, name)
	}
	for _, name := range []string{"dom.js", "idiomorph.js", "failure.js"} { // the last two by other modules
		if !slices.Contains(names, name) {
			t.Errorf("%s is not among %v", name, names)
		}
	}
	if slices.Contains(names, "selection.js") {
		t.Error("selection.js is imported on demand")
	}
}
