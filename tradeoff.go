package accountant

// The trade-off function: the best test between neighbours at each false-positive rate. Directions,
// and the proved pair and the attack, are taken apart here; one pair is package internal/besttest.

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/besttest"
	"github.com/dpaccountant/accountant/profiles"
)

// A TradeOffPoint tells how well the best test, of false-positive rate Alpha,
// tells two neighbouring data sets apart: the worst over all of them and over
// the directions of the relation.
type TradeOffPoint struct {
	Alpha float64
	// TypeII is the trade-off function f(α), the false-negative rate. Lower is
	// proved for every attacker, Upper is what a concrete attack reaches.
	TypeII Range
	// Power is 1 − f(α), the true-positive rate: each of the two keeps its relative
	// accuracy where it is small. Upper is proved for every attacker.
	Power     Range
	Direction string // of the relation, that the proved bound comes from
	Warnings  []string
}

// TradeOff returns the trade-off function of everything added so far, at
// false-positive rates in (0, 1).
//
// A test that says "P" on the set S has the false-positive rate Q(S) and the
// true-positive rate P(S). For one direction with h(x) = sup_S P(S) − x·Q(S) =
// δ(log x),
//
//	1 − f(α) = sup{P(S): Q(S) ≤ α} = inf over x > 0 of h(x) + αx
//
// (Neyman and Pearson; the duality of Dong, Roth and Su 2022, section 2.3), over
// all real ε = log x. What a finite grid of x proves is in package internal/besttest.
//
// Directions are taken apart; the attacker has the better of the two. With a
// theory gap the proved bound is that of the dominating pair, and the attack is
// that of the concrete pair, each from its own δ.
func (a *Accountant) TradeOff(ctx context.Context, alphas []float64) ([]TradeOffPoint, error) {
	for _, alpha := range alphas {
		if err := checkAlpha(alpha); err != nil {
			return nil, err
		}
	}
	ctx, stop := a.opts.within(ctx)
	defer stop()
	if a.ways != nil {
		return a.tradeOffOfWays(ctx, alphas)
	}
	t, err := a.total(ctx, spread(alphas), fineDelta)
	if err != nil {
		return nil, err
	}
	a.expectMany()
	return t.tradeOff(ctx, alphas)
}

func checkAlpha(alpha float64) error {
	if !(alpha >= minAlpha && alpha < 1) {
		return fmt.Errorf("false-positive rate: %v is not in [%v, 1)", alpha, minAlpha)
	}
	return nil
}

// tradeOff is TradeOff of a total.
func (t *total) tradeOff(ctx context.Context, alphas []float64) ([]TradeOffPoint, error) {
	x, err := t.tests(alphas)
	if err != nil {
		return nil, err
	}
	points := make([]TradeOffPoint, len(alphas))
	progress(t.opts, 0, len(alphas))
	for i, alpha := range alphas {
		if points[i], _, err = x.best(ctx, alpha); err != nil {
			return nil, err
		}
		progress(t.opts, i+1, len(alphas))
	}
	for i := range points {
		points[i].Warnings = x.warnings()
	}
	return points, nil
}

// power returns the true-positive rate of the best test at a false-positive rate, as an
// answer like those of Epsilon and Delta.
func (a *Accountant) power(ctx context.Context, alpha float64) (Interval, error) {
	ctx, stop := a.opts.within(ctx)
	defer stop()
	if a.ways != nil {
		return a.worstWay(func(w *Accountant) (Interval, error) { return w.power(ctx, alpha) })
	}
	alphas := []float64{alpha}
	t, err := a.total(ctx, spread(alphas), fineDelta)
	if err != nil {
		return Interval{}, err
	}
	x, err := t.tests(alphas)
	if err != nil {
		return Interval{}, err
	}
	p, gap, err := x.best(ctx, alpha)
	if err != nil {
		return Interval{}, err
	}
	iv := Interval{Range: p.Power, Direction: p.Direction, Warnings: x.warnings()}
	if t.theory {
		iv.Gap = &gap
	}
	return iv, iv.finish()
}

// tests are the pairs of distributions that tests tell apart: by direction what is proved,
// and what a concrete pair of data sets has, the same where the profiles are known exactly.
// The second direction is nil where it mirrors the first.
type tests struct {
	names          [2]string
	proved, attack [2]*besttest.Pair
}

// tests returns the pairs of a total, to be asked at false-positive rates.
func (t *total) tests(alphas []float64) (tests, error) {
	t.expectMany()
	x := tests{names: t.relation.DirectionNames()}
	for d := range 2 {
		if d == 1 && t.symmetric {
			break
		}
		var err error
		if x.proved[d], err = t.pair(t.upper, d, false, alphas); err != nil {
			return x, err
		}
		x.attack[d] = x.proved[d]
		if t.gap {
			if x.attack[d], err = t.pair(t.lower, d, true, alphas); err != nil {
				return x, err
			}
		}
	}
	return x, nil
}

// best returns the best test at a false-positive rate, and the power of the proved pairs
// and of the attacks apart.
func (x tests) best(ctx context.Context, alpha float64) (out TradeOffPoint, gap Gap, err error) {
	for d, p := range x.proved {
		if p == nil {
			break
		}
		w, f, err := p.Test(ctx, alpha)
		if err != nil {
			return out, gap, err
		}
		proved, typeII := w, f
		attack := proved
		if x.attack[d] != p {
			w, f, err := x.attack[d].Test(ctx, alpha)
			if err != nil {
				return out, gap, err
			}
			attack, typeII.Upper = w, f.Upper
		}
		power := Range{Lower: attack.Lower, Estimate: proved.Estimate, Upper: proved.Upper}
		// The upper end of the power and the lower one of f are proved, the
		// others attained: the worst direction has the larger power at both.
		if d == 0 {
			out = TradeOffPoint{Alpha: alpha, Power: power, TypeII: typeII, Direction: x.names[0]}
			gap = Gap{Proved: proved, Attack: attack}
			continue
		}
		if power.Upper > out.Power.Upper || typeII.Lower < out.TypeII.Lower {
			out.Direction = x.names[d]
		}
		out.Power, gap = out.Power.Max(power), Gap{Proved: gap.Proved.Max(proved), Attack: gap.Attack.Max(attack)}
		out.TypeII = out.TypeII.Min(typeII)
	}
	return out, gap, nil
}

// warnings are those of all questions so far.
func (x tests) warnings() (all []string) {
	for d, p := range x.proved {
		if p == nil {
			break
		}
		all = append(all, p.Warnings...)
		if x.attack[d] != p {
			for _, w := range x.attack[d].Warnings {
				all = append(all, ofAttack+w)
			}
		}
	}
	return all
}

// testShare of the work of a question goes to each of the many δ of a test.
const testShare = 20

// minAlpha keeps 1/α far from the ends of float64.
const minAlpha = 1e-290

// pair returns direction d of sums with its reverse, which is the other
// direction where the profiles of the two are reverses of each other.
func (t *total) pair(sums [2]*fourier.Sum, d int, lower bool, alphas []float64) (*besttest.Pair, error) {
	want := t.opts.Relative
	if want == 0 {
		want = fourier.DefaultOptions().Relative
	}
	mirrored := true
	for _, r := range t.runs {
		one, other := side(r, d, lower), side(r, 1-d, lower)
		if one == nil && other == nil {
			continue
		}
		mirrored = mirrored && one != nil && other != nil && profiles.Equal(profiles.Reverse(one), other)
	}
	back := sums[1-d]
	if !mirrored {
		back = fourier.New(t.opts.Options)
		back.ExpectMany()
		for _, r := range t.runs {
			if one := side(r, d, lower); one != nil {
				if err := back.Add(profiles.Reverse(one), r.count); err != nil {
					return nil, err
				}
			}
		}
	}
	return besttest.New(sums[d], back, want, t.opts.work()/testShare, t.opts.work()/t.asked(), alphas), nil
}

// side returns the profile of direction d that is proved, or that of the attack.
func side(r run, d int, lower bool) profiles.Profile {
	if lower {
		return r.m.Directions[d].Lower
	}
	return r.m.Directions[d].Upper
}
