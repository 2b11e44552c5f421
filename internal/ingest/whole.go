package ingest

import (
	"os"

	"herbarium/internal/herb"
)

// openWhole reads a format that is not read from its beginning to its end. The file is closed by the caller; what else
// the reader holds it gives back in Close, if it has one.
func openWhole(format Format, _ *os.File, _ Source) (rowReader, error) {
	return nil, herb.Invalidf("%s files cannot be published; save the data as CSV", format)
}
