//go:build !unix

package xfft

import "time"

var started = time.Now()

// Processor stands for the processor time, where there is no call for it: the time
// that has passed.
func Processor() float64 { return time.Since(started).Seconds() }
