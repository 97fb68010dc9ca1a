package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// inGroup has a process begin a group, for killGroup; it ends with this one, which the signals of a terminal no longer reach
// together. The thread that starts it must be the main one, as it is whose death counts.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func init() { runtime.LockOSThread() } // the main goroutine keeps the main thread

// killGroup ends a process and all that it has started.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// processorTime is what a process has used until now, with those of its children that it has waited for: fields 14 to 17 of
// proc_pid_stat(5), in hundredths of a second. It is 0 once the process is gone.
func processorTime(pid int) time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := bytes.Cut(text, []byte(") ")) // the name, field 2, may hold spaces
	fields := bytes.Fields(after)                // from field 3 on
	if len(fields) < 15 {
		return 0
	}
	sum := 0
	for _, f := range fields[11:15] {
		n, _ := strconv.Atoi(string(f))
		sum += n
	}
	return time.Duration(sum) * 10 * time.Millisecond
}
