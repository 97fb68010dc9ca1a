package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
)

// TestOrder: at the README's run random allocation costs no more than Poisson sampling, which
// costs no more than with a cap; a shuffle is between its attack and a fixed order.
func TestOrder(t *testing.T) {
	s := service.New(nil)
	lower, upper := map[string]float64{}, map[string]float64{}
	for _, w := range ways() {
		lower[w.batching], upper[w.batching] = w.cost(t.Context(), s, "1.1")
	}
	for _, c := range [][2]float64{
		{upper[service.RandomAllocation], lower[service.Poisson]},
		{upper[service.Poisson], upper[service.TruncatedPoisson]},
		{4 * upper[service.RandomAllocation], lower[service.Shuffle]},
		{lower[service.Shuffle], upper[service.Shuffle]},
		{upper[service.Shuffle] * (1 - 1e-3), upper[service.FixedOrder]},
		{upper[service.Poisson], lower[service.WithoutReplacement]},
	} {
		if !(c[0] <= c[1]) {
			t.Errorf("%v is above %v", c[0], c[1])
		}
	}
}

func TestPicture(t *testing.T) {
	dir := t.TempDir()
	run(t.Context(), dir, 2)
	data, err := os.ReadFile(filepath.Join(dir, "batching.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(data), "\n"); lines != 1+2*len(ways()) {
		t.Errorf("%d lines", lines)
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "batching.svg")); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("no picture: %v", err)
	}
}
