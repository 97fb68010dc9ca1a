package matrix

import "math/bits"

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
