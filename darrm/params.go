// The problem of a private majority and the ranges within which its certificate cannot
// underflow.

package darrm

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Params is a private majority problem: K mechanisms and the budget for their
// majority.
type Params struct {
	Mechanisms  int     // K
	Epsilon     float64 // ε of every mechanism
	Delta       float64 // Δ of every mechanism
	Allowance   float64 // m: the released bit must be (mε, OutputDelta)-DP
	OutputDelta float64 // δ

	// Voters, if any, say what each mechanism is private for, in place of Epsilon and
	// Delta; Epsilon is then only the unit of the Allowance.
	Voters []Voters
	// Classes is the number of labels that are voted for; 0 is 2, yes or no. For more of
	// them the label of an absolute majority is told with probability γ(its votes), and
	// one drawn uniformly otherwise.
	Classes int
}

// WithDefaultDelta returns p with OutputDelta = 1 − (1−Δ)^m: what the
// subsampling mechanisms of ⌊m⌋ votes and, by Theorem 2 of gamma.go, of
// 2⌊m⌋−1 votes are proved to need; with more than two classes 1 − (1−Δ)^K. It is
// zero for pure mechanisms.
func (p Params) WithDefaultDelta() Params {
	// Rounded up: the majority of all votes needs all of it.
	p.OutputDelta = -math.Expm1(p.Allowance*math.Log1p(-p.Delta)) * (1 + 16*xmath.U)
	if p.Classes > 2 {
		p.OutputDelta = p.labelLoss()
	}
	return p
}

// Check returns an error that names the first field out of range.
func (p Params) Check() error {
	if err := checkMechanisms(p.Mechanisms); err != nil {
		return err
	}
	if !(p.Epsilon >= minEpsilon && p.Epsilon <= maxEpsilon) {
		return fault.New("epsilon", "%v is not in [%g, %g]", p.Epsilon, minEpsilon, float64(maxEpsilon))
	}
	if p.Delta != 0 && !(p.Delta >= minDelta && p.Delta < 1) {
		return fault.New("delta", "%v is not 0 or in [%g, 1)", p.Delta, minDelta)
	}
	if !(p.Allowance >= 1 && p.Allowance <= float64(p.Mechanisms)) {
		return fault.New("allowance", "%v is not in [1, %d], from one mechanism to all of them", p.Allowance, p.Mechanisms)
	}
	if b := p.Allowance * p.Epsilon; b > maxBudget {
		return fault.New("allowance", "%v times epsilon %v is a budget above %g", p.Allowance, p.Epsilon, float64(maxBudget))
	}
	if !(p.OutputDelta >= p.Delta && p.OutputDelta < 1) || p.OutputDelta != 0 && p.OutputDelta < minDelta {
		return fault.New("output-delta", "%v is not in [delta, 1) = [%v, 1)", p.OutputDelta, p.Delta)
	}
	if err := p.checkLabels(); err != nil {
		return err
	}
	return p.checkVoters()
}

// checkLabels returns an error unless p.Classes is possible.
func (p Params) checkLabels() error {
	if p.Classes == 0 || p.Classes == 2 {
		return nil
	}
	if p.Classes < 2 || p.Classes > maxLabels {
		return fault.New("classes", "%d is not in [2, %d]", p.Classes, maxLabels)
	}
	if p.Mechanisms > maxLabelVoters {
		return fault.New("mechanisms", "%d is above %d, the most for votes for many classes", p.Mechanisms, maxLabelVoters)
	}
	if lost := p.labelLoss(); p.OutputDelta < lost {
		return fault.New("output-delta", "%v is below %v = 1 − (1−delta)^mechanisms, which votes for many classes are known to need", p.OutputDelta, lost)
	}
	return nil
}

// labelLoss is 1 − (1−Δ)^K, rounded up: what (ε, Δ) instead of (ε, 0) is charged.
func (p Params) labelLoss() float64 {
	return -math.Expm1(float64(p.Mechanisms)*math.Log1p(-p.Delta)) * (1 + 16*xmath.U)
}

// checkVoters returns an error that names the first field of p.Voters out of range.
func (p Params) checkVoters() error {
	if p.Voters == nil {
		return nil
	}
	total, most := 0, p.Delta
	for i, v := range p.Voters {
		at := func(field string) string { return fmt.Sprintf("voters[%d].%s", i, field) }
		if v.Count < 1 || v.Count > maxPanel {
			return fault.New(at("count"), "%d is not in [1, %d]", v.Count, maxPanel)
		}
		total += v.Count
		if v.Profile != nil {
			if v.Epsilon != 0 || v.Delta != 0 {
				return fault.New(at("epsilon"), "is set beside a profile, one of them must be left out")
			}
			if v.Profile.Directions[0].Upper == nil || v.Profile.Directions[1].Upper == nil {
				return fault.New(at("profile"), "has no upper profile in one direction")
			}
			most = max(most, minDelta)
			continue
		}
		if !(v.Epsilon >= minEpsilon && v.Epsilon <= maxEpsilon) {
			return fault.New(at("epsilon"), "%v is not in [%g, %g]", v.Epsilon, minEpsilon, float64(maxEpsilon))
		}
		if v.Delta != 0 && !(v.Delta >= minDelta && v.Delta < 1) {
			return fault.New(at("delta"), "%v is not 0 or in [%g, 1)", v.Delta, minDelta)
		}
		most = max(most, v.Delta)
	}
	if total != p.Mechanisms || total > maxPanel {
		return fault.New("mechanisms", "%d is not the number of voters, %d, or above %d", p.Mechanisms, total, maxPanel)
	}
	if p.OutputDelta < most {
		return fault.New("output-delta", "%v is not in [%v, 1), that of the voters", p.OutputDelta, most)
	}
	if p.Classes > 2 {
		return fault.New("voters", "cannot be set with %d classes", p.Classes)
	}
	_, err := newPanel(p.Voters, false)
	return err
}

// checkFree returns an error if noise functions that are not monotone cannot
// be certified for p.
func (p Params) checkFree() error {
	if p.Classes > 2 {
		return nil // their certificate does not need it
	}
	if p.Voters != nil {
		return fault.New("voters", "need a monotone noise function")
	}
	limit := maxFreeMechanisms
	if p.Delta > 0 {
		limit = maxFreeMechanismsDelta
	}
	if p.Mechanisms > limit {
		return fault.New("mechanisms", "%d is above %d, the most for a noise function that is not monotone with delta %v", p.Mechanisms, limit, p.Delta)
	}
	if !p.underflowSafe() {
		return fault.New("epsilon", "%v is too large for %d mechanisms and a noise function that is not monotone", p.Epsilon, p.Mechanisms)
	}
	return nil
}

// underflowSafe reports that positive probabilities of the tables of free noise
// functions stay normal numbers. Each is an average of h over numbers of ones;
// either it reaches the majority, where h ≥ ½, by at most n = K/2 + 1 coins of
// probability at least 1/(1+e^ε) ≥ e^{−ε}/2, or it averages minority values of h,
// which are 0 or at least 2^−54, over at most n such coins. (Monotone ones use
// the larger coin alone, of probability at least ½: 2^−501−54 at K = 1001.)
// Where Δ > 0 an additive error is charged instead, see tableError.
func (p Params) underflowSafe() bool {
	n := float64(half(p.Mechanisms))
	return p.Delta > 0 || n*(p.Epsilon+math.Ln2)+54*math.Ln2 < 700
}

// budget is mε.
func (p Params) budget() float64 { return p.Allowance * p.Epsilon }

// BudgetF returns R = e^{mε} − 1 + 2δ, what the privacy condition compares f
// with.
func (p Params) BudgetF() float64 { return math.Expm1(p.budget()) + 2*p.OutputDelta }

// How many votes and which ranges there may be.

// Limits of Params. Within them no probability that decides a certificate
// underflows (see underflowSafe), and tables fit in memory.
const (
	// maxMechanisms bounds K; with Delta > 0 a sweep costs K³/3 operations.
	maxMechanisms = 1001
	// maxFreeMechanisms and maxFreeMechanismsDelta bound K for noise functions
	// that are not monotone, with Delta = 0 (K³/6 corner multisets) and with
	// Delta > 0 (K⁵/120 of them, and hundreds of rows).
	maxFreeMechanisms      = 201
	maxFreeMechanismsDelta = 51

	maxEpsilon, minEpsilon = 10, 1e-9
	maxBudget              = 100
	minDelta               = 1e-30
)

func checkMechanisms(k int) error {
	if k < 1 || k > maxMechanisms {
		return fault.New("mechanisms", "%d is not in [1, %d]", k, maxMechanisms)
	}
	return nil
}

// half returns n, the smallest majority of k votes.
func half(k int) int { return k/2 + 1 }

// free returns the number of majorities n..K, and so of free entries of a noise
// function. It is also the cost, in units of ε, of the noise-free majority
// (Theorem 1 of gamma.go; an even number of votes is one less in disguise).
func free(k int) int { return (k + 1) / 2 }

// Limits of votes for many labels: a sweep costs K⁷ operations for each label.
const (
	maxLabelVoters = 21
	maxLabels      = 100
)

// Limits of unlike voters: their number, the families that are looked at, and how many
// of those a profile may take by having many corners.
const (
	maxPanel        = 101
	maxFamilies     = 2e6
	profileFamilies = 2e5
	mostLines       = 16
)

// Mechanisms that are alike, of a panel in which not all are.

// Voters are mechanisms of a private majority that are alike: Count of them, each
// (Epsilon, Delta)-DP or, where Profile is set, with those Bounds (a teacher trained by
// DP-SGD, say).
type Voters struct {
	Count          int
	Epsilon, Delta float64
	Profile        *profiles.Bounds
}

// Group puts mechanisms that are alike together, in order of their ε and Δ; deltas nil is
// all zero.
func Group(epsilons, deltas []float64) (out []Voters) {
	for i, e := range epsilons {
		v := Voters{Count: 1, Epsilon: e}
		if deltas != nil {
			v.Delta = deltas[i]
		}
		at, found := slices.BinarySearchFunc(out, v, func(a, b Voters) int {
			return cmp.Or(cmp.Compare(a.Epsilon, b.Epsilon), cmp.Compare(a.Delta, b.Delta))
		})
		if found {
			out[at].Count++
		} else {
			out = slices.Insert(out, at, v)
		}
	}
	return out
}

// WithCurve returns v as mechanisms that are (ε_i, δ_i)-DP for each of the pairs given, with
// ε_i ascending from 0, in place of Epsilon and Delta: such as the certified curve of a
// training run. A bound between two of the ε_i is the chord of the ends in e^ε.
func (v Voters) WithCurve(r profiles.Relation, epsilons, deltas []float64) (Voters, error) {
	if len(epsilons) != len(deltas) || len(epsilons) == 0 || epsilons[0] != 0 {
		return v, fault.New("curve", "must have as many δ as ε, and begin at ε = 0")
	}
	for i := range epsilons {
		if i > 0 && !(epsilons[i] > epsilons[i-1] && epsilons[i] <= 600) {
			return v, fault.New("curve", "%v is not above the ε before it, or above 600", epsilons[i])
		}
		if !(deltas[i] >= 0 && deltas[i] <= 1) {
			return v, fault.New("curve", "%v is not in [0, 1]", deltas[i])
		}
	}
	d, err := profiles.NewChords(epsilons, deltas, deltas)
	if err != nil {
		return v, err
	}
	// A mechanism with the pair itself is one of those meant.
	side := profiles.Direction{Upper: d, Lower: d}
	v.Epsilon, v.Delta = 0, 0
	v.Profile = &profiles.Bounds{Name: "curve", Relation: r, Directions: [2]profiles.Direction{side, side}}
	return v, nil
}
