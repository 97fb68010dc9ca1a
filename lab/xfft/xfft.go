// Package xfft gives measurements a unit that does not drift with the machine, written x-fft. It is
// the processor time of one real FFT of 65,536 points of gonum, taken in the same run. It assumes
// that nothing else of the process computes meanwhile; other processes do not count.
package xfft

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Unit returns the processor time of one real FFT of 65,536 points, in seconds.
func Unit() float64 {
	const points, times = 65536, 10
	fft, x, dst := fourier.NewFFT(points), make([]float64, points), make([]complex128, points/2+1)
	for i := range x {
		x[i] = math.Sin(float64(i * i))
	}
	start := Processor()
	for range times {
		fft.Coefficients(dst, x)
	}
	return (Processor() - start) / times
}

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
