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
	factors []Factor
	tables  []*table // the one used last is the last
	scale   terms
}

// terms are factors of the terms of the certificate: 1, except in the tests that
// prove that each of them is needed.
type terms struct {
	aliasing, truncation, transform, rounding, infinite float64
}

// keptTables bounds how many tables a composition keeps: a curve needs a few of
// them in turn, a running total one or two.
const keptTables = 6

// New returns the composition of factors.
func New(factors ...Factor) (*Composition, error) {
	c := &Composition{scale: terms{1, 1, 1, 1, 1}}
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
	c.factors[i].Count = count
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

// finite returns log m₀ and log m₁, the logarithms of the masses that P and Q have
// where the loss is finite, to a relative error of 8u: a few for log1p, one for a
// count above 2^53, the sum compensated.
func (c *Composition) finite() (logM0, logM1 float64) {
	var a, b xmath.Sum
	for _, f := range c.factors {
		p, q := f.Transform.Infinite()
		if p > 0 {
			a.AddProduct(float64(f.Count), math.Log1p(-p))
		}
		if q > 0 {
			b.AddProduct(float64(f.Count), math.Log1p(-q))
		}
	}
	return a.Value(), b.Value()
}
