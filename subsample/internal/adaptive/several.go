// §13 for several copies: near' is what §10 bounds where all other records are at the substitute, of a slightly larger θ.

package adaptive

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A chordPair is a pair of laws on nodes of losses: its profile and that of its reverse are joined by chords. Above α = 1 it is the bound of
// every configuration; below, that of all others at the record, with the copies after the first as far apart as they can be.
type chordPair struct {
	x   []float64
	law nodeLaw
}

const (
	chordsPerTheta = 24    // nodes in a factor e^θ of the mass of a record, where likelihood ratios are e^y times the rate
	rareLoss       = 1e-24 // no nodes are at losses that are rarer
	mostChords     = 4000
	severalStretch = 1.3 // of what single steps try without replacement, as a bound of a triangle takes twice as long
)

// newChordPair returns the pair for a step.
func newChordPair(ctx context.Context, s stepBound) (*chordPair, error) {
	g, err := profiles.NewGaussian(1 / s.theta)
	if err != nil {
		return nil, err
	}
	p := &chordPair{}
	var u, v []float64
	for y := -6.0; ; y += s.theta / chordsPerTheta {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		z := 0.0
		if len(u) > 0 {
			z = math.Log1p(s.copies * math.Exp(y))
		}
		near, reverse := s.corner(g, s.shares(z))
		p.x, u, v = append(p.x, z), append(u, near*(1+1e-11)), append(v, reverse*(1+1e-11))
		if near < rareLoss {
			break
		}
		if len(u) > mostChords {
			return nil, fmt.Errorf("the loss of one step needs more than %d nodes", mostChords)
		}
	}
	if err := parallel.Spend(ctx, perBound*float64(len(u))); err != nil {
		return nil, err
	}
	p.law = newNodeLaw(p.x, u, v)
	return p, nil
}

func (p *chordPair) near(z float64) nearPoint    { return p.chord(p.law.up, z) }
func (p *chordPair) reverse(z float64) nearPoint { return p.chord(p.law.down, z) }

// chord returns the chord of values at a loss, and its slope in α.
func (p *chordPair) chord(values []float64, z float64) nearPoint {
	i := sort.SearchFloat64s(p.x, z)
	if i == len(p.x) { // the mass at +∞
		last := values[i-1]
		return nearPoint{value: last, err: 1e-12 * last}
	}
	i = max(i, 1)
	a, b := p.x[i-1], p.x[i]
	slope := (values[i] - values[i-1]) / (math.Exp(a) * math.Expm1(b-a))
	value := values[i-1] + slope*math.Exp(a)*math.Expm1(z-a)
	// Values are known to 8 u for each node, as are the slopes of chords, whose differences are positive.
	return nearPoint{value, slope, 1e-11 * values[i-1]}
}

func (p *chordPair) cumulant(tau float64) float64 {
	l := p.law
	most := (tau - 1) * p.x[len(p.x)-1]
	sum, rest := 0.0, 1-l.infP
	for i, x := range p.x[1:] {
		back := l.left[i+1] * math.Exp(-x)
		sum += l.right[i+1]*math.Exp((tau-1)*x-most) + back*math.Exp(-(tau-1)*x-most)
		rest -= l.right[i+1] + back
	}
	// Near 1 what the mass at 0 leaves is what counts.
	return xmath.Log(sum+max(0, rest)*math.Exp(-most)) + most
}
