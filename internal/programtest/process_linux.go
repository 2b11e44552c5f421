package programtest

import "syscall"

// killWithParent makes the system kill a process when the one that started it ends.
func killWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
