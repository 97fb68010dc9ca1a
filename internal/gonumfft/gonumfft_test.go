package gonumfft

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// TestMaxLength: no length up to MaxLength has more than the 13 factors that gonum's table holds, and the next but one does.
func TestMaxLength(t *testing.T) {
	factors := func(n int) (count int) { // as gonum takes them
		for _, f := range []int{4, 2, 3, 5} {
			for ; n%f == 0; n /= f {
				count++
			}
		}
		if n != 1 {
			t.Errorf("a factor %d is left", n)
		}
		return count
	}
	for n := 2; ; {
		n = Length(n)
		if n > MaxLength {
			break
		}
		if c := factors(n); c > 13 {
			t.Errorf("%d has %d factors", n, c)
		}
		n++
	}
	if n := Length(70_000_000); factors(n) <= 13 {
		t.Errorf("%d has 13 factors or fewer: MaxLength can be larger", n)
	}
	if n := Length(MaxLength); n != MaxLength {
		t.Errorf("%d points are rounded up to %d", MaxLength, n)
	}
	for _, n := range []int{2, 9, 1 << 20, MaxLength} {
		if e := Eta(n); !(e > 0 && e <= 14*26*xmath.U) || math.IsNaN(e) {
			t.Errorf("Eta(%d) = %v", n, e)
		}
	}
}
