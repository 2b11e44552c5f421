package web

import (
	"bytes"
	"fmt"
	"regexp"
)

// bundle returns a module and the modules that it imports, directly or not, as one module without comments and indentation, and
// removes those from the assets. A page with a module per component would wait for a request per module.
//
// The modules share one scope, so their top-level names are unique: browsers reject a script that declares a name twice.
// Imports are declarations of one line. Only the exports of the entry remain.
func (a *assets) bundle(entry string) ([]byte, error) {
	imports := regexp.MustCompile(`(?m)^import (?:\{.*\} from )?"\./(.*)";\n`)
	comments := regexp.MustCompile("(?m)^\\s*//.*\n|\\s+// [^\"'`\n]*$") // a string would end with a quote
	indentation, exports := regexp.MustCompile(`(?m)^\s+`), regexp.MustCompile(`(?m)^export `)
	var out bytes.Buffer
	joined := map[string]bool{}
	var join func(name string) error
	join = func(name string) error {
		module, ok := a.files[name]
		switch {
		case joined[name]:
			return nil
		case !ok:
			return fmt.Errorf("join scripts: no such module %q", name)
		}
		joined[name] = true
		for _, imported := range imports.FindAllSubmatch(module.content, -1) {
			if err := join(string(imported[1])); err != nil {
				return err
			}
		}
		code := indentation.ReplaceAll(comments.ReplaceAll(imports.ReplaceAll(module.content, nil), nil), nil)
		if unsupported := regexp.MustCompile(`(?m)^import .*`).Find(code); unsupported != nil {
			return fmt.Errorf("join scripts: %s: unsupported import: %s", name, unsupported)
		}
		if name != entry {
			code = exports.ReplaceAll(code, nil)
			delete(a.files, name)
		}
		out.Write(code)
		return nil
	}
	if err := join(entry); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
