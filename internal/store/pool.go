package store

import "time"

// Pool is the use of the connections to a database by this process.
type Pool struct {
	InUse, Idle, Max int
	Waits            int64         // operations that waited for a connection so far
	Waited           time.Duration // all of them together
}
