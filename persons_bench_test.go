package accountant_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
)

// Groups of up to 64 records should cost at most three times what one record does.
func BenchmarkPersons(b *testing.B) {
	for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
		for _, rate := range []float64{256. / 60000, 0.01, 0.1} {
			for _, records := range []int64{1, 2, 8, 64} {
				b.Run(fmt.Sprintf("%v/rate=%.3g/records=%d", r, rate, records), func(b *testing.B) {
					for range b.N {
						iv, err := personsRun(b, r, 1.1, rate, 1000, records).Epsilon(context.Background(), 1e-5)
						if err != nil {
							b.Fatal(err)
						}
						b.ReportMetric((iv.Upper-iv.Lower)/iv.Upper, "width")
						b.ReportMetric(iv.Upper, "ε")
					}
				})
			}
		}
	}
}

// userTime is the processor time of this process so far.
func userTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano())
}

// BenchmarkPersonsGrid writes the processor time of every cell of a grid, and over that of one
// record at the same question. PERSONS_GRID narrows it: "relation,q,σ,T,δ", each of
// them empty for all.
func BenchmarkPersonsGrid(b *testing.B) {
	want := strings.Split(os.Getenv("PERSONS_GRID")+",,,,", ",")
	chosen := func(i int, x string) bool { return want[i] == "" || want[i] == x }
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	var cells, missed int
	worst := 0.0
	for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
		for _, rate := range []float64{1e-4, 1e-3, 1e-2, 0.1, 0.3} {
			for _, sigma := range []float64{0.5, 1, 3, 10} {
				for _, steps := range []int64{1, 100, 1e4, 1e5} {
					for _, delta := range []float64{1e-5, 1e-10, 1e-30} {
						if !chosen(0, r.String()) || !chosen(1, number(rate)) || !chosen(2, number(sigma)) || !chosen(3, number(float64(steps))) || !chosen(4, number(delta)) {
							continue
						}
						line := fmt.Sprintf("%-10v q=%-6g σ=%-4g T=%-6d δ=%-5g", r, rate, sigma, steps, delta)
						var one time.Duration
						for _, records := range []int64{1, 2, 8, 64} {
							var iv accountant.Interval
							runs, from, took := 0, userTime(), time.Duration(0)
							for took < 10*time.Millisecond {
								var err error
								if iv, err = personsRun(b, r, sigma, rate, steps, records).Epsilon(context.Background(), delta); err != nil {
									b.Fatal(line, err)
								}
								runs, took = runs+1, userTime()-from
							}
							took /= time.Duration(runs)
							if records == 1 {
								one = took
							}
							ratio := float64(took) / float64(one)
							line += fmt.Sprintf(" | %7.2fms %6.1fx %.4g w%.0e %s", float64(took)/1e6, ratio, iv.Upper, (iv.Upper-iv.Lower)/iv.Upper, iv.Engine)
							if cells++; ratio > 3 {
								missed++
							}
							worst = max(worst, ratio)
						}
						fmt.Println(line)
					}
				}
			}
		}
	}
	b.ReportMetric(float64(cells), "cells")
	b.ReportMetric(float64(missed), "above3x")
	b.ReportMetric(worst, "worst")
}
