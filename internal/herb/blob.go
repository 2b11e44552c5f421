package herb

import "time"

// Blob is a file in the store that all nodes share.
type Blob struct {
	Name     string
	Size     int64
	Modified time.Time
}
