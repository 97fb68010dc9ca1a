package figure

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"
)

func labelsOf(ts []plot.Tick) (ls []string) {
	for _, t := range ts {
		if t.Label != "" {
			ls = append(ls, t.Label)
		}
	}
	return ls
}

func TestDecades(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   []string
	}{
		{0.001, 1e4, []string{"10⁻³", "10⁻²", "10⁻¹", "1", "10", "10²", "10³", "10⁴"}},
		{0.005, 2000, []string{"0.01", "0.1", "1", "10", "100", "1000"}},
		{-1, 20, nil},
		{1, 1, nil},
		{0.5, 20, []string{"1", "10"}},
		{0.3, 4, []string{"0.5", "1", "2"}},
		{1e-12, 2e-11, []string{"10⁻¹²", "10⁻¹¹"}},
		{1e-12, 1, []string{"10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "1"}},
	} {
		if got := labelsOf(Decades{}.Ticks(c.lo, c.hi)); !cmp.Equal(got, c.want) {
			t.Errorf("from %g to %g: %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
	for _, lo := range []float64{1e-300, 5e-324, 1e-40} {
		if n := len(labelsOf(Decades{}.Ticks(lo, 1))); n < 4 || n > 9 {
			t.Errorf("%d labels on an axis from %g", n, lo)
		}
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		whole  bool
		want   []string
	}{
		{0, 1, false, []string{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{0, 3, true, []string{"0", "1", "2", "3"}},
		{-0.5, 0.5, false, []string{"-0.4", "-0.2", "0", "0.2", "0.4"}},
		{0, 1e7, true, []string{"0", "2·10⁶", "4·10⁶", "6·10⁶", "8·10⁶", "10⁷"}},
		{0, 1e-9, false, []string{"0", "2·10⁻¹⁰", "4·10⁻¹⁰", "6·10⁻¹⁰", "8·10⁻¹⁰", "10⁻⁹"}},
		{0, math.Inf(1), false, nil},
		{1, 1, false, nil},
	} {
		if got := labelsOf(Round{c.whole}.Ticks(c.lo, c.hi)); !cmp.Equal(got, c.want) {
			t.Errorf("from %g to %g: %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}
