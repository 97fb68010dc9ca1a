package pate

import (
	"math"
	"testing"
)

// near fails unless got is within rel of want, relatively.
func near(t *testing.T, name string, got, want, rel float64) {
	t.Helper()
	if got == want {
		return
	}
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s = %.17g, want %.17g (relative difference %.2g, allowed %.2g)", name, got, want, math.Abs(got-want)/math.Abs(want), rel)
	}
}

// digits is the relative tolerance of a golden value given to d digits.
func digits(d int) float64 { return 0.51 * math.Pow(10, float64(1-d)) }

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// padded returns n with zeros up to m classes.
func padded(m int, n ...int64) []int64 { return append(n, make([]int64, m-len(n))...) }
