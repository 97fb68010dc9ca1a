// From labels to noisy labels: what the histogram gets, the prior that it gives, and one
// release of each label.

package labeldp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// maxCells bounds the cells of a histogram over groups and labels.
const maxCells = 1 << 20

// SplitBudget splits ε into what the histogram of n labels gets and what is
// left for the randomizer: ε₁ = √(k/n) for k labels, or cells of label and group
// (Ghazi et al., ICLR 2023).
// It is an error if ε₁ ≥ ε: then there are too few examples to learn a prior
// from, and a public or uniform one should be used.
func SplitBudget(eps float64, k int, n int64) (eps1, eps2 float64, err error) {
	if err := checkEpsilon(eps); err != nil {
		return 0, 0, err
	}
	if k < 1 || k > maxCells {
		return 0, 0, fault.New("k", "%d is not in [1, %d]", k, maxCells)
	}
	if n < 1 {
		return 0, 0, fault.New("n", "%d is not in [1, ∞)", n)
	}
	eps1 = math.Sqrt(float64(k) / float64(n))
	eps2 = eps - eps1
	if eps1 < minEpsilon || eps2 < minEpsilon {
		return 0, 0, fault.New("n", "%d examples of %d labels would need %.4g of epsilon %v for the prior: use a public prior, or split by hand", n, k, eps1, eps)
	}
	return eps1, eps2, nil
}

// noiseBits is the lattice of the histogram's noise: multiples of 2⁻¹⁰.
const noiseBits = 10

// EstimatePrior estimates the prior from the counts of a private column: Laplace
// noise of scale 2/ε on every count, negative ones set to 0, normalized;
// uniform if nothing is left. arXiv:2312.05659, Algorithm 4. A floor γ mixes in
// the uniform prior: (1−γ)p + γ·uniform.
//
// labels must be public, not read off the column. The release is ε-DP under
// replacement of one label, which moves one unit between two counts: its cost
// is exactly that of two Laplace mechanisms of ε/2. The noise is Laplace noise rounded to
// multiples of 2⁻¹⁰, which is post-processing of the Laplace mechanism because
// counts are such multiples themselves. It is an exact draw, added to the count as
// an integer, so that the law of every noisy count is exact; what is computed from them afterwards in
// floating point is post-processing. The source nil is the operating system's.
func EstimatePrior(labels []float64, counts []int64, eps, floor float64, src rand.Source) (Prior, error) {
	_, wrong := checkCounts("counts", labels, counts)
	if err := cmp.Or(checkEpsilon(eps), wrong); err != nil {
		return Prior{}, err
	}
	noise := drawNoise(random.Source(src), eps, len(counts))
	priors, err := groupPriors(labels, [][]int64{counts}, [][]*big.Int{noise}, eps, floor)
	if err != nil {
		return Prior{}, err
	}
	return priors[0], nil
}

// drawNoise draws the noise of so many counts, in steps of 2^−noiseBits.
func drawNoise(src rand.Source, eps float64, n int) []*big.Int {
	const step = 1. / (1 << noiseBits)
	noise := make([]*big.Int, n)
	for i := range noise { // 2/ε is rounded up: more noise costs less
		noise[i] = random.Noisy(step/2, xmath.Up(2/eps, 1), random.Laplace(src)).Floor(step)
	}
	return noise
}

// checkCounts returns the sum of the counts of labels, or what is wrong with them.
func checkCounts(field string, labels []float64, counts []int64) (n int64, err error) {
	if len(counts) != len(labels) {
		return 0, fault.New(field, "has %d entries, must have as many as labels (%d)", len(counts), len(labels))
	}
	for i, c := range counts {
		if c < 0 || c > xmath.MaxCount {
			return 0, fault.New(fmt.Sprintf("%s[%d]", field, i), "%d is not in [0, 2^53]", c)
		}
		n = min(n+c, xmath.MaxCount)
	}
	return n, nil
}

// histogram is half of the release of a noisy histogram of labels with total
// cost ε (Laplace noise of scale 2/ε on every count): run it twice.
//
// Replacing a label moves one unit between two cells of independent noise; the
// dominating pair is the product of two (ε/2)-Laplace pairs, which is about half
// the δ of one Laplace pair of sensitivity 2.
type histogram struct{ eps float64 }

func (histogram) Name() string { return "label-histogram" }

func (h histogram) Pair(rel profiles.Relation) (profiles.Profile, error) {
	if err := cmp.Or(substituteOnly(rel), checkEpsilon(h.eps)); err != nil {
		return nil, err
	}
	return profiles.NewLaplace(2 / h.eps)
}

// A Plan says how a column of labels is made private.
type Plan struct {
	// Labels is the public set of labels; a column may hold no other.
	Labels []float64
	// Epsilon is the whole budget.
	Epsilon float64
	// PriorEpsilon is what the private histogram gets; 0 leaves it to
	// [SplitBudget].
	PriorEpsilon float64
	// Floor is the share of the uniform prior in the estimated one; see [EstimatePrior].
	Floor float64
}

// A Stage is one step of what a pipeline did: a mechanism, under substitute, and how often it ran
// on each label. Epsilon is that of all its runs together. The mechanism is half of the release of a
// noisy histogram of labels, or one label through an ε-DP randomizer of which nothing else is known.
type Stage struct {
	Mechanism profiles.Mechanism
	Epsilon   float64
	Count     int64
}

// Design does the first two steps of Algorithm 3 of arXiv:2312.05659, for each group of
// examples: it estimates the prior of the group from the counts of the column (counts[g][i] of
// Labels[i] in group g; one group has the whole column), as [Plan.GroupPriors] does, and
// returns the optimal unbiased randomizer for it. Randomizing each label of the
// column once completes the algorithm, which is Epsilon-DP under replacement of
// one label. (The paper's listing hands the histogram's ε₁ to the output grid;
// ε₂ is what is meant.)
//
// The stages are what an accountant should compose. The randomizer depends on
// the noisy histogram, so that its realized privacy must not be charged: the
// worst case of its ε is. Once ctx is done, the error is that of ctx.
func (pl Plan) Design(ctx context.Context, counts [][]int64, src rand.Source) ([]Randomizer, []Certificate, []Prior, []Stage, error) {
	priors, stages, err := pl.GroupPriors(counts, src)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	rs, certs := make([]Randomizer, len(priors)), make([]Certificate, len(priors))
	for g, p := range priors {
		if rs[g], certs[g], err = OptimalUnbiased(ctx, p, stages[1].Epsilon); err != nil {
			return nil, nil, nil, nil, err
		}
	}
	return rs, certs, priors, stages, nil
}

// split returns what the histogram of so many cells and n labels gets, and the randomizer.
func (pl Plan) split(cells int, n int64) (eps1, eps2 float64, err error) {
	if pl.PriorEpsilon == 0 {
		return SplitBudget(pl.Epsilon, cells, n)
	}
	if err := checkEpsilon(pl.Epsilon); err != nil {
		return 0, 0, err
	}
	eps1, eps2 = pl.PriorEpsilon, pl.Epsilon-pl.PriorEpsilon
	if !(eps1 >= minEpsilon && eps2 >= minEpsilon) {
		return 0, 0, fault.New("prior-epsilon", "%v is not in [%v, %v]", pl.PriorEpsilon, float64(minEpsilon), pl.Epsilon-minEpsilon)
	}
	return eps1, eps2, nil
}

// stages is what an accountant should compose of a histogram and a randomizer designed
// from it.
func stages(eps1, eps2 float64) []Stage {
	return []Stage{{Mechanism: histogram{eps1}, Epsilon: eps1, Count: 2}, {Mechanism: worstCase{eps2}, Epsilon: eps2, Count: 1}}
}

// count returns how often each of labels occurs in the column, and the index of
// the label of every entry.
func count(labels, column []float64) (counts []int64, index []int, err error) {
	at := make(map[float64]int, len(labels))
	for i, y := range labels {
		at[y] = i
	}
	counts, index = make([]int64, len(labels)), make([]int, len(column))
	for i, y := range column {
		j, ok := at[y]
		if !ok {
			return nil, nil, fault.New(fmt.Sprintf("column[%d]", i), "%v is not one of the %d labels", y, len(labels))
		}
		counts[j]++
		index[i] = j
	}
	return counts, index, nil
}

// One prior for each group of examples, where groups are told apart by public features:
// parallel composition.

// Theorem (disjoint groups). Let every example belong to one of G groups, by its features
// alone. Release the histogram of group and label with Laplace noise of scale 2/ε₁ on each
// of its k·G cells; choose an ε₂-DP randomizer for every group, from all of the noisy
// cells in any way; randomize every label once by that of its group. Under replacement of
// one label this costs [histogram] with ε₁ twice and [worstCase] with ε₂ once: what one
// group alone would, however many there are.
//
// Proof. Features do not change, so the example stays in its group g. The replacement
// moves one unit between two cells of g and leaves all others as they are: the noisy cells
// are two Laplace mechanisms of ε₁/2. Given their values, all randomizers are the same for
// both data sets, every other example's output has the same law and is independent of this
// example's, and this example's is one ε₂-DP release. Adaptive composition of the two is
// dominated by that of their dominating pairs. ∎
//
// With known priors groups never lose: the least half-loss is a minimum of functions that
// are linear in the prior, hence concave, so that Σ w_g G*(P_g) ≤ G*(Σ w_g P_g).

// GroupPriors estimates a prior for each group of examples, where the groups are told apart
// by public features: counts[g][i] is how often Labels[i] occurs in group g. Together
// with one release of every label, by an ε₂-DP randomizer chosen from the priors, this
// costs the stages returned, which are those of one group: see the theorem above.
// The prior's share, unless given, is √(kG/n) for kG cells.
//
// The noisy histogram of a group is drawn towards that of all examples, the more the
// smaller the group (James and Stein's estimator), which is post-processing.
func (pl Plan) GroupPriors(counts [][]int64, src rand.Source) ([]Prior, []Stage, error) {
	if len(counts) == 0 || len(counts)*len(pl.Labels) > maxCells {
		return nil, nil, fault.New("counts", "%d groups of %d labels are not in [1, %d] cells", len(counts), len(pl.Labels), maxCells)
	}
	var n int64
	for g, row := range counts {
		some, err := checkCounts(fmt.Sprintf("counts[%d]", g), pl.Labels, row)
		if err != nil {
			return nil, nil, err
		}
		n = min(n+some, xmath.MaxCount)
	}
	eps1, eps2, err := pl.split(len(pl.Labels)*len(counts), n)
	if err != nil {
		return nil, nil, err
	}
	src = random.Source(src)
	noise := make([][]*big.Int, len(counts))
	for g := range noise {
		noise[g] = drawNoise(src, eps1, len(pl.Labels))
	}
	priors, err := groupPriors(pl.Labels, counts, noise, eps1, pl.Floor)
	return priors, stages(eps1, eps2), err
}

// groupPriors makes the priors of groups from counts and noise in steps of 2^−noiseBits.
// One group has the noisy counts as they are.
func groupPriors(labels []float64, counts [][]int64, noise [][]*big.Int, eps1, floor float64) ([]Prior, error) {
	k := len(labels)
	noisy := make([][]float64, len(counts))
	sizes := make([]float64, len(counts))
	pooled := make([]float64, k)
	all := 0.0
	for g, row := range counts {
		noisy[g] = make([]float64, k)
		for i, c := range row {
			x := big.NewInt(c)
			x.Lsh(x, noiseBits).Add(x, noise[g][i])
			f, _ := x.Float64()
			noisy[g][i] = f / (1 << noiseBits)
			// The size of a group is public; only its division among labels is not.
			sizes[g] += float64(c)
			pooled[i] += noisy[g][i]
		}
		all += sizes[g]
	}
	var out []Prior
	for g, row := range noisy {
		// Shares of the group and of all, their squared distance, and how much of it noise
		// makes: Laplace noise of scale b has variance 2b².
		size, far := max(sizes[g], 1), 0.0
		for i, x := range row {
			d := x/size - pooled[i]/max(all, 1)
			far += d * d
		}
		b := 2 / eps1 / size
		towards := 1.0
		if made := float64(k) * 2 * b * b; sizes[g] > 0 && far > made {
			towards = made / far
		}
		weights, positive := make([]float64, k), false
		for i, x := range row {
			weights[i] = max((1-towards)*x/size*max(all, 1)+towards*pooled[i], 0)
			positive = positive || weights[i] > 0
		}
		if !positive {
			weights = nil
		}
		p, err := NewPrior(labels, weights)
		if err != nil {
			return nil, err
		}
		if len(p.labels) != k {
			return nil, fault.New("labels", "%d of %d are repeated, each must be listed once", k-len(p.labels), k)
		}
		if p, err = p.mix(floor); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// RandomizeColumn runs Algorithm 3 of arXiv:2312.05659 on a column in memory, see
// [Plan.Design]. groups[i] is the group of column[i], 0 or more, told by its features; nil is one
// group of all. It returns a randomizer for each group.
func (pl Plan) RandomizeColumn(ctx context.Context, column []float64, groups []int, src rand.Source) ([]float64, []Randomizer, error) {
	if groups == nil {
		groups = make([]int, len(column))
	}
	if len(groups) != len(column) {
		return nil, nil, fault.New("groups", "has %d entries, must have as many as column (%d)", len(groups), len(column))
	}
	_, index, err := count(pl.Labels, column)
	if err != nil {
		return nil, nil, err
	}
	last := 0
	for i, g := range groups {
		if g < 0 || g >= maxCells {
			return nil, nil, fault.New(fmt.Sprintf("groups[%d]", i), "%d is not in [0, %d)", g, maxCells)
		}
		last = max(last, g)
	}
	if (last+1)*len(pl.Labels) > maxCells {
		return nil, nil, fault.New("groups", "%d groups of %d labels are not in [1, %d] cells", last+1, len(pl.Labels), maxCells)
	}
	counts := make([][]int64, last+1)
	for g := range counts {
		counts[g] = make([]int64, len(pl.Labels))
	}
	for i, j := range index {
		counts[groups[i]][j]++
	}
	rs, _, _, _, err := pl.Design(ctx, counts, src)
	if err != nil {
		return nil, nil, err
	}
	at := make([]int, len(pl.Labels))
	for i, y := range pl.Labels {
		at[i], _ = slices.BinarySearch(rs[0].Labels(), y)
	}
	out := make([]float64, len(column))
	for i, j := range index {
		r := rs[groups[i]]
		out[i] = r.Outputs()[r.SampleIndex(at[j], src)]
	}
	return out, rs, nil
}

// The privacy of the pipeline.
//
// The pipeline (Algorithm 3): a histogram with Laplace noise of scale 2/ε₁ on each count, then the randomizer
// with ε₂. Replacing a label moves one unit between two counts, so the histogram costs exactly two Laplace
// mechanisms of ε₁/2 (histogram, counted twice). The randomizer was designed from its output, so an a-priori
// statement must hold for every randomizer that could have come out: worstCase, binary randomized response at ε₂.
// Only with a public prior may the realized τ be charged. Pure ε: ε₁ + ε₂.
//
// Let every example belong to one of G groups by its features alone. The histogram of group and label is one
// histogram of kG cells; replacing a label moves one unit between two cells of the same group. Given the noisy
// cells, each label is released once, by the ε₂-DP randomizer of its group. So the whole costs what one group would:
// histogram with ε₁ twice and worstCase with ε₂ once, however many groups there are (parallel composition; the
// proof is above, and a release of two groups of three labels is enumerated in TestGroupsByEnumeration).
//
// With known priors groups never lose, because the least half-loss is concave in the prior. Estimated ones cost ε₁ =
// √(kG/n), and noise in each cell: the histogram of a small group is drawn towards that of all examples (James and
// Stein's estimator of the noisy cells, which is post-processing). The
// experiments have both outcomes.
