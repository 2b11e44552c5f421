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
	var out bytes.Buffer
	declaration := regexp.MustCompile(`^import (?:\{.*\} from )?"\./(.*)";$`)
	comment := regexp.MustCompile("\\s+// [^\"'`]*$") // a string would end with a quote
	joined := map[string]bool{}
	var join func(name string) error
	join = func(name string) error {
		if joined[name] {
			return nil
		}
		joined[name] = true
		module, ok := a.files[name]
		if !ok {
			return fmt.Errorf("join scripts: no such module %q", name)
		}
		var code bytes.Buffer
		for line := range bytes.Lines(module.content) {
			line = bytes.TrimSpace(line)
			switch imported := declaration.FindSubmatch(line); {
			case imported != nil:
				if err := join(string(imported[1])); err != nil {
					return err
				}
				continue
			case bytes.HasPrefix(line, []byte("import ")):
				return fmt.Errorf("join scripts: %s: unsupported import: %s", name, line)
			case len(line) == 0, bytes.HasPrefix(line, []byte("//")):
				continue
			}
			line = comment.ReplaceAll(line, nil)
			if name != entry {
				line = bytes.TrimPrefix(line, []byte("export "))
			}
			code.Write(line)
			code.WriteByte('\n')
		}
		out.Write(code.Bytes())
		if name != entry {
			delete(a.files, name)
		}
		return nil
	}
	if err := join(entry); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
