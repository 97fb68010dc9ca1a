// The factors of a composition, and what it keeps between questions.
//
// It assumes that equal factors were put together. It returns the masses of the finite losses, and keeps
// tables, the cumulant and Chernoff bounds as long as they serve.

package contour

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Factor is a transform to the power of a count.
type Factor struct {
	Transform transform.Transform
	Count     int64
}

// A Composition is a product of factors, together with the tables of earlier
// questions. A factor that is added, or a count that is changed, costs a column of
// such a table and not the table, as long as the table still serves. Equal factors
// are the caller's to merge.
//
// The answers depend on the questions asked before only in digits that are not
// certified. The same sequence of calls gives the same bits on any number of cores.
// A Composition is not safe for concurrent use.
type Composition struct {
	factors   []Factor
	bump      *transform.Bump // with which finite laws are asked; nil: none
	lattice   *lattice        // on which all factors are laws; nil: they are not
	tables    []*table        // the one used last is the last
	scale     terms
	known     *cumulant // of the factors as they are, nil when it is not known
	bounds    []*bound  // Chernoff's, the one used last is the first
	boundNear float64   // the best line for the last of them
}

// terms are factors of the terms of the certificate: 1, except in the tests that
// prove that each of them is needed.
type terms struct {
	aliasing, truncation, transform, rounding, infinite float64
}

// keptTables bounds how many tables a composition keeps: a curve needs a few of
// them in turn, a running total one or two.
const keptTables = 6 // steers: memory for time

// New returns the composition of factors.
func New(factors ...Factor) (*Composition, error) {
	c := &Composition{scale: terms{aliasing: 1, truncation: 1, transform: 1, rounding: 1, infinite: 1}}
	for _, f := range factors {
		if _, err := c.Add(f); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Add adds a factor and returns its index.
func (c *Composition) Add(f Factor) (int, error) {
	if f.Transform == nil {
		return 0, fmt.Errorf("transform: nil is not a transform")
	}
	if f.Count < 1 {
		return 0, fmt.Errorf("count: %d is not in [1, %d]", f.Count, int64(math.MaxInt64))
	}
	c.factors = append(c.factors, f)
	c.known = nil
	return len(c.factors) - 1, nil
}

// SetCount changes the count of factor i.
func (c *Composition) SetCount(i int, count int64) error {
	if i < 0 || i >= len(c.factors) {
		return fmt.Errorf("factor: %d is not in [0, %d]", i, len(c.factors)-1)
	}
	if count < 1 {
		return fmt.Errorf("count: %d is not in [1, %d]", count, int64(math.MaxInt64))
	}
	if c.factors[i].Count != count {
		c.factors[i].Count = count
		c.known = nil
	}
	return nil
}

// Len returns the number of factors.
func (c *Composition) Len() int { return len(c.factors) }

// runs is ΣT_i.
func (c *Composition) runs() float64 {
	var s float64
	for _, f := range c.factors {
		s += float64(f.Count)
	}
	return s
}

// A mass is the logarithm of m₀ or m₁, the masses that P and Q have where the loss is
// finite, and the bound of its error. 0 without an error says that there is nothing else.
type mass struct{ log, err float64 }

// infinite returns the logarithm of a lower bound of what is missing to 1, its value, and that
// of an upper bound. A law below a profile may have more than 1; then nothing is known.
func (m mass) infinite() (low, mid, high float64) {
	low, mid, high = math.Inf(-1), math.Inf(-1), math.Inf(1)
	missing := func(log, sign float64) float64 {
		x := xmath.Log(-math.Expm1(log))
		return x + sign*8*xmath.U*(1+math.Abs(x))
	}
	if m.log < 0 {
		mid = missing(m.log, 0)
	}
	if m.log+m.err < 0 {
		low = missing(m.log+m.err, -1)
	}
	if least := m.log - m.err; least < 0 {
		high = missing(least, 1)
	}
	return low, mid, high
}

// A massTotal adds up the masses of factors. M(0) and M(−1) are values of the transforms: what
// they prove, and not the rounded masses at infinity, is what the certificate may use.
type massTotal struct{ sum, err total }

func (a *massTotal) add(f Factor, infinite, s float64) {
	if infinite == 0 {
		return
	}
	k, _, err := f.Transform.Real(s)
	a.sum.add(float64(f.Count), k)
	a.err.add(float64(f.Count), err)
}

func (a *massTotal) value(share float64) mass {
	m := mass{a.sum.sum.Value(), math.Inf(1)}
	if !math.IsInf(a.err.abs, 0) && !math.IsNaN(a.err.abs+m.log) {
		m.err = a.err.above(share) + 2*xmath.U*math.Abs(m.log) + 1.01*share*a.sum.abs
	}
	return m
}

// finite returns the logarithms of m₀ and m₁.
func (c *Composition) finite() (m0, m1 mass) {
	var a, b massTotal
	for _, f := range c.factors {
		p, q := f.Transform.Infinite()
		a.add(f, p, 0)
		b.add(f, q, -1)
	}
	// One rounding for a count above 2^53.
	return a.value(2 * xmath.U), b.value(2 * xmath.U)
}
