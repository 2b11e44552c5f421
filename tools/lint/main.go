// Command lint runs the checks of go vet and staticcheck's default ones as a tool of go vet, which
// gives it what the compiler knows about imported packages. The staticcheck command analyzes the
// source of every dependency instead, which takes six times as long on a new machine; go vet by
// itself would load every package a second time.
package main

import (
	"encoding/json"
	"go/token"
	"os"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/analysis/unitchecker"
	"honnef.co/go/tools/analysis/facts/deprecated"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

const module = "herbarium"

func main() {
	if foreign(os.Args[len(os.Args)-1]) {
		unitchecker.Main(deprecated.Analyzer, printf.Analyzer)
	}
	analyzers := append(slices.Clone(vet.Suite), unusedCode())
	for _, a := range slices.Concat(simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers) {
		if !a.Doc.NonDefault {
			analyzers = append(analyzers, a.Analyzer)
		}
	}
	unitchecker.Main(analyzers...)
}

// foreign reports whether a package belongs to another module. Of such a package we want to know
// only what is deprecated and which functions format text: whether they are pure or return nil
// matters little and takes far longer to find.
func foreign(file string) bool {
	data, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	var unit unitchecker.Config
	return json.Unmarshal(data, &unit) == nil && unit.ModulePath != module
}

// unusedCode reports what neither a package nor its tests use. The staticcheck command does this
// outside of its analyzers.
func unusedCode() *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:     "unused",
		Doc:      "report unused code",
		Requires: []*analysis.Analyzer{unused.Analyzer.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			found := pass.ResultOf[unused.Analyzer.Analyzer].(unused.Result)
			// A field of a generic type has one object for each instance.
			used := make(map[token.Position]bool)
			for _, object := range found.Used {
				used[object.Position] = true
			}
			for _, object := range found.Unused {
				if !used[object.Position] {
					pass.Reportf(pos(pass, object.Position), "%s %s is unused (U1000)", object.Kind, object.Name)
				}
			}
			return nil, nil
		},
	}
}

func pos(pass *analysis.Pass, p token.Position) token.Pos {
	for _, file := range pass.Files {
		if f := pass.Fset.File(file.FileStart); f.Name() == p.Filename {
			return f.Pos(p.Offset)
		}
	}
	return token.NoPos
}
