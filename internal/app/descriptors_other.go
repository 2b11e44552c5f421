//go:build !unix

package app

// MaxDescriptors returns 0: the limit is unknown.
func MaxDescriptors() int { return 0 }
