// Randomizers with finitely many outputs, rounded to probabilities that are drawn
// exactly; their moments and losses.

package labeldp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/strictjson"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Method is one way to make labels private, under replacement of one label.
// All methods of this package are one: [Randomizer], [Rounded], and those of [NewAdditive] and [RPWithPrior].
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
// its sampler is exactly so: probabilities are integers over a common total near 2^62,
// drawn by rejection. It is immutable and safe for concurrent use; each
// goroutine needs its own source.
//
// Its Pair is the three-atom profile of one label, rounded up over the exact sampler's
// integers. It dominates every pair of labels, and is attained by WorstPair unless two atoms
// share an output; then the lower profile of its Bounds is the pair of extreme labels as released.
type Randomizer interface {
	Method
	profiles.Compound
	// Its JSON, which [ReadRandomizer] reads, is what the randomizer is made of.
	json.Marshaler

	// Epsilon returns the ε the randomizer was made for.
	Epsilon() float64
	// Labels returns the labels it accepts, ascending. The slice must not be modified.
	Labels() []float64
	// Outputs returns the distinct outputs, ascending. The slice must not be modified.
	Outputs() []float64
	// Row returns the probabilities of Outputs for the label of index i. Their
	// ratio between two labels is at most e^ε; rows are not normalized one by one,
	// because that would break it, and sum to 1 within a few ulps.
	Row(i int) []float64
	// SampleIndex draws the index in Outputs of a noisy label, from the label of
	// index i: Sample without the search for the label.
	SampleIndex(i int, src rand.Source) int
	// Tau returns the mass τ that determines the privacy of the randomizer: its
	// loss is −ε with probability τ, ε with probability τe^ε, and 0 otherwise.
	Tau() float64
	// WorstPair returns two labels that are hardest to tell apart in the sense of
	// privacy: the pair with the largest δ(ε') for all ε' ≥ 0.
	WorstPair() (y, yPrime float64)
}

type randomizer struct {
	name    string
	labels  []float64
	eps     float64
	e       float64 // e^ε, rounded down
	atoms   []atom  // ascending in Output
	outputs []float64
	at      []int // at[j] is the index in outputs of atom j
	worst   [2]int
	tau     float64
	draw    *sampler
}

func newRandomizer(name string, labels []float64, eps float64, atoms []atom) *randomizer {
	r := &randomizer{name: name, labels: labels, eps: eps, e: xmath.Down(math.Exp(eps), 2)}
	for _, a := range atoms {
		if a.Weight > 0 {
			r.atoms = append(r.atoms, a)
		}
	}
	slices.SortStableFunc(r.atoms, func(a, b atom) int { return cmp.Compare(a.Output, b.Output) })
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

func (r *randomizer) Name() string { return r.name }

func (r *randomizer) Epsilon() float64 { return r.eps }

func (r *randomizer) Labels() []float64 { return r.labels }

func (r *randomizer) Outputs() []float64 { return r.outputs }

func (r *randomizer) Row(i int) []float64 {
	row := make([]float64, len(r.outputs))
	for j, a := range r.atoms {
		row[r.at[j]] += r.prob(a, i)
	}
	return row
}

func (r *randomizer) prob(a atom, i int) float64 {
	if a.Up != nil && a.Up[i] {
		return a.Weight * r.e
	}
	return a.Weight
}

func (r *randomizer) index(y float64) (int, error) {
	i, ok := slices.BinarySearch(r.labels, y)
	if !ok {
		return 0, fault.New("label", "%v is not one of the %d labels in [%v, %v]", y, len(r.labels), r.labels[0], r.labels[len(r.labels)-1])
	}
	return i, nil
}

func (r *randomizer) Moments(y float64) (bias, mse float64, err error) {
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

func (r *randomizer) Sample(y float64, src rand.Source) (float64, error) {
	i, err := r.index(y)
	if err != nil {
		return 0, err
	}
	return r.outputs[r.SampleIndex(i, src)], nil
}

func (r *randomizer) SampleIndex(i int, src rand.Source) int {
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

func (r *randomizer) certify(iterations int, bias float64) Certificate {
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

func (q *problem) atoms(cols []column) []atom {
	atoms := make([]atom, len(cols))
	for i, c := range cols {
		t, ok := q.exact[c.t]
		if !ok {
			t = q.mid + q.sc*c.t
		}
		atoms[i] = atom{t, c.c, c.up}
	}
	return atoms
}

// identity is the randomizer of a single label, which has nothing to hide.
func identity(name string, labels []float64, eps float64) *randomizer {
	return newRandomizer(name, labels, eps, []atom{{Output: labels[0], Weight: 1}})
}

// Unbiased rounding to few labels in front of a randomizer; it costs nothing.

// Rounded puts unbiased randomized rounding in front of a randomizer: a label
// between two of the randomizer's labels is rounded to one of them, such that
// its mean is kept. Bias 0 stays bias 0, and the privacy is that of the
// randomizer. arXiv:2312.05659, unbiased randomized rounding. It is for
// continuous labels, and for more labels than a solver takes.
type Rounded interface {
	Method
	// Round draws the index of the label that y is rounded to. It is the first half
	// of Sample, and private only together with the second.
	Round(y float64, src rand.Source) (int, error)
}

type rounded struct{ r Randomizer }

// NewRounder returns r for all labels between its least and its largest.
// Design r for the prior that [Prior.Rounded] gives.
func NewRounder(r Randomizer) Rounded { return rounded{r} }

// Name implements profiles.Mechanism.
func (u rounded) Name() string { return "rounded-" + u.r.Name() }

// Pair implements profiles.Mechanism: a mixture of rows is no easier to tell apart
// than the rows.
func (u rounded) Pair(rel profiles.Relation) (profiles.Profile, error) { return u.r.Pair(rel) }

// neighbours returns the indices around y and the weight of the upper one.
func neighbours(labels []float64, y float64) (i, j int, up float64, err error) {
	n := len(labels)
	if !(y >= labels[0] && y <= labels[n-1]) {
		return 0, 0, 0, fault.New("label", "%v is not in [%v, %v]", y, labels[0], labels[n-1])
	}
	j, ok := slices.BinarySearch(labels, y)
	if ok {
		return j, j, 0, nil
	}
	return j - 1, j, (y - labels[j-1]) / (labels[j] - labels[j-1]), nil
}

// Moments implements Method.
func (u rounded) Moments(y float64) (bias, mse float64, err error) {
	labels := u.r.Labels()
	i, j, up, err := neighbours(labels, y)
	if err != nil {
		return 0, 0, err
	}
	for _, x := range []struct {
		label, weight float64
	}{{labels[i], 1 - up}, {labels[j], up}} {
		b, v, err := u.r.Moments(x.label)
		if err != nil {
			return 0, 0, err
		}
		d := x.label - y
		bias += x.weight * (b + d)
		mse += x.weight * (v + 2*b*d + d*d)
	}
	return bias, mse, nil
}

// Sample implements Method.
func (u rounded) Sample(y float64, src rand.Source) (float64, error) {
	i, err := u.Round(y, src)
	if err != nil {
		return 0, err
	}
	return u.r.Outputs()[u.r.SampleIndex(i, src)], nil
}

// Round implements Rounded.
func (u rounded) Round(y float64, src rand.Source) (int, error) {
	i, j, up, err := neighbours(u.r.Labels(), y)
	if err == nil && i != j && random.Coin(random.Source(src), up) {
		i = j
	}
	return i, err
}

// Rounded returns the law of a label of p after unbiased randomized rounding
// to support, which must reach from the least to the largest label.
func (p Prior) Rounded(support []float64) (Prior, error) {
	if err := p.check(); err != nil {
		return Prior{}, err
	}
	ys, _, err := normalizeLabels(support)
	if err != nil {
		return Prior{}, err
	}
	weights := make([]float64, len(ys))
	for n, y := range p.labels {
		i, j, up, err := neighbours(ys, y)
		if err != nil {
			return Prior{}, err
		}
		weights[i] += p.probs[n] * (1 - up)
		weights[j] += p.probs[n] * up
	}
	for i, w := range weights {
		weights[i] = math.Max(w, 0)
	}
	return NewPrior(ys, weights)
}

// An exact sampler of a staircase row: probabilities are whole multiples of a power of
// two, and privacy holds for those.

// logTotal is the binary logarithm of the total that probabilities are
// integers over, before padding.
const logTotal = 62

// A sampler draws from rows of integer weights with a common total, so that
// the ratio of two probabilities of an output is a ratio of two integers.
//
// An atom of weight c has u = ⌊c·2^62⌋ from the labels that are down and
// ⌊e^ε u⌋ (e^ε rounded down) from those up. What the rows lack to a common
// total, plus K each, goes to one pad output; K is so large that the pads are
// within e^ε of each other. The pad (probability about 2k·2^−62·e^ε/(e^ε − 1))
// is reported as the output nearest the middle of the labels, which is
// post-processing.
type sampler struct {
	cum   [][]uint64 // cum[i][j]: weight of outputs 0..j from label i
	total uint64
	limit uint64 // largest multiple of total in 2^64
	pad   uint64 // the largest pad
}

func newSampler(labels, outputs []float64, atoms []atom, at []int, e float64) *sampler {
	n := len(outputs)
	mid := labels[0]/2 + labels[len(labels)-1]/2
	padAt := 0
	for j, t := range outputs {
		if math.Abs(t-mid) < math.Abs(outputs[padAt]-mid) {
			padAt = j
		}
	}
	rows := make([][]uint64, len(labels))
	sums := make([]uint64, len(rows))
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for i := range rows {
		rows[i] = make([]uint64, n)
		for j, a := range atoms {
			u := uint64(math.Ldexp(a.Weight, logTotal))
			if a.Up != nil && a.Up[i] {
				u = mulFloor(e, u)
			}
			rows[i][at[j]] += u
			sums[i] += u
		}
		lo, hi = min(lo, sums[i]), max(hi, sums[i])
	}
	k := uint64(0)
	if hi > lo {
		k = uint64(float64(hi-lo)/(e-1)*(1+1e-9)) + 2
	}
	s := &sampler{total: hi + k, pad: hi + k - lo, cum: rows}
	for i := range rows {
		rows[i][padAt] += hi - sums[i] + k
		for j := 1; j < n; j++ {
			rows[i][j] += rows[i][j-1]
		}
	}
	s.limit = math.MaxUint64 - (math.MaxUint64%s.total+1)%s.total
	return s
}

// mulFloor returns ⌊e·u⌋ exactly, for a float e < 2^41 with e·u < 2^63.
func mulFloor(e float64, u uint64) uint64 {
	frac, exp := math.Frexp(e) // e = frac·2^exp, frac·2^53 is an integer
	h, l := bits.Mul64(uint64(math.Ldexp(frac, 53)), u)
	shift := uint(53 - exp)
	return h<<(64-shift) | l>>shift
}

func (s *sampler) sample(i int, src rand.Source) int {
	x := src.Uint64()
	for x > s.limit {
		x = src.Uint64()
	}
	j, _ := slices.BinarySearch(s.cum[i], x%s.total+1) // the first above it
	return j
}

// Randomizers as JSON, for programs that design on one machine and draw on others.

// written is a randomizer in JSON. Its numbers are those of the randomizer: Go writes a
// float64 with as many digits as it takes to read it back.
type written struct {
	Name    string    `json:"name"`
	Epsilon float64   `json:"epsilon"`
	Labels  []float64 `json:"labels"`
	Atoms   []atom    `json:"atoms"`
}

func (r *randomizer) MarshalJSON() ([]byte, error) {
	return json.Marshal(written{Name: r.name, Epsilon: r.eps, Labels: r.labels, Atoms: r.atoms})
}

// rowTolerance is how far the probabilities of a label may be from 1 in a randomizer that is
// read. Privacy does not depend on it (see [sampler]): what is missing goes to the pad.
const rowTolerance = 1e-6

// ReadRandomizer returns the randomizer of a JSON, which draws as the one that was
// written. It is ε-DP by its form, whatever the weights; weights that are no probabilities
// are refused.
func ReadRandomizer(text []byte) (Randomizer, error) {
	var w written
	if err := strictjson.Decode(text, &w); err != nil {
		return nil, err
	}
	if err := checkEpsilon(w.Epsilon); err != nil {
		return nil, err
	}
	labels, _, err := normalizeLabels(w.Labels)
	if err != nil {
		return nil, err
	}
	for i := range w.Labels {
		if len(labels) != len(w.Labels) || labels[i] != w.Labels[i] {
			return nil, fault.New(fmt.Sprintf("labels[%d]", i), "%v is not above the one before", w.Labels[i])
		}
	}
	for i, a := range w.Atoms {
		field := fmt.Sprintf("atoms[%d]", i)
		switch {
		case math.IsNaN(a.Output) || math.IsInf(a.Output, 0):
			return nil, fault.In(field, fault.New("output", "%v is not finite", a.Output))
		case !(a.Weight >= 0 && a.Weight <= 1):
			return nil, fault.In(field, fault.New("weight", "%v is not in [0, 1]", a.Weight))
		case a.Up != nil && len(a.Up) != len(labels):
			return nil, fault.In(field, fault.New("up", "has %d entries, must have as many as labels (%d)", len(a.Up), len(labels)))
		}
	}
	up := randomizer{e: xmath.Down(math.Exp(w.Epsilon), 2)}
	for i := range labels {
		var sum xmath.Sum
		for _, a := range w.Atoms {
			sum.Add(up.prob(a, i))
		}
		if !(math.Abs(sum.Value()-1) <= rowTolerance) {
			return nil, fault.New("atoms", "have probability %v of label %v, must have 1", sum.Value(), labels[i])
		}
	}
	return newRandomizer(w.Name, labels, w.Epsilon, w.Atoms), nil
}
