package pgtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// attributes are those of a process that ends with this one, however it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
}

// children returns the processes that a process has started and that have not ended.
func children(parent int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, path := range stats {
		fields, err := stat(path)
		if err != nil {
			continue // it has ended in the meantime
		}
		if string(fields[1]) != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// cpu returns the processor time that a process has used; that of its children counts once they have ended.
func cpu(pid int) (time.Duration, error) {
	fields, err := stat(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	const tick = time.Second / 100 // on every machine that Linux runs on
	var sum time.Duration
	for _, field := range fields[11:15] { // user and system time, its own and its children's
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}

// stat returns the fields of /proc/PID/stat after the name, beginning with the state.
func stat(path string) ([][]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 15 {
		return nil, fmt.Errorf("%s has %d fields", path, len(fields))
	}
	return fields, nil
}
