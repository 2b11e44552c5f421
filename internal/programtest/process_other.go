//go:build unix && !linux

package programtest

import "syscall"

// killWithParent does nothing where the system cannot do it.
func killWithParent(*syscall.SysProcAttr) {}
