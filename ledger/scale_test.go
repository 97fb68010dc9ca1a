package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/dpaccountant/accountant"
)

// A scale is how many entries the ledgers of BenchmarkOpenScale have, and how many different plans.
var scale = struct{ entries, plans int }{scaleOf("LEDGER_TEST_ENTRIES", 1_000_000), scaleOf("LEDGER_TEST_PLANS", 1000)}

func scaleOf(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// scaleConfigs have room for everything that scaleLedger writes.
var scaleConfigs = []Config{
	{Neighbors: accountant.AddRemove, Epsilon: 1e6, Delta: 1e-6, Mode: Planned},
	{Neighbors: accountant.AddRemove, Epsilon: 1e6, Delta: 1e-6, Mode: Adaptive, Orders: []float64{1.5, 2, 3, 4, 8}},
	{Neighbors: accountant.AddRemove, Epsilon: 1e6, Delta: 1e-6, Mode: AdaptiveGaussian},
}

// scaleLedger writes a ledger of entries in which several plans come in turn.
func scaleLedger(tb testing.TB, c Config, entries, plans int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "scale.ledger")
	l, err := Create(path, c)
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
				for b.Loop() {
					if l, err := Open(b.Context(), path); err != nil || l.state.entries != scale.entries {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
