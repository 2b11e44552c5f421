package filesystem

import "errors"

// Errors of TryLock.
var (
	ErrLocked           = errors.New("another process holds the lock")
	ErrLocksUnsupported = errors.New("the file system does not support locks")
)
