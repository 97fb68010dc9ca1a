package allocation

import (
	"testing"

	"github.com/dpaccountant/accountant/fourier"
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
		if _, err := q.upper(s, 50); err != nil {
			t.Fatal(err)
		}
		if !(q.left < before) {
			t.Errorf("%v of the work was left, and %v after a cap", before, q.left)
		}
	}
}
