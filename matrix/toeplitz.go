package matrix

import "slices"

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
	minus := alternate && k%2 == 0
	at := 0
	for t := range n {
		s := sums[at]
		if alternate {
			s = s.neg()
		}
		if t < len(c) {
			s = s.add(c[t])
		}
		if old := t - k*b; old >= 0 && old < len(c) {
			if minus || !alternate {
				s = s.sub(c[old])
			} else {
				s = s.add(c[old])
			}
		}
		sums[at] = s
		if at++; at == b {
			at = 0
		}
		total = total.add(s.mul(s))
	}
	return total
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
