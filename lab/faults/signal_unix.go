//go:build unix

package faults

import "syscall"

// Stop stops the process.
func (w *Writers) Stop() error { return w.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue lets a process go on that was stopped.
func (w *Writers) Continue() error { return w.cmd.Process.Signal(syscall.SIGCONT) }

// limitFiles lets no file of this process have more than a number of bytes.
func limitFiles(n int64) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit) == nil {
		limit.Cur = min(uint64(n), limit.Max)
		_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	}
}
