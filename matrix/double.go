package matrix

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A double is the number hi + lo, |lo| ≤ ulp(hi)/2: about 106 bits. Sums of numbers of one
// sign, products and quotients have a relative error of at most 16u² (Joldes, Muller and
// Popescu, ACM TOMS 2017: at most 3u², 5u²
// and 15u² + O(u³)), as long as nothing
// underflows, which the range of entries excludes (minEntry).
//
// Every sum of this package is reached from exact float64 in at most 2^40 operations one
// after the other, so that 2^40·16·2^-106 = 2^-62 bounds its relative error; where signs
// make it subtract there is a bound of 2^-57 beside the sum. That is less than a tenth
// of an ulp: rounded to a float64 it is within one ulp of the truth.
type double struct{ hi, lo float64 }

// twoSum returns a + b exactly.
func twoSum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// quick returns hi + lo, normalised, for |hi| ≥ |lo|.
func quick(hi, lo float64) double {
	s := hi + lo
	return double{s, lo - (s - hi)}
}

func (a double) add(b double) double {
	s, t := twoSum(a.hi, b.hi), twoSum(a.lo, b.lo)
	v := quick(s.hi, s.lo+t.hi)
	return quick(v.hi, t.lo+v.lo)
}

func (a double) neg() double         { return double{-a.hi, -a.lo} }
func (a double) sub(b double) double { return a.add(b.neg()) }

func (a double) mul(b double) double {
	p := a.hi * b.hi
	e := math.FMA(a.hi, b.hi, -p)
	return quick(p, e+(math.FMA(a.hi, b.lo, a.lo*b.hi)))
}

// times returns a·x.
func (a double) times(x float64) double {
	p := a.hi * x
	return quick(p, math.FMA(a.lo, x, math.FMA(a.hi, x, -p)))
}

// square returns x² exactly.
func square(x float64) double {
	p := x * x
	return double{p, math.FMA(x, x, -p)}
}

// ratio returns a/x.
func (a double) ratio(x float64) double {
	q := a.hi / x
	return quick(q, (math.FMA(-q, x, a.hi)+a.lo)/x)
}

// over returns a/b.
func (a double) over(b double) double {
	q := a.hi / b.hi
	r := a.sub(b.times(q))
	return quick(q, r.hi/b.hi)
}

// sqrt returns √a for a ≥ 0: one step of Newton's method from the square root of hi.
func (a double) sqrt() double {
	if a.hi == 0 {
		return double{}
	}
	r := math.Sqrt(a.hi)
	return quick(r, a.sub(square(r)).hi/(2*r))
}

func (a double) abs() double {
	if a.hi < 0 {
		return a.neg()
	}
	return a
}

func (a double) less(b double) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func larger(a, b double) double {
	if a.less(b) {
		return b
	}
	return a
}

// up and down are float64 above and below a quantity that is known to a tenth of an ulp.
func (a double) up() float64   { return xmath.Up(a.hi, 1) }
func (a double) down() float64 { return xmath.Down(a.hi, 1) }
