package filesystem

import "errors"

// Errors of TryLock and LockShared.
var (
	ErrLocked           = errors.New("another process holds the lock")
	ErrLocksUnsupported = errors.New("the file system does not support locks")
)
