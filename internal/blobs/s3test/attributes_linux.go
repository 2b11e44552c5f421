package s3test

import "syscall"

// attributes are those of a process that ends with this one, however it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
