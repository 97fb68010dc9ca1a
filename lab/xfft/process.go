package xfft

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// ProcessorOf returns what a process has used until now, with those of its children that it has waited for: fields 14 to 17 of
// proc_pid_stat(5), in hundredths of a second. It is 0 once the process is gone, and where there is no /proc.
func ProcessorOf(pid int) time.Duration {
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
