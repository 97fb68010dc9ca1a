package choice

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// The laws of the noise that a score or a count gets, by their names in plan files. Gumbel noise makes the
// exponential mechanism, exponential noise permute-and-flip.
const (
	gumbelNoise          = "gumbel"
	exponentialNoise     = "exponential"
	laplaceNoise         = "laplace"
	gaussianNoise        = "gaussian"
	discreteLaplaceNoise = "discrete-laplace"
)

func checkNoise(name string, allowed ...string) error {
	if slices.Contains(allowed, name) {
		return nil
	}
	return fault.New("noise", "%s", nearest.Value(name, allowed))
}

// scores is a mechanism that chooses one of some candidates by their noisy scores.
type scores struct {
	name    string
	noise   string
	epsilon float64
}

// NewExponential returns the exponential mechanism: a candidate is chosen with a
// probability in proportion to e^{score/λ}. Epsilon is the length of the range of its
// loss, 2Δ/λ for scores of sensitivity Δ, or Δ/λ if all of them always move the same way
// (counts under add-remove), in [1e-9, 100]. On a Poisson sample under substitution Δ must bound
// what removing a record does as well.
//
// One run is exact, and so is the adaptive composition of many (docs/guide/choice.md, Theorems 1
// and 2). Top-k by one shot of Gumbel noise is k runs. Relation: that of Δ, which it is
// taken at its word for.
func NewExponential(epsilon float64) (profiles.Mechanism, error) {
	return newScores("exponential", gumbelNoise, epsilon)
}

// NewPermuteAndFlip returns permute-and-flip (McKenna and Sheldon, NeurIPS 2020), which is
// report-noisy-max with exponential noise of scale λ (Ding et al. 2021); epsilon as for
// NewExponential. Its profile is that of Laplace noise of multiplier 1/ε, for any
// number of candidates (docs/guide/choice.md, Theorem 3). It has no range of length ε, and no
// zCDP of ε²/8.
func NewPermuteAndFlip(epsilon float64) (profiles.Mechanism, error) {
	return newScores("permute-and-flip", exponentialNoise, epsilon)
}

// NewNoisyMax returns report-noisy-max: the candidate with the largest score after
// independent noise of scale λ, of which nothing but the index is shown; epsilon as for
// NewExponential. Gumbel noise makes the exponential mechanism, exponential noise
// permute-and-flip. With Laplace noise the profile of permute-and-flip dominates but is
// not attained; the attack has two candidates (docs/guide/choice.md, Theorem 3).
func NewNoisyMax(noise string, epsilon float64) (profiles.Mechanism, error) {
	if err := checkNoise(noise, gumbelNoise, exponentialNoise, laplaceNoise); err != nil {
		return nil, fault.In("noisy-max", err)
	}
	return newScores("noisy-max", noise, epsilon)
}

func newScores(name, noise string, epsilon float64) (profiles.Mechanism, error) {
	if _, err := profiles.NewExponential(epsilon); err != nil {
		return nil, fault.In(name, err)
	}
	return scores{name, noise, epsilon}, nil
}

// Epsilon implements profiles.EpsilonSetter.
func (s scores) Epsilon() float64 { return s.epsilon }

// Chooses implements profiles.Chooser.
func (scores) Chooses() {}

// WithEpsilon implements profiles.EpsilonSetter.
func (s scores) WithEpsilon(epsilon float64) (profiles.Mechanism, error) {
	return newScores(s.name, s.noise, epsilon)
}

// Choose returns the index that the mechanism picks of the candidates, by the noise that is priced.
func (s scores) Choose(c Candidates, src rand.Source) (int, error) {
	return c.NoisyMax(s.noise, s.epsilon, src)
}

// Name implements profiles.Mechanism.
func (s scores) Name() string { return s.name }

// Pair implements profiles.Mechanism.
func (s scores) Pair(profiles.Relation) (profiles.Profile, error) {
	if s.noise == gumbelNoise {
		return profiles.NewExponential(s.epsilon)
	}
	l, err := profiles.NewLaplace(1 / s.epsilon)
	return profiles.LaplaceLike{Laplace: l}, err
}

// Attack implements profiles.Attacked.
func (s scores) Attack(profiles.Relation) (profiles.Mechanism, error) {
	return profiles.NewPure(s.attackLoss())
}

// Once implements blocker.
func (s scores) Once(r profiles.Relation) (profiles.Bounds, error) {
	p, err := s.Pair(r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	m := profiles.NewBounds(s.name, r, p)
	if s.noise == gumbelNoise {
		m.Laws = laws{composed{s.epsilon}}
		return m, nil
	}
	m.Laws = laws{lone{s.noise, s.epsilon}}
	if s.noise == laplaceNoise {
		both, err := response(s.attackLoss())
		if err != nil {
			return profiles.Bounds{}, err
		}
		m.Directions[0].Lower, m.Directions[1].Lower = both[0], both[1]
	}
	return m, nil
}

// attackLoss returns the loss l of two candidates whose scores differ by Δ·(…) such that
// both outcomes lose as much: the first wins with the probability F(ε/2) on one data set
// and 1 − F(ε/2) on the other, F the law of the difference of two noises of scale 1, so
// that l = log F − log(1 − F). It is rounded down, which is a garbling.
func (s scores) attackLoss() float64 {
	x := s.epsilon / 2
	var loss float64
	switch s.noise {
	case gumbelNoise: // the logistic law
		loss = x
	case exponentialNoise: // Laplace's: 1 − F = ½e^{−x}, l = log(2e^x − 1) = x + log(1 + (1 − e^{−x}))
		loss = x + math.Log1p(-math.Expm1(-x))
	default: // of two Laplace numbers: 1 − F = (½ + x/4)e^{−x}
		// 2F − 1 = 1 − (1 + x/2)e^{−x} = (1 − e^{−x}) − (x/2)e^{−x} is at least half of its first term.
		bias := -math.Expm1(-x) - x/2*math.Exp(-x)
		loss = 2 * math.Atanh(min(bias, 1-0x1p-53))
	}
	return loss * (1 - 64*xmath.U)
}

// lone is the block of a mechanism of which the composition of the pair of one run is the
// best bound that is known. One run attains its pair with exponential noise.
type lone struct {
	noise   string
	epsilon float64
}

func (l lone) pair() (profiles.Profile, error) { return profiles.NewLaplace(1 / l.epsilon) }

// Upper implements block.
func (l lone) Upper(_ context.Context, k int64, _ float64) ([2][]profiles.Repeated, error) {
	p, err := l.pair()
	return repeat([2]profiles.Profile{p, p}, k), err
}

// Reached implements block.
func (l lone) Reached(ctx context.Context, k int64, width float64) (reached [2][]profiles.Repeated, exact bool, err error) {
	if k == 1 && l.noise == exponentialNoise {
		reached, err = l.Upper(ctx, k, width)
		return reached, true, err
	}
	m := attackCells
	for m > 16 && nodes(k, m) > attackWork {
		m /= 2
	}
	if k > 1 && nodes(k, m) <= attackWork {
		g := newGrid(l.epsilon, m)
		turns := g.turnsOf(l.noise)
		if len(turns) == 0 { // losses so small that the margin of reachable takes all of them
			both, err := l.Attack()
			return repeat(both, k), false, err
		}
		w, q, err := g.lower(ctx, turns, farStrides(len(turns)), k)
		if err != nil {
			return reached, false, err
		}
		g.orResponse(w, q, scores{noise: l.noise, epsilon: l.epsilon}.attackLoss(), k)
		p, err := tangents(g.nodes(len(w)), w, q)
		return repeat([2]profiles.Profile{p, p}, 1), false, err
	}
	both, err := l.Attack()
	return repeat(both, k), false, err
}

// attackCells is the finest grid of an adaptive attack, to whose losses a pair is garbled, and attackWork
// how many nodes it may take in all, a tenth of a second.
const (
	attackCells = 1024
	attackWork  = 1 << 21
)

// farStrides are the strides of a climb among so many turns of which not every second one may be better than
// the one before.
func farStrides(n int) (strides []int) {
	for d := 1; d < n; d *= 2 {
		strides = append(strides, -d, d)
	}
	return strides
}

// turnsOf returns the best turns of two candidates whose noise is exponential or Laplace's: for the
// difference G of two noises, the tests of one shift by ε are the points (G(c − ε), G(c)). A turn is
// a garbling of one of them if its point (q, p) is not above them, as q ≤ p: on the line from
// (q, q) up to the curve, inside of the triangle of (0, 0), the point of the curve, and (1, 1).
func (g *grid) turnsOf(noise string) (out []turn) {
	at := func(i, j int) (t turn, x, y float64) {
		x, y = g.h*float64(i), g.h*float64(j)
		whole := -math.Expm1(-x - y)
		return turn{i, j, -math.Expm1(-y) / whole, math.Exp(-y) * -math.Expm1(-x) / whole}, x, y
	}
	allowed := func(i, j int) bool {
		t, x, y := at(i, j)
		return reachable(noise, g.h*float64(g.m), t.p, t.r, x, y)
	}
	add := func(i, j int) {
		if t, _, _ := at(i, j); len(out) == 0 || out[len(out)-1] != t {
			out = append(out, t)
		}
	}
	// For each loss i the largest j, and for each j the largest i: j falls as i grows.
	j := g.m
	for i := 1; i <= g.m; i++ {
		for ; j > 0 && !allowed(i, j); j-- {
			if i > 1 {
				add(i-1, j)
			}
		}
		if j == 0 {
			break
		}
		add(i, j)
	}
	return out
}

// reachable reports whether the point (q, p) of losses x and −y, r = 1 − p, is certainly not above
// those of two candidates. The margin of 1e-9 covers the roundings of the point and of the law G, whose
// tails are of full accuracy; where the curve is a line through (0, 0) or (1, 1), losses of at most ε
// are below it exactly.
func reachable(noise string, epsilon, p, r, x, y float64) bool {
	const margin = 1 + 1e-9
	q, notQ := p*math.Exp(-x), r*math.Exp(y)
	if noise == exponentialNoise { // G is Laplace's law; the hyperbola in the middle is below its lines
		return p*margin <= 0.5 || notQ*margin <= 0.5 || 4*q*r >= math.Exp(-epsilon)*margin
	}
	// The least c with G(c) ≥ p: is G(c − ε) at most q?
	tail := func(c float64) (below, above float64) { // G(c) and 1 − G(c)
		v := (0.5 + math.Abs(c)/4) * math.Exp(-math.Abs(c))
		if c < 0 {
			return v, 1 - v
		}
		return 1 - v, v
	}
	hi, _ := xmath.Bisect(750, -750, 80, func(c float64) bool {
		below, above := tail(c)
		return r < 0.5 && above*margin <= r || r >= 0.5 && below >= p*margin
	})
	below, above := tail(hi - epsilon)
	return hi < 749 && (q < 0.5 && below*margin <= q || q >= 0.5 && above >= notQ*margin)
}

// Attack implements block.
func (l lone) Attack() ([2]profiles.Profile, error) {
	return response(scores{noise: l.noise, epsilon: l.epsilon}.attackLoss())
}

// Gain implements block.
func (l lone) Gain(k int64) float64 {
	return boundedGain(k, l.epsilon, scores{noise: l.noise, epsilon: l.epsilon}.attackLoss())
}
