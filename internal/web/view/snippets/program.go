package snippets

import (
	"embed"
	"strings"
	"sync"
	"text/template"
)

//go:embed programs/*.tmpl
var programFiles embed.FS

// programs parses the templates. It panics if one is invalid.
var programs = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"json": quoteJSON, "shell": quoteShell, "m": quoteM, "sheets": quoteSheets,
		"names": func(names []string, indent string) string { return quoteAll(names, quoteJSON, indent) },
		"types": func(names []string, kind string) string {
			typed := func(name string) string { return "{" + quoteM(name) + ", type " + kind + "}" }
			return quoteAll(names, typed, "        ")
		},
		"casts": func(names []string, kind string) string {
			cast := func(name string) string {
				return "TRY_CAST(" + quoteName(name) + " AS " + kind + ") AS " + quoteName(name)
			}
			return quoteAll(names, cast, "  ")
		},
	}).ParseFS(programFiles, "programs/*.tmpl"))
})

// program returns a program for a Call or a File. It panics if the template does not match.
func program(name string, data any) string {
	var b strings.Builder
	err := programs().ExecuteTemplate(&b, name+".tmpl", data)
	if err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
