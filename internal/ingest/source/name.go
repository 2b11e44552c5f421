package source

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/text"
)

// slug makes the name of a dataset or namespace from another name: lower case, without accents, every run of other
// characters replaced by '-'. The result may be empty or too long.
func slug(s string) string {
	return strings.Trim(otherCharacters.ReplaceAllString(text.Fold(s), "-"), "-_.")
}

var otherCharacters = regexp.MustCompile(`[^a-z0-9_.]+`)

// NewRef returns the reference of a dataset that is named after a namespace and a name. path begins error messages.
func NewRef(path, namespace, name string) (herb.Ref, error) {
	ref := herb.Ref{Namespace: slug(namespace), Name: slug(name)}
	for _, part := range []struct{ given, made string }{{namespace, ref.Namespace}, {name, ref.Name}} {
		if !herb.ValidName(part.made) {
			return ref, herb.Invalidf("%s: cannot name a dataset after %q, because a name needs 1 to %d letters a-z and digits; "+
				"set a name with --as namespace/dataset", path, part.given, herb.MaxName)
		}
	}
	return ref, CheckReserved(path, ref)
}

// CheckReserved rejects the reference of the plants.
func CheckReserved(path string, ref herb.Ref) error {
	if ref == herb.PlantsRef {
		return herb.Invalidf("%s: %s is reserved for created plants; set another name with --as namespace/dataset", path, ref)
	}
	return nil
}

// Stem returns the name of a file without its extensions.
func Stem(path string) string {
	base := filepath.Base(file.Uncompressed(path))
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// UniqueNames returns names for columns: column_3 if the third has none, name_2, name_3 … if a name occurs again. A name
// that occurs is not given to another column.
func UniqueNames(names []string) []string {
	used := make(map[string]bool, len(names))
	for _, n := range names {
		used[n] = true
	}
	out := make([]string, len(names))
	seen := make(map[string]bool, len(names))
	next := map[string]int{} // number to try for a repeated name
	for i, name := range names {
		base := cmp.Or(name, "column_"+strconv.Itoa(i+1))
		out[i] = base
		isFirst := name != "" && !seen[name]
		for n := max(next[base], 2); !isFirst && used[out[i]]; n++ {
			out[i] = base + "_" + strconv.Itoa(n)
			next[base] = n + 1
		}
		seen[name], used[out[i]] = true, true
	}
	return out
}

// Located adds the path of a file to an error, unless the message begins with it.
func Located(path string, err error) error {
	e, ok := errors.AsType[*herb.Error](err)
	switch {
	case !ok:
		return fmt.Errorf("reading %s: %w", path, err)
	case strings.HasPrefix(e.Message, path+":"):
		return err
	}
	return herb.Wrap(e.Code, e.Err, "%s: %s", path, e.Message)
}
