package matrix

import (
	"slices"

	"github.com/dpaccountant/accountant/subsample"
)

// This file turns a banded matrix with cyclic Poisson sampling into a list of Gaussians,
// each on a Poisson sample.
//
// Theorem M2 (docs/matrix.md): a record of group j costs the composition, over the steps
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
		slices.SortFunc(groups[j], func(a, b double) int {
			switch {
			case b.less(a):
				return -1
			case a.less(b):
				return 1
			}
			return 0
		})
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
