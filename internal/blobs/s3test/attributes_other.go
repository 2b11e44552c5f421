//go:build unix && !linux

package s3test

import "syscall"

// attributes are those of a process that may outlive this one where it is killed: only Linux can prevent that.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
