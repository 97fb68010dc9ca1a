package gonumfft

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

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

// turn returns sine and cosine of 2πi/n, to a rounding or two: the angle is first brought below π/4.
func turn(i, n int) (sin, cos float64) {
	quarters := (4*i + n/2) / n
	sin, cos = math.Sincos(2 * math.Pi * float64(4*i-quarters*n) / float64(4*n))
	for range quarters % 4 {
		sin, cos = cos, -sin
	}
	return sin, cos
}

// A single input makes of each component the product of its twiddles, and of few inputs a sum: none is off by more than
// Componentwise says.
func TestComponentwise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	worst := 0.0
	for k := 1; k <= 16; k++ {
		n := 1 << k
		plan := fourier.NewFFT(n)
		for _, few := range []int{1, 1, 1, 3, 40} {
			x := make([]float64, n)
			var at []int
			size := 0.0
			for range few {
				j := rng.IntN(n)
				size += 1 - math.Abs(x[j])
				x[j] = math.Copysign(1, rng.Float64()-0.5)
				at = append(at, j)
			}
			slices.Sort(at)
			at = slices.Compact(at)
			got := plan.Coefficients(nil, x)
			for i := 0; i < len(got); i += 1 + n/256 {
				var re, im xmath.Sum
				for _, j := range at {
					sin, cos := turn(i*j%n, n)
					re.Add(x[j] * cos)
					im.Add(-x[j] * sin)
				}
				off := math.Hypot(real(got[i])-re.Value(), imag(got[i])-im.Value())
				worst = max(worst, off/size/Componentwise(n))
				if off > size*(Componentwise(n)+4*xmath.U) {
					t.Errorf("component %d of %d points, %d of them not 0: off by %g of their sum", i, n, few, off/size)
				}
			}
		}
	}
	if worst < 0.05 {
		t.Errorf("errors are at most %v of the bound", worst)
	}
	t.Log(worst)
}
