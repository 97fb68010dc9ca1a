//go:build unix

package main

import (
	"github.com/dpaccountant/accountant/lab/try"

	"syscall"
)

// processor returns the processor time of this process in seconds.
func processor() float64 {
	var r syscall.Rusage
	try.Check(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}
