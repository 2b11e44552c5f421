package site

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestBundle(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{
		"app.js":  []byte("// Entry.\nimport \"./nav.js\";\nimport { $ } from \"./dom.js\";\n\nexport { $ };\nrun();\n"),
		"nav.js":  []byte("import { $ } from \"./dom.js\";\nexport function run() {\n  $(\"a // text\"); // comment\n}\n"),
		"dom.js":  []byte("/** @type {number} */\nexport const $ = /** @type {any} */ (1);\n"),
		"docs.js": []byte("alone();\n"),
	}
	err := bundle(files, "app.js")
	if want := "const $ = (1);\nfunction run() {\n$(\"a // text\");\n}\nexport { $ };\nrun();\n"; err != nil || string(files["app.js"]) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, files["app.js"], want)
	}
	if len(files) != 2 || files["docs.js"] == nil {
		t.Errorf("the bundled files are %v", files)
	}
	for _, wrong := range []string{`import "./gone.js";`, `import * as nav from "./nav.js";`, "import {\n  $,\n} from \"./dom.js\";"} {
		files["app.js"] = []byte(wrong)
		if err := bundle(files, "app.js"); err == nil || !strings.Contains(err.Error(), "join scripts") {
			t.Errorf("%s gives %v", wrong, err)
		}
	}
}

// TestAssets_imports requires that every module is served: those in the bundle are not.
func TestAssets_imports(t *testing.T) {
	t.Parallel()
	served := newAssets(os.DirFS("../assets"), "").files
	imports := regexp.MustCompile(`(?m)^import .*"\./(.*)";$`)
	for name, f := range served {
		for _, imported := range imports.FindAllSubmatch(f.plain(), -1) {
			if _, ok := served[string(imported[1])]; !ok {
				t.Errorf("%s imports %s, which is not served; import it from app.js", name, imported[1])
			}
		}
	}
}

func TestAssets_comments(t *testing.T) {
	t.Parallel()
	for name, f := range newAssets(os.DirFS("../assets"), "").files {
		if plain := f.plain(); strings.HasSuffix(name, ".css") && name != "swagger-ui.css" && (bytes.Contains(plain, []byte("/*")) || len(plain) == 0) {
			t.Errorf("%s has comments", name)
		}
	}
}
