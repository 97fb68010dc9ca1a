//go:build !unix

package xfft

import "time"

var started = time.Now()

// processor stands for the processor time, where there is no call for it: the time
// that has passed.
func processor() float64 { return time.Since(started).Seconds() }
