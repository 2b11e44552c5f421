package herb

import "time"

// Blob is a file in an object store.
type Blob struct {
	Name     string
	Size     int64
	Modified time.Time // by the clock of the object store
}
