package ingest

import (
	"path/filepath"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/text"
)

// slug makes a name that can stand in an address out of one that people gave: lower case, without accents, every other
// run of characters a single '-'. The result need not be a valid name: there may be nothing left, or too much.
func slug(s string) string {
	var b strings.Builder
	for _, r := range text.Fold(s) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_', r == '.':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-_.")
}

// refFor names a dataset after a namespace and a name that people gave. path tells in a message what it is about.
func refFor(path, namespace, name string) (herb.Ref, error) {
	ref := herb.Ref{Namespace: slug(namespace), Name: slug(name)}
	for _, part := range []struct{ given, made string }{{namespace, ref.Namespace}, {name, ref.Name}} {
		if !herb.ValidName(part.made) {
			return ref, herb.Invalidf("%s: no dataset can be named after %q, because a name needs 1 to %d letters a-z and digits; "+
				"publish it under a name of your own with --as namespace/dataset", path, part.given, herb.MaxName)
		}
	}
	return ref, checkReserved(path, ref)
}

func checkReserved(path string, ref herb.Ref) error {
	if ref == herb.PlantsRef {
		return herb.Invalidf("%s: %s is where the plants that were created are listed; "+
			"publish it under another name with --as namespace/dataset", path, ref)
	}
	return nil
}

// refOfFile names a dataset after a file and its folder. The folder of a relative path is found first, so that
// catalog.csv is named as it would be from elsewhere.
func refOfFile(path string) (herb.Ref, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return herb.Ref{}, file.CannotRead(path, err)
	}
	base := file.Uncompressed(filepath.Base(abs))
	return refFor(path, filepath.Base(filepath.Dir(abs)), strings.TrimSuffix(base, filepath.Ext(base)))
}
