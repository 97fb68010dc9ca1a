//go:build unix

package main

import (
	"os"
	"syscall"
)

// maxMemory is the most memory that a process had, in KB on linux.
func maxMemory(p *os.ProcessState) int64 { return int64(p.SysUsage().(*syscall.Rusage).Maxrss) }
