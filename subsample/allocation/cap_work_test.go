package allocation

import (
	"errors"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
)

// TestCapsShareTheWork: what one cap has cost is gone for the next: the search for one ends.
func TestCapsShareTheWork(t *testing.T) {
	b, err := profiles.NewGaussianMechanism(1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewTruncated(0.01, 50, 1000)
	if err != nil {
		t.Fatal(err)
	}
	q := newCapQuestion(t.Context(), b, profiles.AddRemove, 10, 1e-5, fourier.Options{Relative: 1e-2})
	for range 2 {
		before := q.left
		if _, err := q.upper(s.(truncatedScheme), 50); err != nil {
			t.Fatal(err)
		}
		if !(q.left < before) {
			t.Errorf("%v of the work was left, and %v after a cap", before, q.left)
		}
	}
}

// TestSubstituteWithinWork: under a limit the laws of a substitution are wider, and not missing: rows of the table share the
// work, on the finest grids that it pays for. Without a limit ε is in [12.894, 13.095], for 4.5e8. Before there was a law
// of 1e8 or none, and what was refused was paid for.
func TestSubstituteWithinWork(t *testing.T) {
	b, err := profiles.NewGaussianMechanism(1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewRandom(1000)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.WithOneDraw(10); err != nil {
		t.Fatal(err)
	}
	s = sharp(s, target{Delta: 1e-6, Relative: 0.5, Runs: 1})
	for _, c := range []struct{ limit, most float64 }{{1e6, math.Inf(1)}, {1.2e7, 14.5}, {5e7, 13.6}} {
		ctx := parallel.WithWork(t.Context(), c.limit)
		m, err := s.Bounds(ctx, b, profiles.Substitute)
		spent, _ := parallel.Work(ctx)
		if math.IsInf(c.most, 1) {
			if !errors.Is(err, parallel.ErrWork) || spent > 0 {
				t.Errorf("work %v: %v after %v, want the work limit before any", c.limit, err, spent)
			}
			continue
		}
		if err != nil {
			t.Errorf("work %v: %v", c.limit, err)
			continue
		}
		low, up := epsilonOf(m.Directions[0].Lower, 1e-6), epsilonOf(m.Directions[0].Upper, 1e-6)
		if !(low <= 13.095 && up >= 12.894 && up <= c.most && low >= 11) || spent > c.limit+leastRowWork {
			t.Errorf("work %v: [%v, %v] for %v, want at most %v", c.limit, low, up, spent, c.most)
		}
	}
}
