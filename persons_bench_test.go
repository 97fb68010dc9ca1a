package accountant_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
)

// userTime is the processor time of this process so far.
func userTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano())
}

// BenchmarkPersonsGrid writes the processor time of every cell of a grid, and over that of one
// record at the same question; at the end, for each δ, a row: how many cells of
// several records take more than three times as long as one record, median and worst. PERSONS_GRID
// narrows it: "relation,q,σ,T,δ", each of them empty for all.
func BenchmarkPersonsGrid(b *testing.B) {
	want := strings.Split(os.Getenv("PERSONS_GRID")+",,,,", ",")
	chosen := func(i int, x string) bool { return want[i] == "" || want[i] == x }
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, delta := range []float64{1e-5, 1e-10, 1e-30} {
		if !chosen(4, number(delta)) {
			continue
		}
		var ratios []float64
		missed, wide, worst := map[int64]int{}, 0, ""
		for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
			for _, rate := range []float64{1e-4, 1e-3, 1e-2, 0.1, 0.3} {
				for _, sigma := range []float64{0.5, 1, 3, 10} {
					for _, steps := range []int64{1, 100, 1e4, 1e5} {
						if !chosen(0, r.String()) || !chosen(1, number(rate)) || !chosen(2, number(sigma)) || !chosen(3, number(float64(steps))) {
							continue
						}
						line := fmt.Sprintf("%-10v q=%-6g σ=%-4g T=%-6d δ=%-5g", r, rate, sigma, steps, delta)
						var one float64
						for _, records := range []int64{1, 2, 8, 64} {
							took, iv := personsCost(b, r, sigma, rate, steps, records, delta)
							if records == 1 {
								one = took
							} else {
								ratios = append(ratios, took/one)
								if took > 3*one {
									missed[records]++
								}
								if took/one >= slices.Max(ratios) {
									worst = fmt.Sprintf("%v, rate %g, σ %g, %d runs, %d records", r, rate, sigma, steps, records)
								}
							}
							if len(iv.Warnings) > 0 {
								wide++
							}
							line += fmt.Sprintf(" | %7.2fms %6.1fx %.4g w%.0e %s", took, took/one, iv.Upper, (iv.Upper-iv.Lower)/iv.Upper, iv.Engine)
						}
						fmt.Println(line)
					}
				}
			}
		}
		slices.Sort(ratios)
		n := len(ratios)
		fmt.Printf("| %g | %d | %d (%d, %d, %d) | %.2g | %.2g | %.2g: %s | %d |\n", delta, n, missed[2]+missed[8]+missed[64], missed[2], missed[8], missed[64],
			ratios[n/2], ratios[n*95/100], ratios[n-1], worst, wide)
		b.ReportMetric(float64(missed[2]+missed[8]+missed[64]), "above3x")
		b.ReportMetric(ratios[n-1], "worst")
	}
}

// personsCost returns the processor time of an answer in milliseconds, the least of three measurements of 5 ms and more.
func personsCost(b *testing.B, r profiles.Relation, sigma, rate float64, steps, records int64, delta float64) (took float64, iv accountant.Interval) {
	took = math.Inf(1)
	for range 3 {
		runs, from, spent := 0, userTime(), time.Duration(0)
		for spent < 5*time.Millisecond {
			var err error
			if iv, err = personsRun(b, r, sigma, rate, steps, records).Epsilon(context.Background(), delta); err != nil {
				b.Fatal(err)
			}
			runs, spent = runs+1, userTime()-from
		}
		if took = min(took, float64(spent)/1e6/float64(runs)); spent > 100*time.Millisecond {
			break
		}
	}
	return took, iv
}
