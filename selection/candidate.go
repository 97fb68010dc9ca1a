// A candidate known by intervals: what one run costs from above and what it is known to
// reach, in each direction of the relation. It assumes that the lower ends are of one pair
// of data sets; it returns tables from which everything else is exact arithmetic.

package selection

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Candidate is what is known about one run, in both directions of the neighbouring
// relation: bounds on its profile, and a pair of data sets that reaches part of them.
// It remembers what it was asked, and is safe for concurrent use.
type Candidate struct {
	upper [2]Bound
	lower [2]func(eps float64) (down, up float64) // log δ of one pair of data sets, rounded either way; nil: none is known
	// kinks are the ε ≥ 0 at which δ bends, where it is linear in e^ε between them.
	kinks   [2][]float64
	kinkErr [2]float64 // how far off a kink may be
	atInf   [2]float64 // log of what is reached at ε = ∞, rounded down

	stretch func(eps float64) float64

	lock  sync.Mutex
	known map[fineness]*tables
}

// Candidate returns the candidate whose profile b bounds in the first direction of the
// relation and reverse in the second. lower holds what one pair of data sets reaches, in
// the same two directions: log δ(ε) for ε ≥ 0, rounded down and up; nil where nothing is known.
//
// A candidate that takes long to ask may have a stretch: how many times as much as asked chords
// of tables cost. It is called before each question; nil is 1.
func (b Bound) Candidate(reverse Bound, lower [2]func(eps float64) (down, up float64), stretch func(eps float64) float64) *Candidate {
	inf := math.Inf(-1)
	return &Candidate{upper: [2]Bound{b, reverse}, lower: lower, atInf: [2]float64{inf, inf}, stretch: stretch}
}

// CandidateOf returns a mechanism as a candidate. What it reaches is the pair of data sets of its first direction, seen
// from either side.
func CandidateOf(m profiles.Bounds) *Candidate {
	up := [2]profiles.Profile{m.Directions[0].Upper, m.Directions[1].Upper}
	low := [2]profiles.Profile{m.Directions[0].Lower}
	c := (Bound)(nil).Candidate(nil, [2]func(float64) (float64, float64){}, nil)
	for d := range 2 {
		c.upper[d] = func(eps float64) float64 { return logDeltaUpper(up[d], eps) }
	}
	if low[0] == nil || m.Laws != nil {
		return c
	}
	low[1] = profiles.Reverse(low[0])
	for d := range 2 {
		c.lower[d] = func(eps float64) (float64, float64) { return logDeltaLower(low[d], eps), logDeltaUpper(low[d], eps) }
		s := low[d].Support()
		c.atInf[d] = s.LogPInf - 1e-12*(1+math.Abs(s.LogPInf))
		if k := kinksOf(low[d]); profiles.Equal(low[d], up[d]) && len(k) <= maxKinks {
			c.kinks[d], c.kinkErr[d] = k, s.LossErr
		}
	}
	return c
}

func logDeltaLower(p profiles.Profile, eps float64) float64 {
	eps += p.Support().LossErr
	d, err := profiles.LogDelta(p, eps)
	if math.IsInf(err, 1) || math.IsNaN(d) {
		return math.Inf(-1)
	}
	return min(0, d-err)
}

// maxKinks is how many losses of a discrete candidate are taken one by one.
const maxKinks = 2000

// kinksOf returns the ε ≥ 0 at which a discrete profile bends; nil for others.
func kinksOf(p profiles.Profile) []float64 {
	d, ok := p.(*profiles.Discrete)
	if !ok {
		return nil
	}
	out := []float64{0}
	for _, a := range d.Atoms() {
		if a.Loss > 0 {
			out = append(out, a.Loss)
		}
	}
	return out
}

// Bound returns the larger one of the two directions.
func (c *Candidate) Bound() Bound {
	return func(eps float64) float64 { return max(c.upper[0](eps), c.upper[1](eps)) }
}

// reverse returns the candidate with its directions exchanged.
func (t *tables) reverse() *tables {
	return &tables{sides: [2]side{t.sides[1], t.sides[0]}, linear: t.linear}
}

// fineness says how a candidate is tabulated: what a chord costs in ε, the log δ down
// to which it is followed, and that from which chords are longer.
type fineness struct{ accuracy, floor, deep float64 }

// tables are the two directions of a candidate.
type tables struct {
	sides  [2]side
	linear bool // δ is linear in e^ε between the points: a chord is no loss
}

// A side is δ(ε) of one direction at ascending ε, from 0: certified from above and, of the pair of data sets that is known, from
// either side. up never rises; low and lowUp are nil where nothing is known.
type side struct {
	eps, up, low, lowUp []float64
	inf                 float64 // what is reached at ε = ∞
}

// tabulate asks the candidate along a grid, once.
func (c *Candidate) tabulate(ctx context.Context, f fineness) (*tables, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if t, ok := c.known[f]; ok {
		return t, nil
	}
	t := &tables{linear: c.kinks[0] != nil && c.kinks[1] != nil}
	for d := range 2 {
		s, err := c.side(ctx, d, f, t.linear)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		t.sides[d] = s
	}
	if t.sides[0].low == nil || t.sides[1].low == nil {
		t.sides[0].low, t.sides[1].low = nil, nil
	} else if t.linear { // at ε = 0 either direction may have a kink beside it
		both := min(t.sides[0].low[0], t.sides[1].low[0])
		t.sides[0].low[0], t.sides[1].low[0] = both, both
	}
	if c.known == nil {
		c.known = map[fineness]*tables{}
	}
	c.known[f] = t
	return t, nil
}

// side tabulates one direction. Where δ is linear in e^ε between kinks, which are known to ±kinkErr, the lower ends stand at the
// first place where a kink can be, with what is reached at the last: the chords between them are below those of δ.
func (c *Candidate) side(ctx context.Context, d int, f fineness, linear bool) (side, error) {
	var grid, reach []float64 // ε, and where the lower end of it is asked
	if linear {
		for _, k := range c.kinks[d] {
			end := xmath.Up(k+c.kinkErr[d], 1)
			if before := xmath.Down(k-c.kinkErr[d], 1); before > 0 && before > grid[len(grid)-1] {
				grid, reach = append(grid, before), append(reach, end)
			}
			grid, reach = append(grid, k), append(reach, end)
		}
		last := grid[len(grid)-1] + 1 // what is left at infinity
		grid, reach = append(grid, last), append(reach, last)
	} else {
		pts, err := c.upper[d].until(ctx).grid(f, c.stretch)
		if err != nil {
			return side{}, err
		}
		for _, p := range pts {
			grid = append(grid, p.eps)
		}
		reach = grid
	}
	s := side{eps: grid, up: make([]float64, len(grid)), inf: math.Exp(c.atInf[d])}
	if c.lower[d] != nil {
		s.low, s.lowUp = make([]float64, len(grid)), make([]float64, len(grid))
	}
	last := 0.0
	for i, e := range grid {
		if ctx.Err() != nil {
			return side{}, ctx.Err()
		}
		v := c.upper[d](e)
		if math.IsNaN(v) || v > 0 {
			return side{}, fault.New("candidate", "log δ(%v) = %v is not in [-Inf, 0]", e, v)
		}
		last = min(last, v)
		s.up[i] = min(1, math.Exp(last)*(1+4*xmath.U*(1+math.Abs(xmath.Finite(last))))+tiny)
		if math.IsInf(last, -1) {
			s.up[i] = 0
		}
		if s.low == nil {
			continue
		}
		l, up := c.lower[d](reach[i])
		if math.IsNaN(l) || math.IsNaN(up) {
			return side{}, fault.New("candidate", "its lower end is NaN at ε = %v", e)
		}
		l = min(l, 0)
		s.low[i] = min(s.up[i], max(0, math.Exp(l)*(1-4*xmath.U*(1+math.Abs(xmath.Finite(l))))-tiny))
		s.lowUp[i] = min(s.up[i], math.Exp(up)*(1+4*xmath.U*(1+math.Abs(xmath.Finite(up))))+tiny)
	}
	// δ does not rise: what is reached further on is reached before.
	for i := len(s.low) - 2; i >= 0; i-- {
		s.low[i] = max(s.low[i], s.low[i+1])
	}
	return s, nil
}

// delta returns an upper bound of δ at any real t, in the first direction; chords of the
// upper ends, since δ is convex in e^t, and for t < 0
//
//	δ(t) = 1 − e^t + e^t·δ_rev(−t).
func (t *tables) delta(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return 1
	case x >= 0:
		return t.sides[0].at(x)
	case x < -700:
		return 1
	}
	return min(1, (-math.Expm1(x)+math.Exp(x)*t.sides[1].at(-x))*(1+8*xmath.U))
}

func (s *side) at(x float64) float64 {
	n := len(s.eps)
	if x >= s.eps[n-1] {
		return s.up[n-1]
	}
	i, found := slices.BinarySearch(s.eps, x)
	if found {
		return s.up[i]
	}
	lo, hi := s.eps[i-1], s.eps[i]
	// Share of the right end: (e^x − e^lo)/(e^hi − e^lo), rounded down.
	w := 0.0
	if hi-lo < 700 {
		w = max(0, math.Expm1(x-lo)/math.Expm1(hi-lo)*(1-16*xmath.U)-4*xmath.U*(1+x)/(hi-lo))
	}
	return (s.up[i-1] + w*(s.up[i]-s.up[i-1])) * (1 + 8*xmath.U)
}
