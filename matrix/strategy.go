package matrix

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/subsample"
)

// This file has the strategies: what a matrix C is. Their constructors check everything
// but the number of steps, which a Config adds.

// A Strategy is the matrix C of a run, for any number of steps. The zero value is none.
type Strategy struct {
	kind           strategyKind
	bands          int       // square root, identity (1), coefficients: those that are not 0
	coefficients   []float64 // toeplitz
	scales, decays []float64 // blt
	completion     bool      // tree
	rows           []row     // banded
}

type strategyKind int

const (
	noStrategy strategyKind = iota
	squareRoot
	toeplitz
	blt
	tree
	banded
)

// A row of a lower triangular matrix, without the zeros at its ends.
type row struct {
	from   int // column of the first value
	values []float64
}

// Entries other than 0 are within these sizes, so that their squares, and the low halves
// of sums of those, neither overflow nor lose bits.
const minEntry, maxEntry = 1e-60, 1e60

func checkEntry(field string, x float64) error {
	if a := math.Abs(x); x != 0 && !(a >= minEntry && a <= maxEntry) {
		return fault.New(field, "%v is not 0 or in ±[%g, %g]", x, minEntry, maxEntry)
	}
	return nil
}

// Limits of size: of memory and time.
const (
	maxSteps = 1 << 22 // Toeplitz: 48 bytes a step
	maxTree  = 1 << 20
	maxRows  = 16384
	maxGram  = 4096 // rows of which the Gram matrix is made, 8·n²/2 bytes
	maxTerms = 64   // of a BLT
)

// Identity returns C = I: independent noise.
func Identity() Strategy { return Strategy{kind: squareRoot, bands: 1} }

// SquareRoot returns the Toeplitz matrix of the first so many coefficients of
// (1−x)^(−1/2): with as many bands as steps it is the square root of the matrix of
// prefix sums (Fichtenberger, Henzinger and Upadhyay, ICML 2023).
func SquareRoot(bands int) (Strategy, error) {
	if bands < 1 || bands > maxSteps {
		return Strategy{}, fault.New("bands", "%d is not an integer in [1, %d]", bands, maxSteps)
	}
	return Strategy{kind: squareRoot, bands: bands}, nil
}

// Toeplitz returns the matrix with C_ij = coefficients[i−j], 0 beyond the list. Their
// number says nothing about the number of steps.
func Toeplitz(coefficients []float64) (Strategy, error) {
	const field = "coefficients"
	if len(coefficients) == 0 || len(coefficients) > maxSteps {
		return Strategy{}, fault.New(field, "has %d numbers, must have 1 to %d", len(coefficients), maxSteps)
	}
	bands := 0
	for i, c := range coefficients {
		if err := checkEntry(fmt.Sprintf("%s[%d]", field, i), c); err != nil {
			return Strategy{}, err
		}
		if c != 0 {
			bands = i + 1
		}
	}
	if coefficients[0] == 0 {
		return Strategy{}, fault.New(field+"[0]", "0 is not the diagonal of a matrix that can be inverted")
	}
	return Strategy{kind: toeplitz, bands: bands, coefficients: append([]float64(nil), coefficients[:bands]...)}, nil
}

// BLT returns the buffered linear Toeplitz matrix with coefficients 1 and then
// Σ scales[i]·decays[i]^(t−1) (Dvijotham, McMahan, Pillutla, Steinke and Thakurta, 2024).
func BLT(scales, decays []float64) (Strategy, error) {
	if len(scales) == 0 || len(scales) > maxTerms {
		return Strategy{}, fault.New("scales", "has %d numbers, must have 1 to %d", len(scales), maxTerms)
	}
	if len(decays) != len(scales) {
		return Strategy{}, fault.New("decays", "has %d numbers, must have as many as scales, %d", len(decays), len(scales))
	}
	for i := range scales {
		if a := scales[i]; a != 0 && !(a >= minEntry && a <= maxEntry) {
			return Strategy{}, fault.New(fmt.Sprintf("scales[%d]", i), "%v is not 0 or in [%g, %g]", a, minEntry, maxEntry)
		}
		if d := decays[i]; !(d >= 0 && d < 1) {
			return Strategy{}, fault.New(fmt.Sprintf("decays[%d]", i), "%v is not in [0, 1)", d)
		}
	}
	return Strategy{kind: blt, scales: append([]float64(nil), scales...), decays: append([]float64(nil), decays...)}, nil
}

// Tree returns the binary tree: a row for each node, which is the sum of the steps below
// it and is released when the last of them is done. Nodes that the steps do not fill are
// never released; with completion they are at the end, as if empty steps followed.
func Tree(completion bool) Strategy { return Strategy{kind: tree, completion: completion} }

// Rows returns a lower triangular matrix from its rows, row i with i+1 numbers, or with
// more that are 0, or with fewer, which are those up to the diagonal.
// The diagonal must not have a 0.
func Rows(rows [][]float64) (Strategy, error) {
	if len(rows) == 0 || len(rows) > maxRows {
		return Strategy{}, fault.New("rows", "has %d rows, must have 1 to %d", len(rows), maxRows)
	}
	s := Strategy{kind: banded, rows: make([]row, len(rows))}
	for i, r := range rows {
		field := fmt.Sprintf("rows[%d]", i)
		if len(r) == 0 || len(r) > len(rows) {
			return Strategy{}, fault.New(field, "has %d numbers, must have 1 to %d", len(r), len(rows))
		}
		for j, x := range r {
			if err := checkEntry(field, x); err != nil {
				return Strategy{}, err
			}
			if j > i && x != 0 {
				return Strategy{}, fault.New(field, "%v in column %d is above the diagonal, must be 0", x, j)
			}
		}
		from := max(0, i+1-len(r)) // the column of the first number
		r = r[:min(len(r), i+1)]
		if r[len(r)-1] == 0 {
			return Strategy{}, fault.New(field, "0 is on the diagonal of a matrix that must be inverted")
		}
		for r[0] == 0 {
			r, from = r[1:], from+1
		}
		s.rows[i] = row{from, append([]float64(nil), r...)}
		s.bands = max(s.bands, len(r))
	}
	return s, nil
}

// String names the strategy, as in a plan.
func (s Strategy) String() string {
	switch s.kind {
	case squareRoot:
		if s.bands == 1 {
			return "identity"
		}
		return fmt.Sprintf("square-root with %d bands", s.bands)
	case toeplitz:
		return fmt.Sprintf("toeplitz with %d bands", s.bands)
	case blt:
		return fmt.Sprintf("blt with %d buffers", len(s.scales))
	case tree:
		return "tree"
	case banded:
		return fmt.Sprintf("banded with %d bands", s.bands)
	}
	return "none"
}

// isToeplitz reports whether coefficients describe the matrix.
func (s Strategy) isToeplitz() bool {
	return s.kind == squareRoot || s.kind == toeplitz || s.kind == blt
}

// toeplitzCoefficients returns those of n steps, zeros at the end left out, and whether
// they are proved to be non-negative and non-increasing.
func (s Strategy) toeplitzCoefficients(n int) (c []double, falling bool) {
	switch s.kind {
	case squareRoot:
		c = make([]double, min(n, s.bands))
		c[0] = double{1, 0}
		for t := 1; t < len(c); t++ {
			// c_t = c_{t−1}·(2t−1)/(2t) falls.
			c[t] = c[t-1].times(float64(2*t - 1)).ratio(float64(2 * t))
		}
		return c, true
	case toeplitz:
		c, falling = make([]double, min(n, s.bands)), true
		for t := range c {
			c[t] = double{s.coefficients[t], 0}
			falling = falling && c[t].hi >= 0 && (t == 0 || c[t].hi <= c[t-1].hi)
		}
		return c, falling
	}
	// Powers fall, so that the coefficients do from the second on, and the first is 1.
	c = make([]double, n)
	c[0] = double{1, 0}
	for i, a := range s.scales {
		term := double{a, 0}
		for t := 1; t < n && term.hi > minTerm; t++ {
			c[t] = c[t].add(term)
			term = term.times(s.decays[i])
		}
	}
	return c, n < 2 || !(double{1, 0}).less(c[1])
}

// minTerm is where terms of a BLT end: what is left out is below 2^6·2^22·1e-150, far less
// than the 2^-62 to which the sensitivity, at least 1, is known.
const minTerm = 1e-150

// This file has the sensitivities of binary trees, which are whole numbers: for a pattern,
// Σ over nodes of the square of its steps below the node. Node a of level l is over the
// steps [a·2^l, (a+1)·2^l), and is released if all of them are there.

// A binary is the tree over n steps.
type binary struct{ n int }

// newBinary returns the tree of so many steps; with completion as many follow as fill it.
func newBinary(steps int, completion bool) binary {
	if completion {
		return binary{1 << bits.Len(uint(steps-1))}
	}
	return binary{steps}
}

// levels returns the number of levels that have a node: ⌊log₂ n⌋ + 1, the square of the
// sensitivity to one participation, since the nodes over step 0 are the first to be filled.
func (t binary) levels() int { return bits.Len(uint(t.n)) }

// common returns the number of released nodes over both steps.
func (t binary) common(i, j int) int {
	count := 0
	for l := bits.Len(uint(i ^ j)); l < t.levels() && (i>>l+1)<<l <= t.n; l++ {
		count++
	}
	return count
}

// gram returns the Gram matrix for the first so many steps.
func (t binary) gram(steps int) *gram {
	g := newGram(steps)
	for j := range steps {
		for i := range j + 1 {
			g.x[j][i] = float64(t.common(i, j))
		}
	}
	return g
}

// squared returns Σ hits² of an ascending pattern.
func (t binary) squared(pattern []int) int {
	total := 0
	for l := range t.levels() {
		for s := 0; s < len(pattern); {
			node, hits := pattern[s]>>l, 0
			for ; s < len(pattern) && pattern[s]>>l == node; s++ {
				hits++
			}
			if (node+1)<<l <= t.n {
				total += hits * hits
			}
		}
	}
	return total
}

// bound is above squared for every pattern of at most k steps, b apart: on each level a
// node has at most h = min(k, ⌈2^l/b⌉) hits, and all together k; squares are largest if as
// many nodes as possible have h.
func (t binary) bound(b, k int) int {
	total := 0
	for l := range t.levels() {
		h := min(k, (1<<l+b-1)/b)
		hits := min(k, h*(t.n>>l))
		total += hits/h*h*h + (hits%h)*(hits%h)
	}
	return total
}

// This file has the sensitivities of Toeplitz matrices. Coefficients are doubles, zeros at
// the end left out; squares of sensitivities are returned.

// stridedSquared returns |Σ_s u_s·c_{sb}|² over s < k and columns sb < n, with u_s = 1,
// or (−1)^s if alternate: the pattern {0, b, 2b, …} with equal or alternating
// contributions. For non-negative, non-increasing coefficients and u = 1 that is the
// sensitivity under every schema with k participations b steps apart: Kalinin and
// Lampert 2024 (arXiv:2405.13763), Theorem 2.
//
// The rows are S_t = Σ_{s<k} u_s·c_{t−sb}, by S_t = ±S_{t−b} + c_t − u_k·c_{t−kb}. This
// subtracts: with S the larger of the largest |S_t| and |c_t|, the error of each is at most
// n/b·32u²·S, which makes at most n·2S·n/b·32u²S of Σ S_t². Where that is at least |c|²,
// which is when it is used, it is at least S², so that the relative error is at most
// 64n²u² ≤ 2^-56 for n ≤ 2^22, and that of its root half as much.
func stridedSquared(c []double, n, b, k int, alternate bool) double {
	if k == 1 || b >= n {
		return normSquared(c, n)
	}
	var total double
	sums := make([]double, b) // S of the last b steps, by t mod b
	for t := range n {
		s := sums[t%b]
		if alternate {
			s = s.neg()
		}
		if t < len(c) {
			s = s.add(c[t])
		}
		if old := t - k*b; old >= 0 && old < len(c) {
			last := c[old]
			if alternate && k%2 == 1 {
				last = last.neg()
			}
			s = s.sub(last)
		}
		sums[t%b] = s
		total = total.add(s.mul(s))
	}
	return total
}

// leading returns coefficients to the digits of a float64.
func leading(c []double) []float64 {
	out := make([]float64, len(c))
	for t, x := range c {
		out[t] = x.hi
	}
	return out
}

// normSquared returns Σ c_t² over the first n.
func normSquared(c []double, n int) double {
	var total double
	for _, x := range c[:min(n, len(c))] {
		total = total.add(x.mul(x))
	}
	return total
}

// columnNorms returns the squares of the norms of the columns i of n steps: column i has
// the first n − i coefficients. They fall with i.
func columnNorms(c []double, n int) func(i int) double {
	sums := make([]double, len(c)+1)
	for t, x := range c {
		sums[t+1] = sums[t].add(x.mul(x))
	}
	return func(i int) double { return sums[min(n-i, len(c))] }
}

// orthogonalSquared returns the sensitivity for columns of which those b apart have no row
// in common: the norms of the first columns that are b apart, since norms fall. Signs do
// not count.
func orthogonalSquared(c []double, n, b, k int) double {
	norm := columnNorms(c, n)
	var total double
	for i, s := 0, 0; s < k && i < n; i, s = i+b, s+1 {
		total = total.add(norm(i))
	}
	return total
}

// majorant returns non-negative, non-increasing coefficients that are at least |c|: with
// them every |X_ij| is at least as large, so that the sensitivity is an upper bound.
func majorant(c []double) []double {
	m := make([]double, len(c))
	var most double
	for t := len(c) - 1; t >= 0; t-- {
		most = larger(most, c[t].abs())
		m[t] = most
	}
	return m
}

func nonNegative(c []double) bool {
	return !slices.ContainsFunc(c, func(x double) bool { return x.hi < 0 })
}

// This file turns a banded matrix with cyclic Poisson sampling into a list of Gaussians,
// each on a Poisson sample.
//
// Theorem M2 (proof at the end): a record of group j costs the composition, over the steps
// i = j, j+b, j+2b, … of its group, of the Poisson-Gaussian pairs with noise multiplier
// σ/|c_i|; exactly. Which group a record is in is unknown, and may be another in each run:
// the price of a run is the largest of those of the groups, taken run by run.
//
// A pair grows with |c_i|, so that a group whose norms, sorted, are at least those of every
// other costs most at every ε. Group 0 does for Toeplitz matrices. Where no group does, the
// largest norm of each rank makes a list above all groups; the list of one group is reached.

// A Block is what a record meets when its group has its turn: a column of the matrix, as
// many times as there are columns of this norm.
type Block struct {
	Norm    Sensitivity // of the column; Lower is 0 if the attack has no such block
	Count   int64
	squares squares
}

// blocks returns the list for the group that costs most, and that group. Blocks of the
// list are exact if one group costs most.
func (c Config) blocks() (list []Block, group int) {
	n, cycle := c.Steps, c.Participation.separation
	if c.Strategy.isToeplitz() {
		coefficients, _ := c.Strategy.toeplitzCoefficients(n)
		norm := columnNorms(coefficients, n)
		var norms []double
		for i := 0; i < n; i += cycle {
			norms = append(norms, norm(i))
		}
		return merge(norms, norms), 0
	}
	norms := columnsOf(c.Strategy.rows).normsSquared()
	groups := make([][]double, cycle)
	for j := range groups {
		for i := j; i < n; i += cycle {
			groups[j] = append(groups[j], norms[i])
		}
		slices.SortFunc(groups[j], func(a, b double) int { return b.compare(a) })
	}
	above := slices.Clone(groups[0]) // of the group with the most blocks
	for _, g := range groups[1:] {
		for rank, x := range g {
			above[rank] = larger(above[rank], x)
		}
	}
	// The attack is the group with the largest sum of squares, which is the one that
	// costs most if there is one.
	var most double
	for j, g := range groups {
		var total double
		for _, x := range g {
			total = total.add(x)
		}
		if j == 0 || most.less(total) {
			group, most = j, total
		}
	}
	return merge(above, groups[group]), group
}

// merge returns the blocks of a descending list above and one below, which may be shorter.
func merge(above, below []double) []Block {
	var list []Block
	for rank, x := range above {
		s := squares{upper: x}
		if rank < len(below) {
			s.lower = below[rank]
		}
		s.exact = s.lower == s.upper
		if last := len(list) - 1; last >= 0 && list[last].squares == s {
			list[last].Count++
			continue
		}
		list = append(list, Block{Norm: s.root(), Count: 1, squares: s})
	}
	for i := range list {
		list[i].Norm.Lower = max(0, list[i].Norm.Lower)
	}
	return list
}

// blockRuns returns the list of runs.
func blockRuns(sigma, rate float64, blocks []Block) ([]subsample.Run, error) {
	scheme, err := subsample.NewPoisson(rate)
	if err != nil {
		return nil, err
	}
	var runs []subsample.Run
	for _, block := range blocks {
		b, err := gaussian(sigma, block.squares)
		if err != nil {
			return nil, err
		}
		runs = append(runs, subsample.Run{Mechanism: b, Scheme: scheme, Count: block.Count})
	}
	return runs, nil
}

// Theorem M2: banded matrices with cyclic Poisson sampling.
//
// Theorem M2 (sharper than Choquette-Choo et al. 2023, arXiv:2306.08153, Theorems 4 and 5). Let C_rt = 0 for r
// − t ≥ p, and let the cycle be b ≥ p. A record of group j costs, under add-remove and zero-out, exactly the
// composition over i = j, j+b, j+2b, … < n of the Poisson-Gaussian pairs of rate q and noise multiplier σ/|c_i|, c_i
// the columns of C.
//
// Proof. Column i is in rows i, …, i+p−1, the block of turn i; the blocks of one group have no row in common, as b ≥
// p. Fix the coins and the contributions of all other records as functions of the past. When block i begins, u = u_i
// is known (it depends on rows released before), and the record's coin is fresh. Inside the block the likelihood
// ratio of the rows, with the record to without it, is 1 − q + q·exp(Σ_r C_ri⟨u, z_r⟩/σ² − |c_i|²|u|²/2σ²), where
// z_r is the noise under the data set without the record, whatever others do inside the block. The sum in the
// exponent is normal with variance |c_i|²|u|²/σ²: the ratio has the law of the Poisson-Gaussian pair of shift
// |c_i||u|/σ ≤ |c_i|/σ, which grows with the shift (a smaller contribution is the larger one with independent noise
// added). Other rows have ratio 1. Ratios of different blocks multiply, and given the past each is as above:
// adaptive composition. With |u| = 1 it is attained. ∎
//
// Nobody knows the group of a record, and it may be another in every run. So a run costs the largest of its
// groups' profiles, run by run, before anything else is composed: with cycle 2, rate 1, σ = 1, and the matrices
// diag(1, 0.1) and diag(0.1, 1), one group for both runs would make δ(1) = 0.1287; the truth is 0.2862. A group
// whose norms, sorted, are at least those of each other costs most at every ε: group 0 for Toeplitz matrices. If no
// group is such, the list with the largest norm of each rank is above all, and the group with the largest sum of
// squares is the attack; the report then has a gap.
//
// Under substitute this is refused. A substitute may be in another group, whose blocks overlap those of the
// record in two places: with C = [[1,0,0],[1,1,0],[0,1,1]], cycle 2, q = 0.05 and σ = 1 the blocks of either group
// say δ(2) ≤ 5.863e-5, and the truth is 6.29e-5.
