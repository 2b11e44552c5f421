package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// ReadTerms calls read with the terms of a file. Unlike Open, it reads neither the fields nor the positions of all other sections,
// which take most of the time of opening a file with many fields.
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
		var meta, terms []byte
		for ; len(toc) > 0; toc = toc[EntrySize:] {
			switch Tag(toc[:4]) {
			case TagTerms:
				s := decodeEntry(toc)
				terms = f.Data[s.Offset : s.Offset+s.Length]
			case TagMeta:
				s := decodeEntry(toc)
				meta = f.Data[s.Offset : s.Offset+s.Length]
				if crc32.Checksum(meta, castagnoli()) != s.CRC {
					return fmt.Errorf("%w: section %s", guard.ErrCorrupt, TagMeta)
				}
			}
		}
		if err := checkMetaRules(meta); err != nil {
			return err
		}
		table, err := OpenTable(terms)
		if err == nil {
			read(Strings{table})
		}
		return err
	})
	return errors.Join(err, f.Close())
}

// checkMetaRules checks the text rules in the META section. They are after the fields, which are not decoded.
func checkMetaRules(content []byte) error {
	afterFields := bytes.LastIndex(content, []byte(`"records":`))
	if afterFields < 0 {
		return fmt.Errorf("%w: section %s", guard.ErrCorrupt, TagMeta)
	}
	var meta Meta
	if err := json.Unmarshal(append([]byte("{"), content[afterFields:]...), &meta); err != nil {
		return fmt.Errorf("%w: description: %w", guard.ErrCorrupt, err)
	}
	return meta.checkRules(text.Rules())
}
