//go:build !unix

package main

import "time"

var start = time.Now()

// processor returns the time since the program started in seconds: there is no portable
// processor time.
func processor() float64 { return time.Since(start).Seconds() }
