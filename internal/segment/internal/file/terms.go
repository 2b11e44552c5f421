package file

import (
	"errors"
	"fmt"

	"herbarium/internal/segment/internal/guard"
)

// ReadTerms calls read with the terms of a file. Unlike Open, it reads neither the fields nor the
// positions of all other sections, which take most of the time of opening a file with many fields.
func ReadTerms(path string, read func(terms Strings)) error {
	f, err := openMap(path)
	if err != nil {
		return err
	}
	err = f.Guard(func() error {
		toc, err := encodedTable(f.Data)
		if err != nil {
			return err
		}
		var meta, terms Section
		for ; len(toc) > 0; toc = toc[EntrySize:] {
			switch Tag(toc[:4]) {
			case TagTerms:
				terms = decodeEntry(toc)
			case TagMetadata:
				meta = decodeEntry(toc)
			}
		}
		if err := f.readMeta(meta, false); err != nil {
			return err
		}
		if err := f.checkIndex(); err != nil {
			return err
		}
		if terms.Tag != TagTerms || meta.Tag != TagMetadata {
			return fmt.Errorf("%w: section %s or %s is missing", guard.ErrCorrupt, TagTerms, TagMetadata)
		}
		table, err := OpenTable(f.content(terms))
		if err == nil {
			read(Strings{table})
		}
		return err
	})
	return errors.Join(err, f.Close())
}
