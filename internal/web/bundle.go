package web

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
)

// bundle returns a copy of files in which a module and the modules that it imports, directly or not, are one module without comments
// and indentation. A page with a module per component would wait for a request per module.
//
// The modules share one scope, so their top-level names are unique: browsers reject a script that declares a name twice.
// Imports are declarations of one line. Only the exports of the entry remain.
func bundle(files map[string]asset, entry string) (map[string]asset, error) {
	imports := regexp.MustCompile(`(?m)^import (?:\{.*\} from )?"\./(.*)";\n`)
	comments := regexp.MustCompile("(?m)^\\s*//.*\n|\\s+// [^\"'`\n]*$") // a string would end with a quote
	indentation, exports := regexp.MustCompile(`(?m)^\s+`), regexp.MustCompile(`(?m)^export `)
	var out bytes.Buffer
	bundled := maps.Clone(files)
	joined := map[string]bool{}
	var join func(name string) error
	join = func(name string) error {
		module, ok := files[name]
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
			delete(bundled, name)
		}
		out.Write(code)
		return nil
	}
	if err := join(entry); err != nil {
		return nil, err
	}
	bundled[entry] = asset{contentType: files[entry].contentType, content: out.Bytes()}
	return bundled, nil
}
