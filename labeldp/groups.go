// One prior for each group of examples, where groups are told apart by public features:
// parallel composition.

package labeldp

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Theorem (disjoint groups). Let every example belong to one of G groups, by its features
// alone. Release the histogram of group and label with Laplace noise of scale 2/ε₁ on each
// of its k·G cells; choose an ε₂-DP randomizer for every group, from all of the noisy
// cells in any way; randomize every label once by that of its group. Under replacement of
// one label this costs [Histogram] with ε₁ twice and [WorstCase] with ε₂ once: what one
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
// costs the stages returned, which are those of one group: see the theorem in groups.go.
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
		if len(row) != len(pl.Labels) {
			return nil, nil, fault.New(fmt.Sprintf("counts[%d]", g), "has %d entries, must have as many as labels (%d)", len(row), len(pl.Labels))
		}
		for i, c := range row {
			if c < 0 || c > xmath.MaxCount {
				return nil, nil, fault.New(fmt.Sprintf("counts[%d][%d]", g, i), "%d is not in [0, 2^53]", c)
			}
			n = min(n+c, xmath.MaxCount)
		}
	}
	eps1, eps2, err := pl.split(len(pl.Labels)*len(counts), n)
	if err != nil {
		return nil, nil, err
	}
	num, bits := noiseRate(eps1)
	coins := random.NewCoins(src)
	noise := make([][]*big.Int, len(counts))
	for g := range noise {
		noise[g] = make([]*big.Int, len(pl.Labels))
		for i := range noise[g] {
			noise[g][i] = random.RoundedLaplace(coins, num, bits)
		}
	}
	priors, err := groupPriors(pl.Labels, counts, noise, eps1, pl.Floor)
	return priors, stages(eps1, eps2), err
}

// DesignGroups is [Plan.Design] with a randomizer for each group of examples, for the prior
// that [Plan.GroupPriors] estimates. Once ctx is done, the error is that of ctx.
func (pl Plan) DesignGroups(ctx context.Context, counts [][]int64, src rand.Source) ([]*Randomizer, []Certificate, []Prior, []Stage, error) {
	priors, stages, err := pl.GroupPriors(counts, src)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	rs, certs := make([]*Randomizer, len(priors)), make([]Certificate, len(priors))
	for g, p := range priors {
		if rs[g], certs[g], err = OptimalUnbiased(ctx, p, stages[1].Mechanism.(WorstCase).Epsilon); err != nil {
			return nil, nil, nil, nil, err
		}
	}
	return rs, certs, priors, stages, nil
}

// groupPriors makes the priors of groups from counts and noise in steps of 2^−noiseBits.
// Of one group it is priorFromNoisy.
func groupPriors(labels []float64, counts [][]int64, noise [][]*big.Int, eps1, floor float64) ([]Prior, error) {
	if len(counts) == 1 {
		p, err := priorFromNoisy(labels, counts[0], noise[0], floor)
		return []Prior{p}, err
	}
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
		far := 0.0
		for i, x := range row {
			d := x/max(sizes[g], 1) - pooled[i]/max(all, 1)
			far += d * d
		}
		b := 2 / eps1 / max(sizes[g], 1)
		towards := 1.0
		if made := float64(k) * 2 * b * b; sizes[g] > 0 && far > made {
			towards = made / far
		}
		weights, positive := make([]float64, k), false
		for i, x := range row {
			weights[i] = max((1-towards)*x/max(sizes[g], 1)+towards*pooled[i]/max(all, 1), 0)
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
		if p, err = p.Mix(floor); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// RandomizeGroups is [Plan.RandomizeColumn] with one randomizer for each group: groups[i]
// is the group of column[i], 0 or more, told by its features.
func (pl Plan) RandomizeGroups(ctx context.Context, column []float64, groups []int, src rand.Source) ([]float64, []*Randomizer, error) {
	if len(groups) != len(column) {
		return nil, nil, fault.New("groups", "has %d entries, must have as many as column (%d)", len(groups), len(column))
	}
	_, index, err := Count(pl.Labels, column)
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
	rs, _, _, _, err := pl.DesignGroups(ctx, counts, src)
	if err != nil {
		return nil, nil, err
	}
	at := make([]int, len(pl.Labels))
	for i, y := range pl.Labels {
		at[i], _ = slices.BinarySearch(rs[0].labels, y)
	}
	out := make([]float64, len(column))
	for i, j := range index {
		r := rs[groups[i]]
		out[i] = r.outputs[r.SampleIndex(at[j], src)]
	}
	return out, rs, nil
}
