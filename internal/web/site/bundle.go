package site

import (
	"fmt"
	"regexp"
	"strings"
)

// bundle joins a module and the modules that it imports, directly or not, into one module without
// comments and indentation. A page with a module per component would wait for a request per module.
//
// The modules share one scope, so their top-level names are unique: browsers reject a script that
// declares a name twice. Imports are declarations of one line. Only the exports of the entry
// remain.
func bundle(files map[string][]byte, entry string) error {
	imports := regexp.MustCompile(`^import (?:\{.*\} from )?"\./(.*)";$`)
	types := regexp.MustCompile(`/\*\* @.*? \*/ ?`) // comments that declare types
	var script []byte
	joined := map[string]bool{}
	var join func(name string) error
	join = func(name string) error {
		module, ok := files[name]
		if !ok && !joined[name] {
			return fmt.Errorf("join scripts: no such module %q", name)
		}
		joined[name] = true
		delete(files, name)
		for line := range strings.Lines(string(module)) {
			line = strings.TrimSpace(types.ReplaceAllString(line, ""))
			if i := strings.LastIndex(line, " // "); i >= 0 && !strings.ContainsAny(line[i:], "\"'`") { // not in a string
				line = strings.TrimSpace(line[:i])
			}
			if imported := imports.FindStringSubmatch(line); imported != nil {
				if err := join(imported[1]); err != nil {
					return err
				}
				continue
			}
			if strings.HasPrefix(line, "import ") {
				return fmt.Errorf("join scripts: %s: unsupported import: %s", name, line)
			}
			if name != entry {
				line = strings.TrimPrefix(line, "export ")
			}
			if line != "" && !strings.HasPrefix(line, "//") {
				script = append(append(script, line...), '\n')
			}
		}
		return nil
	}
	err := join(entry)
	files[entry] = script
	return err
}
