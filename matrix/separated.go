package matrix

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// This file prices b-min-sep sampling, where a record that takes part stays away for b − 1 steps
// and takes part by a coin of rate q at every other one. Theorem M6 of docs/guide/matrix.md: the pattern
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
	least, most = norms[0], norms[0]
	for _, x := range norms {
		most = larger(most, x)
		if x.less(least) {
			least = x
		}
	}
	return least, most
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
	runs := []subsample.Run{{Mechanism: certain{above, nothing{}}, Scheme: scheme, Count: slots}}
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
		runs = append(runs, subsample.Run{Mechanism: certain{nothing{}, pairOf{p}}, Count: x.count})
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
