//go:build !linux

package dial

import "syscall"

// limitUnacknowledged does nothing: other systems have no such option, or one per machine.
func limitUnacknowledged(string, string, syscall.RawConn) error { return nil }
