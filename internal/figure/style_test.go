package figure

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecades(t *testing.T) {
	labels := func(lo, hi float64) (ls []string) {
		for _, tick := range (Decades{}).Ticks(lo, hi) {
			ls = append(ls, tick.Label)
		}
		return ls
	}
	for _, c := range []struct {
		lo, hi float64
		want   []string
	}{
		{0.001, 1e4, []string{"1e-3", "0.01", "0.1", "1", "10", "100", "1000", "10⁴"}},
		{-1, 20, nil},
		{0.5, 20, []string{"1", "10"}},
		{1e-12, 2e-11, []string{"1e-12", "1e-11"}},
	} {
		if got := labels(c.lo, c.hi); !cmp.Equal(got, c.want) {
			t.Errorf("from %g to %g: %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
	n := 0
	for _, l := range labels(1e-300, 1) {
		if l != "" {
			n++
		}
	}
	if n < 4 || n > 9 {
		t.Errorf("%d labels on an axis of 300 decades", n)
	}
}
