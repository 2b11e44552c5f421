//go:build unix && !linux

package pgtest

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// attributes are those of a process that may outlive this one where it is killed: only Linux can prevent that.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// children returns the processes that a process has started and that have not ended.
func children(parent int) ([]int, error) {
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(parent)).Output()
	if err != nil {
		return nil, err
	}
	var pids []int
	for field := range strings.FieldsSeq(string(out)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

func cpu(int) (time.Duration, error) {
	return 0, errors.New("the processor time of other processes is known on Linux alone")
}
