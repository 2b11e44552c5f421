//go:build !linux && !darwin

package filesystem

// DiskSpace reports that the free space is not known.
func DiskSpace(string) (free, total uint64, ok bool) { return 0, 0, false }
