package ledger

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpaccountant/accountant/internal/xfft"
)

// distinctPlan is entry i of n, each with its own rate and noise.
func distinctPlan(rate, sigma float64) []byte {
	return fmt.Appendf(nil, `{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":%v}},"sampling":{"poisson":{"rate":%v}},"count":10}]}`, sigma, rate)
}

// longLedger writes a ledger of n distinct entries.
func longLedger(tb testing.TB, n int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "budget.ledger")
	var file []byte
	head := ""
	write := func(content any) {
		line, sum, err := encodeLine(head, content)
		if err != nil {
			tb.Fatal(err)
		}
		file, head = append(file, line...), sum
	}
	write(header{1, "add-remove", 0, budgetOfMany, 1e-6, Planned, nil, "2026-01-01T00:00:00Z"})
	for i := range n {
		plan := distinctPlan(0.005+0.01*float64(i)/float64(n), 0.8+1.2*float64((7*i)%n)/float64(n))
		write(entry{Time: "2026-01-01T00:00:00Z", Plan: json.RawMessage(plan)})
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// BenchmarkOneMoreEntry is another entry of a ledger that is open, and what all of
// it costs then: new is a distinct one, again one that is there already.
func BenchmarkOneMoreEntry(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		for _, kind := range []string{"new", "again"} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				l, err := Open(b.Context(), longLedger(b, n))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := l.Status(b.Context()); err != nil {
					b.Fatal(err)
				}
				i := 0
				xfft.Measure(b, nil, func() {
					plan := distinctPlan(0.01, 1)
					if i++; kind == "new" {
						plan = distinctPlan(0.01+1e-7*float64(i), 1)
					}
					if err := l.SpendPlan(b.Context(), plan, ""); err != nil {
						b.Fatal(err)
					}
					if st, err := l.Status(b.Context()); err != nil || !(st.Spent.Epsilon.Upper < budgetOfMany) {
						b.Fatal(st.Spent, err)
					}
				})
			})
		}
	}
}

// budgetOfMany is more than any ledger here spends.
const budgetOfMany = 1000

// encodeLine returns the line of a content as a file has it, and its checksum.
func encodeLine(prev string, content any) (line []byte, sum string, err error) {
	l, err := newLine(prev, content)
	return l.text(), l.Sum, err
}
