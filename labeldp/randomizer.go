// Randomizers with finitely many outputs, rounded to probabilities that are drawn
// exactly; their moments and losses.

package labeldp

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Method is one way to make labels private, under replacement of one label.
// All methods of this package are one: [Randomizer], [Additive], [Rounded].
type Method interface {
	// Base gives the name and the privacy profile of one label.
	profiles.Mechanism
	// Moments returns the bias E[ŷ] − y and the mean squared error E(ŷ − y)² at a
	// label that the method accepts.
	Moments(y float64) (bias, mse float64, err error)
	// Sample draws a noisy label.
	Sample(y float64, src rand.Source) (float64, error)
}

// HalfLoss returns E ½(ŷ − y)² of labels drawn from p: the noisy label loss of
// arXiv:2312.05659, Definition 4, with g = ½(ŷ − y)².
func HalfLoss(m Method, p Prior) (float64, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	var s xmath.Sum
	for i, y := range p.labels {
		if p.probs[i] == 0 {
			continue
		}
		_, v, err := m.Moments(y)
		if err != nil {
			return 0, err
		}
		s.Add(p.probs[i] * v)
	}
	return s.Value() / 2, nil
}

// A Randomizer is a finite ε-DP label randomizer in staircase form: a set of
// atoms. It is ε-DP by construction, whatever the accuracy of the weights, and
// its sampler is exactly so. It is immutable and safe for concurrent use; each
// goroutine needs its own source.
type Randomizer struct {
	name    string
	labels  []float64
	eps     float64
	e       float64 // e^ε, rounded down
	atoms   []Atom  // ascending in Output
	outputs []float64
	at      []int // at[j] is the index in outputs of atom j
	worst   [2]int
	tau     float64
	draw    *sampler
}

func newRandomizer(name string, labels []float64, eps float64, atoms []Atom) *Randomizer {
	r := &Randomizer{name: name, labels: labels, eps: eps, e: xmath.Down(math.Exp(eps), 2)}
	for _, a := range atoms {
		if a.Weight > 0 {
			r.atoms = append(r.atoms, a)
		}
	}
	slices.SortStableFunc(r.atoms, func(a, b Atom) int { return cmp.Compare(a.Output, b.Output) })
	for i, a := range r.atoms {
		if i == 0 || a.Output != r.atoms[i-1].Output {
			r.outputs = append(r.outputs, a.Output)
		}
		r.at = append(r.at, len(r.outputs)-1)
	}
	r.tau, r.worst = worstPair(len(labels), r.atoms)
	r.draw = newSampler(labels, r.outputs, r.atoms, r.at, r.e)
	return r
}

// Name implements profiles.Mechanism.
func (r *Randomizer) Name() string { return r.name }

// Epsilon returns the ε the randomizer was made for.
func (r *Randomizer) Epsilon() float64 { return r.eps }

// Labels returns the labels it accepts, ascending. The slice must not be
// modified.
func (r *Randomizer) Labels() []float64 { return r.labels }

// Outputs returns the distinct outputs, ascending. The slice must not be
// modified.
func (r *Randomizer) Outputs() []float64 { return r.outputs }

// Atoms returns the staircase columns, ascending in output. The slice must not
// be modified.
func (r *Randomizer) Atoms() []Atom { return r.atoms }

// Row returns the probabilities of Outputs for the label of index i. Their
// ratio between two labels is at most e^ε; rows are not normalized one by one,
// because that would break it, and sum to 1 within a few ulps.
func (r *Randomizer) Row(i int) []float64 {
	row := make([]float64, len(r.outputs))
	for j, a := range r.atoms {
		row[r.at[j]] += r.prob(a, i)
	}
	return row
}

func (r *Randomizer) prob(a Atom, i int) float64 {
	if a.Up != nil && a.Up[i] {
		return a.Weight * r.e
	}
	return a.Weight
}

func (r *Randomizer) index(y float64) (int, error) {
	i, ok := slices.BinarySearch(r.labels, y)
	if !ok {
		return 0, fault.New("label", "%v is not one of the %d labels in [%v, %v]", y, len(r.labels), r.labels[0], r.labels[len(r.labels)-1])
	}
	return i, nil
}

// Moments implements Method.
func (r *Randomizer) Moments(y float64) (bias, mse float64, err error) {
	i, err := r.index(y)
	if err != nil {
		return 0, 0, err
	}
	var m, s xmath.Sum
	for _, a := range r.atoms {
		p, d := r.prob(a, i), a.Output-y
		m.AddProduct(p, d)
		s.Add(p * d * d)
	}
	return m.Value(), s.Value(), nil
}

// Sample implements Method. Probabilities are integers over a common total near
// 2^62, drawn by rejection: the output law is ε-DP exactly, not up to rounding.
func (r *Randomizer) Sample(y float64, src rand.Source) (float64, error) {
	i, err := r.index(y)
	if err != nil {
		return 0, err
	}
	return r.outputs[r.SampleIndex(i, src)], nil
}

// SampleIndex draws the index in Outputs of a noisy label, from the label of
// index i: Sample without the search for the label.
func (r *Randomizer) SampleIndex(i int, src rand.Source) int {
	return r.draw.sample(i, random.Source(src))
}

// A Certificate says how good a returned randomizer is, in the units of the
// labels.
type Certificate struct {
	// Primal is the half-loss of the randomizer under the prior it was made for;
	// Dual is a lower bound on the half-loss of every randomizer of its class,
	// rounding included; RelGap is (Primal − Dual)/Primal.
	Primal float64 `json:"primal"`
	Dual   float64 `json:"dual"`
	RelGap float64 `json:"gap"`
	// RowResidual is the largest |Σ probabilities − 1|, MeanResidual the largest
	// |E[ŷ] − y| (beyond the bias allowed), RealisedEps the largest log-ratio of
	// two probabilities of the same output.
	RowResidual  float64 `json:"row-residual"`
	MeanResidual float64 `json:"mean-residual"`
	RealisedEps  float64 `json:"realised-epsilon"`
	Iterations   int     `json:"iterations"`
}

func (r *Randomizer) certify(iterations int, bias float64) Certificate {
	c := Certificate{Iterations: iterations}
	rows := make([][]float64, len(r.labels))
	for i, y := range r.labels {
		rows[i] = r.Row(i)
		var s xmath.Sum
		s.Add(-1)
		for _, p := range rows[i] {
			s.Add(p)
		}
		b, _, _ := r.Moments(y)
		c.RowResidual = max(c.RowResidual, math.Abs(s.Value()))
		c.MeanResidual = max(c.MeanResidual, math.Abs(b)-bias)
	}
	for j := range r.outputs {
		lo, hi := math.Inf(1), 0.0
		for i := range rows {
			lo, hi = min(lo, rows[i][j]), max(hi, rows[i][j])
		}
		c.RealisedEps = max(c.RealisedEps, xmath.Log(hi/lo))
	}
	return c
}

func (q *problem) atoms(cols []column) []Atom {
	atoms := make([]Atom, len(cols))
	for i, c := range cols {
		t, ok := q.exact[c.t]
		if !ok {
			t = q.mid + q.sc*c.t
		}
		atoms[i] = Atom{t, c.c, c.up}
	}
	return atoms
}

// identity is the randomizer of a single label, which has nothing to hide.
func identity(name string, labels []float64, eps float64) *Randomizer {
	return newRandomizer(name, labels, eps, []Atom{{Output: labels[0], Weight: 1}})
}
