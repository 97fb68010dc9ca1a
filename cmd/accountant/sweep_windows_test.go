package main

import "os"

// maxMemory is not known; its test is skipped.
func maxMemory(*os.ProcessState) int64 { return 0 }
