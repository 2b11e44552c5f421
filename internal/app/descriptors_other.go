//go:build !unix

package app

// maxDescriptors returns 0: the limit is unknown.
func maxDescriptors() int { return 0 }
