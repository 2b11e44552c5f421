package web

import (
	"bytes"
	"strings"
	"testing"
)

func TestBundle(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{
		"app.js":  []byte("// Entry.\nimport \"./nav.js\";\nimport { $ } from \"./dom.js\";\n\nexport { $ };\nrun();\n"),
		"nav.js":  []byte("import { $ } from \"./dom.js\";\nexport function run() {\n  $(\"a // text\"); // comment\n}\n"),
		"dom.js":  []byte("export const $ = 1;\n"),
		"docs.js": []byte("alone();\n"),
	}
	err := bundle(files, "app.js")
	if want := "const $ = 1;\nfunction run() {\n$(\"a // text\");\n}\nexport { $ };\nrun();\n"; err != nil || string(files["app.js"]) != want {
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

func TestAssets_comments(t *testing.T) {
	t.Parallel()
	for name, f := range newAssets("").files {
		if plain := f.plain(); strings.HasSuffix(name, ".css") && name != "swagger-ui.css" && (bytes.Contains(plain, []byte("/*")) || len(plain) == 0) {
			t.Errorf("%s has comments", name)
		}
	}
}
