//go:build unix && !linux

package pgtest

import (
	"os/exec"
	"strconv"
	"strings"
)

// children returns the running processes that a process has started.
func children(parent int) (pids []int, err error) {
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(parent)).Output()
	for field := range strings.FieldsSeq(string(out)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, err
}
