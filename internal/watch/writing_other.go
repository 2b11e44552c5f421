//go:build !linux

package watch

// isOpenForWriting cannot be answered here, so time decides.
func isOpenForWriting(string) bool { return true }
