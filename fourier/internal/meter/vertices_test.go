package meter

import (
	"context"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestVertices: a law gets what the work that is left buys, but for the least without which nothing is known, and
// none once its context is done.
func TestVertices(t *testing.T) {
	gaussian, err := profiles.NewGaussian(1)
	if err != nil {
		t.Fatal(err)
	}
	count := func(m *Meter, most int) (n int) {
		for v := m.Vertices(gaussian); n < most && !v.Stop(); n++ {
		}
		return n
	}
	var total float64
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		work float64
		want int
	}{{5000 * PerVertex, 5000}, {0, leastVertices}, {-1e9, leastVertices}} {
		if n := count(New(ctx, c.work, 1, &total), 1e6); n != c.want {
			t.Errorf("%d vertices for %v, want %d", n, c.work, c.want)
		}
	}
	if n := count(nil, 1e6); n != 1e6 {
		t.Errorf("%d vertices without a meter", n)
	}
	cancel()
	if n := count(New(ctx, 1e9, 1, &total), 1e6); n != 0 || total != 0 {
		t.Errorf("%d vertices after the end, %v spent", n, total)
	}
}
