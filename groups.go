package accountant

// Theorem 2.14 of Dong, Roth and Su (JRSS-B 2022) for a whole plan: what persons with several
// records cost, from nothing but the privacy curve of one record. It assumes that every link of
// the chain of data sets has that curve, and so is not for samples of a fixed size under
// add-remove, whose rate grows as records leave. It returns an upper bound.

import (
	"context"
	"errors"
	"math"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// How many points of the curve are taken, how often its end is moved, and the least δ there.
// These steer how tight the bound is, and prove nothing: chords between any points lie above
// the curve.
const (
	groupPoints = 192
	endings     = 8
	leastEnd    = 1e-290
)

// group iterates the curve of one record, the larger of the two directions. The links of a chain
// are each a step of one record, the test of the whole chain is their tests one after another
// (docs/persons.md, theorem 3).
func (c *comparer) group(ctx context.Context) Comparison {
	row := Comparison{Method: "group privacy of one record's curve", Kind: UpperBound, Theorem: "Dong, Roth and Su, JRSS-B 2022, Theorem 2.14"}
	eps, err := c.groupEpsilon(ctx)
	switch {
	case err != nil:
		return notApplicable(row, err.Error())
	case math.IsInf(eps, 1):
		return notApplicable(row, "the curve of one record leaves no finite ε at this δ")
	}
	row.Epsilon, row.Note = eps, "knows the plan by its curve alone"
	return row
}

func (c *comparer) groupEpsilon(ctx context.Context) (float64, error) {
	if c.p.Neighbors == AddRemove {
		err := eachRun(ctx, c.p.Steps, 1, c.p.Neighbors, func(s Step, _ int64) error {
			if sized, ok := s.Sampling.(interface{ Population() int64 }); ok && sized.Population() > 0 {
				return errors.New("the rate of samples of a fixed size grows as records leave; compare under substitute")
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	one := *c.p
	one.RecordsPerPerson = 0
	a := one.Accountant(c.opts...)
	if err := a.AddPlan(ctx, &one); err != nil {
		return 0, err
	}
	records := c.p.Records()
	// What lies beyond the last point becomes an unlimited loss, and grows by e^ε at every link:
	// the last point is where that stays below δ, or as far as numbers go.
	last, end := 0.0, c.delta
	for range endings {
		iv, err := a.Epsilon(ctx, end)
		if err != nil {
			return 0, err
		}
		last = max(last, iv.Upper)
		next := max(leastEnd, 1e-3*c.delta*math.Exp(-float64(records)*last))
		if next >= end {
			break
		}
		end = next
	}
	xs := []float64{0}
	if last > 0 && !math.IsInf(last, 1) {
		for i := 1; i <= groupPoints; i++ {
			xs = append(xs, last*float64(i)/groupPoints)
		}
	}
	points, err := a.DeltaCurve(ctx, xs)
	if err != nil {
		return 0, err
	}
	up := make([]float64, len(points))
	for i, p := range points {
		up[i] = min(1, p.Upper)
	}
	curve, err := profiles.NewChords(xs, up, up)
	if err != nil {
		return 0, err
	}
	m := profiles.Bounds{Name: "curve", Relation: c.p.Neighbors, Directions: [2]profiles.Direction{{Upper: curve}, {Upper: curve}}}
	if m, err = subsample.Chain(m, records); err != nil {
		return 0, err
	}
	whole := New(c.p.Neighbors, c.opts...)
	if err := whole.AddBounds(m, 1); err != nil {
		return 0, err
	}
	iv, err := whole.Epsilon(ctx, c.delta)
	return max(0, iv.Upper), err
}
