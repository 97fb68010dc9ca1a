package accountant

// Theorem 2.14 of Dong, Roth and Su (JRSS-B 2022) for a whole plan: what persons with several
// records cost, from nothing but the privacy curve of one record. It assumes that every link of
// the chain of data sets has that curve, and so is not for samples of a fixed size under
// add-remove, whose rate grows as records leave. It returns an upper bound.

import (
	"context"
	"errors"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
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

// GroupEpsilon returns an upper bound of ε at δ, in (0, 1), for a plan whose persons have several records, from nothing
// but the certified privacy curve of one record: the iterate of its trade-off curve. It holds under the relation of the
// plan. Accountant.Epsilon knows more of a plan and is never above what is proved of it; this is for comparison, and
// for what one can say who knows the curve alone. Plans are refused that an accountant refuses, and those whose links do
// not all have the curve of one record: samples of a fixed size under add-remove.
//
// Source: Dong, Roth and Su (JRSS-B 2022), Theorem 2.14; subsample/chain.go, theorem 3.
func (p *Plan) GroupEpsilon(ctx context.Context, delta float64, opts ...Options) (float64, error) {
	if !(delta > 0 && delta < 1) {
		return 0, fault.New("delta", "%v is not in (0, 1)", delta)
	}
	if p.Records() < 2 {
		return 0, fault.New("records-per-person", "%d is not at least 2, which the curve of a group takes", p.Records())
	}
	a := p.Accountant(opts...)
	ctx, stop := a.opts.within(ctx)
	defer stop()
	// What is refused there, such as mechanisms that are about persons already, is here too.
	if err := a.AddPlan(ctx, p); err != nil {
		return 0, err
	}
	return groupEpsilon(ctx, p, delta, opts)
}

// groupEpsilon iterates the curve of one record of a plan, the larger of the two directions, and
// returns ε at δ. The links of a chain are each a step of one record, the test of the whole chain
// is their tests one after another (subsample/chain.go, theorem 3).
func groupEpsilon(ctx context.Context, p *Plan, delta float64, opts []Options) (float64, error) {
	if err := equalLinks(p); err != nil {
		return 0, err
	}
	one := *p
	one.RecordsPerPerson = 0
	a := one.Accountant(opts...)
	if err := a.AddPlan(ctx, &one); err != nil {
		return 0, err
	}
	records := p.Records()
	// What lies beyond the last point becomes an unlimited loss, and grows by e^ε at every link:
	// the last point is where that stays below δ, or as far as numbers go.
	last, end := 0.0, delta
	finite, unlimited := 1.0, 0.0 // δ at which ε is finite, and at which it is not
	for range endings {
		iv, err := a.Epsilon(ctx, end)
		if err != nil {
			return 0, err
		}
		if math.IsInf(iv.Upper, 1) {
			unlimited = end
		} else {
			last, finite = max(last, iv.Upper), end
		}
		next := max(leastEnd, 1e-3*delta*math.Exp(-float64(records)*last))
		if next <= unlimited {
			next = math.Sqrt(unlimited * finite) // as far as losses are finite
		}
		if next >= finite || unlimited >= delta {
			break
		}
		end = next
	}
	xs := []float64{0}
	if last > 0 {
		for i := 1; i <= groupPoints; i++ {
			xs = append(xs, last*float64(i)/groupPoints)
		}
	}
	points, err := a.DeltaCurve(ctx, xs)
	if err != nil {
		return 0, err
	}
	up := make([]float64, len(points))
	for i, point := range points {
		up[i] = min(1, point.Upper)
	}
	curve, err := profiles.NewChords(xs, up, up)
	if err != nil {
		return 0, err
	}
	m := profiles.Bounds{Name: "curve", Relation: p.Neighbors, Directions: [2]profiles.Direction{{Upper: curve}, {Upper: curve}}}
	if m, err = subsample.Chain(m, records); err != nil {
		return 0, err
	}
	whole := New(p.Neighbors, opts...)
	if err := whole.AddBounds(m, 1); err != nil {
		return 0, err
	}
	iv, err := whole.Epsilon(ctx, delta)
	return max(0, iv.Upper), err
}

// equalLinks returns an error unless the curve of one record is that of every link of a chain:
// of a sampling under which the part of a record depends on the number of the others that is
// so only where that number stays.
func equalLinks(p *Plan) (err error) {
	eachStep(p.Steps, "steps", func(path string, s Step) {
		if _, poisson := subsample.AsPoisson(s.Sampling); poisson || s.Sampling == nil {
			return
		}
		if _, fixed := subsample.AsFixedSize(s.Sampling); fixed {
			if p.Neighbors == profiles.AddRemove && err == nil {
				err = fault.In(path, errors.New("the rate of samples of a fixed size grows as records leave; compare under substitute"))
			}
			return
		}
		if e := subsample.CheckChain(s.Sampling, p.Neighbors, p.Records()); e != nil && err == nil {
			err = fault.In(path, e)
		}
	})
	return err
}
