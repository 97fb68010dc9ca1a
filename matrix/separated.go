package matrix

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// This file prices b-min-sep sampling, where a record that takes part stays away for b − 1 steps
// and takes part by a coin of rate q at every other one. Theorem M6: the pattern
// is that of slots, drawn without regard to the record's data and at least b apart, of which each
// is used by a coin of its own with rate r. Slots may be told to everybody, and what is left is
// the composition of Theorem M2.

// slotRate returns a number not below r = q/(q + κ), with κ = (1−q)^b·(b−1)^(b−1)/b^b the largest
// κ for which the gaps between slots are a law. log κ is the sum of two terms, of which each has an
// error of at most 8 roundings of its size, and one of 1/b, which b − 1 times is one of 1.
func slotRate(q float64, b int) float64 {
	if q == 0 || q == 1 || b == 1 {
		return q
	}
	n := float64(b)
	away := n * math.Log1p(-q)                    // ≤ 0
	gaps := (n-1)*math.Log1p(-1/n) - xmath.Log(n) // (b−1)·log((b−1)/b) − log b ≤ 0
	log := away + gaps - 8*xmath.U*(2-away-gaps)  // below log κ
	kappa := xmath.Down(math.Exp(log), 4)
	return min(1, xmath.Up(q/(q+kappa), 4))
}

// columnRange returns the least and the largest squared norm of the columns.
func (c Config) columnRange() (least, most double) {
	if c.Strategy.isToeplitz() {
		coefficients, _ := c.Strategy.toeplitzCoefficients(c.Steps)
		norm := columnNorms(coefficients, c.Steps)
		return norm(c.Steps - 1), norm(0)
	}
	norms := columnsOf(c.Strategy.rows).normsSquared()
	return slices.MinFunc(norms, double.compare), slices.MaxFunc(norms, double.compare)
}

// separatedRuns returns the two lists of Theorem M6, each a bound as a whole: ⌈n/b⌉ slots of the
// largest norm and rate r above; below, the record that contributes at the steps b − 1, 2b − 1, …
// alone and is there with a probability of at least q·(1−q)^(b−1), whatever it did before.
func (c Config) separatedRuns() ([]subsample.Run, error) {
	n, b, q := c.Steps, c.Participation.separation, c.Participation.rate
	_, most := c.columnRange()
	above, err := gaussian(c.NoiseMultiplier, exactly(most))
	if err != nil {
		return nil, err
	}
	scheme, err := subsample.NewPoisson(slotRate(q, b))
	if err != nil {
		return nil, err
	}
	slots := int64((n-1)/b + 1)
	if b == 1 && c.equalColumns() {
		return []subsample.Run{{Mechanism: above, Scheme: scheme, Count: slots}}, nil
	}
	runs := []subsample.Run{{Mechanism: certain{above, nothing()}, Scheme: scheme, Count: slots}}
	away := float64(b-1) * math.Log1p(-q)
	used := max(0, xmath.Down(q*math.Exp(away)*(1-8*xmath.U*(1-away)), 4))
	if b > 1 && q == 1 {
		used = 0
	}
	for _, x := range c.attackNorms() {
		noise := xmath.Up(effective(c.NoiseMultiplier, x.square.sqrt()), 1)
		if noise > maxEffective || used == 0 {
			continue
		}
		g, err := profiles.NewGaussian(noise)
		if err != nil {
			return nil, err
		}
		p, err := subsample.PoissonProfile(g, used)
		if err != nil {
			return nil, err
		}
		runs = append(runs, subsample.Run{Mechanism: certain{nothing(), pairOf{p}}, Count: x.count})
	}
	return runs, nil
}

// equalColumns reports whether all columns have one norm: C is a multiple of the identity.
func (c Config) equalColumns() bool { return c.Strategy.isToeplitz() && c.Strategy.bands == 1 }

// counted is a squared norm, so many times.
type counted struct {
	square double
	count  int64
}

// attackNorms returns the squared norms of the columns b − 1, 2b − 1, …: equal neighbours once. Of
// matrices by rows, whose norms may all differ, it is the least, as often.
func (c Config) attackNorms() (list []counted) {
	n, b := c.Steps, c.Participation.separation
	if !c.Strategy.isToeplitz() {
		least, _ := c.columnRange()
		return []counted{{least, int64(n / b)}}[:min(1, n/b)]
	}
	coefficients, _ := c.Strategy.toeplitzCoefficients(n)
	norm := columnNorms(coefficients, n)
	for i := b - 1; i < n; i += b {
		x := norm(i)
		if k := len(list); k > 0 && list[k-1].square == x {
			list[k-1].count++
		} else {
			list = append(list, counted{x, 1})
		}
	}
	return list
}

// Theorem M6: participations that keep a distance by coins.
//
// With b-min-sep sampling a record that took part stays away for the next b − 1 steps and takes part in any other by
// a coin of rate q. Other programs price it by simulation. Let 1 − r be κ·r/q with κ = (1−q)^b·(b−1)^(b−1)/b^b, so
// that r = q/(q+κ).
//
// Theorem M6. Let C have at most b bands. Under add-remove and zero-out the run is dominated in both directions
// by the composition of ⌈n/b⌉ Poisson-Gaussian pairs of rate r and noise multiplier σ/max|c_i|; and from below by
// that of the pairs of the columns b−1, 2b−1, … with rate q(1−q)^(b−1). It does not matter whether a record begins
// free or in the middle of staying away.
//
// Proof. The gaps between participations have the generating function φ(x) = qx^b/(1 − (1−q)x). Put slots at gaps ψ
// = φ/(r + (1−r)φ) = (q/r)·x^b/(1 − (1−q)x + κx^b) and use each by a coin of rate r: gaps between used slots are
// rψ/(1 − (1−r)ψ) = φ. ψ is a law: its values sum to (q/r)/(q + κ) = 1, and they are a_m·q/r with a_m = (1−q)a_{m−1}
// − κa_{m−b}, a_0 = 1 and 0 before. Let ρ = (1−q)(b−1)/b, so that κ = (1−q−ρ)ρ^(b−1). If a_j ≥ ρa_{j−1} for all j <
// m, then a_{m−b} ≤ a_{m−1}ρ^−(b−1), and a_m ≥ (1−q−κρ^−(b−1))a_{m−1} = ρa_{m−1} ≥ 0. (With a larger κ the
// denominator has no positive root, and by Pringsheim some a_m is negative.) The first participation, after D steps
// of staying away, has x^D·q/(1−(1−q)x), for which the first slot has the law x^D·ψ/x^b, of the same signs. So slots
// can be drawn without the record, the same with it and without it, and told to everybody. Given them, at most ⌈n/b⌉
// are below n, b apart, and each is used by a fresh coin of rate r: the proof of Theorem M2, whose pairs grow with
// the norm. For the attack the record contributes at steps b−1, 2b−1, … alone. Whatever it did up to the last of
// these, it declines the at most b−1 coins before the next one with a probability of at least (1−q)^(b−1) and is
// then free: the pair of that step, given the past, is at least that of rate q(1−q)^(b−1). ∎
//
// With q = 1 or b bands of a much larger cycle the bound is that of a known order; with b = 1 and C = I both ends
// are Poisson sampling. The gap is wide, since r is about e·b·q where the attack has q: 4 bands, b = 10, q = 0.01, σ
// = 2 and 1000 steps have ε in [0.2304, 7.493] at δ = 1e-5 where a known order has 44.11.
