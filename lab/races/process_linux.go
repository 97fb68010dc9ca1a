package main

import (
	"os/exec"
	"runtime"
	"syscall"
)

// inGroup has a process begin a group, for killGroup; it ends with this one, which the signals of a terminal no longer reach
// together. The thread that starts it must be the main one, as it is whose death counts.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func init() { runtime.LockOSThread() } // the main goroutine keeps the main thread

// killGroup ends a process and all that it has started.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
