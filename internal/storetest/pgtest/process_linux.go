package pgtest

import (
	"path/filepath"
	"strconv"

	"herbarium/internal/programtest"
)

// children returns the running processes that a process has started.
func children(parent int) (pids []int, err error) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return nil, err
		}
		if fields, err := programtest.Stat(pid); err == nil && fields[1] == strconv.Itoa(parent) { // or it has ended
			pids = append(pids, pid)
		}
	}
	return pids, err
}
