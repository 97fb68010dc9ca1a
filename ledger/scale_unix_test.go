//go:build unix

package ledger

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// A scale is how many entries the ledgers of BenchmarkOpenScale have, and how many different plans.
var scale = struct{ entries, plans int }{fromEnv("LEDGER_TEST_ENTRIES", 1_000_000), fromEnv("LEDGER_TEST_PLANS", 1000)}

// fromEnv returns the number that a variable of the environment has.
func fromEnv(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// scaleConfigs have room for everything that scaleLedger writes.
var scaleConfigs = []Config{
	{Neighbors: profiles.AddRemove, Epsilon: 1e6, Delta: 1e-6, Mode: Planned},
	{Neighbors: profiles.AddRemove, Epsilon: 1e6, Delta: 1e-6, Mode: Adaptive, Orders: []float64{1.5, 2, 3, 4, 8}},
	{Neighbors: profiles.AddRemove, Epsilon: 1e6, Delta: 1e-6, Mode: AdaptiveGaussian},
}

// scaleLedger writes a ledger of entries in which several plans come in turn.
func scaleLedger(tb testing.TB, c Config, entries, plans int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "scale.ledger")
	l, err := Create(tb.Context(), File(path), c)
	if err != nil {
		tb.Fatal(err)
	}
	file := readFile(tb, path)
	head := l.state.head
	for i := range entries {
		plan := fmt.Appendf(nil, `{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":%v}}}]}`, 10000+i%plans)
		line, sum, err := encodeLine(head, entry{Time: "2026-01-01T00:00:00Z", Note: "training, May", Plan: storedPlan(plan)})
		if err != nil {
			tb.Fatal(err)
		}
		file, head = append(file, line...), sum
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// BenchmarkOpenScale opens ledgers of a million entries.
func BenchmarkOpenScale(b *testing.B) {
	for _, c := range scaleConfigs {
		for _, plans := range []int{1, scale.plans} {
			path := scaleLedger(b, c, scale.entries, plans)
			b.Run(fmt.Sprintf("%s/plans=%d", c.Mode, plans), func(b *testing.B) {
				b.ReportAllocs()
				before := userSeconds(b)
				defer func() { b.ReportMetric((userSeconds(b)-before)/float64(b.N), "user-s/op") }()
				for b.Loop() {
					if l, err := Open(b.Context(), File(path)); err != nil || l.state.entries != scale.entries {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkOpenCheckpoint opens ledgers of a million entries, no two of one plan, with a checkpoint behind them.
func BenchmarkOpenCheckpoint(b *testing.B) {
	zero := 0.0
	for _, c := range scaleConfigs {
		path := scaleLedger(b, c, scale.entries, scale.entries)
		// What it says makes no difference to the time.
		claim := sums{Epsilon: []point{{c.Delta, 1}}}
		switch c.Mode {
		case Adaptive:
			claim = sums{Renyi: []*float64{&zero, &zero, &zero, &zero, &zero}}
		case AdaptiveGaussian:
			claim = sums{Renyi: []*float64{&zero}}
		}
		file := readFile(b, path)
		last, _, _ := decodeLine(file[bytes.LastIndexByte(file[:len(file)-1], '\n')+1:])
		line, _, err := encodeLine(last.Sum, checkpoint{int64(scale.entries), now(), program(), int64(scale.entries), claim})
		if err != nil {
			b.Fatal(err)
		}
		writeFile(b, path, append(file, line...))
		b.Run(string(c.Mode), func(b *testing.B) {
			b.ReportAllocs()
			before := userSeconds(b)
			defer func() { b.ReportMetric((userSeconds(b)-before)/float64(b.N), "user-s/op") }()
			for b.Loop() {
				if l, err := Open(b.Context(), File(path)); err != nil || l.state.summed != scale.entries {
					b.Fatal(err)
				}
			}
		})
	}
}

// userSeconds is how long this process has computed, which other programs on the machine do not change much.
func userSeconds(b *testing.B) float64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return float64(use.Utime.Sec) + 1e-6*float64(use.Utime.Usec)
}

// BenchmarkSpendFile spends from a file by several goroutines of one process, one flush at a time.
func BenchmarkSpendFile(b *testing.B) {
	for _, n := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("goroutines=%d", n), func(b *testing.B) {
			l, err := Create(b.Context(), File(filepath.Join(b.TempDir(), "spend.ledger")), scaleConfigs[1])
			if err != nil {
				b.Fatal(err)
			}
			plan := []byte(`{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":10000}}}]}`)
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			b.ResetTimer()
			for range n {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						if err := l.SpendPlan(b.Context(), plan, ""); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
