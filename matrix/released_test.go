package matrix

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/random/randomtest"
	"github.com/dpaccountant/accountant/profiles"
)

// impulses runs a stream twice for each step j: over nothing, with noise of one standard deviation at step j and none
// at the others, and without noise over a contribution of 1 at step j. It returns what was released at step i as exact
// numbers, in entries (i, j).
func impulses(t *testing.T, c Config, clip float64) (noise, data [][]*big.Rat) {
	t.Helper()
	run := func(x, z float64) [][]*big.Rat {
		b := make([][]*big.Rat, c.Steps)
		for j := range c.Steps {
			stream := must(NewStream(c, clip, 1, &randomtest.Script{}))
			for i := range c.Steps {
				xi, zi := 0.0, 0.0
				if i == j {
					xi, zi = x, z
				}
				stream.src = &randomtest.Script{Words: randomtest.Normal(big.NewFloat(zi))}
				b[i] = append(b[i], new(big.Rat).SetFloat64(must(stream.Next([]float64{xi}))[0]))
			}
		}
		return b
	}
	return run(0, 1), run(1, 0)
}

// covariance returns BBᵀ.
func covariance(b [][]*big.Rat) [][]*big.Rat {
	s := make([][]*big.Rat, len(b))
	for i := range s {
		for j := range b {
			x := new(big.Rat)
			for k := range b {
				x.Add(x, new(big.Rat).Mul(b[i][k], b[j][k]))
			}
			s[i] = append(s[i], x)
		}
	}
	return s
}

// quadratic returns xᵀ S⁻¹ x, by elimination.
func quadratic(s [][]*big.Rat, x []*big.Rat) *big.Rat {
	n := len(s)
	a := make([][]*big.Rat, n)
	for i := range a {
		for _, v := range s[i] {
			a[i] = append(a[i], new(big.Rat).Set(v))
		}
		a[i] = append(a[i], new(big.Rat).Set(x[i]))
	}
	total := new(big.Rat)
	for k := range n { // S = LDLᵀ, and the sum of the squares of L⁻¹x over D
		v := a[k][n]
		total.Add(total, new(big.Rat).Quo(new(big.Rat).Mul(v, v), a[k][k]))
		for i := k + 1; i < n; i++ {
			f := new(big.Rat).Quo(a[i][k], a[k][k])
			for j := k; j <= n; j++ {
				a[i][j].Sub(a[i][j], new(big.Rat).Mul(f, a[k][j]))
			}
		}
	}
	return total
}

// farthest returns the largest shift, in standard deviations of what is released, that a record of one contribution ±1
// in the steps of a pattern makes: the root of the largest (Dx)ᵀ(BBᵀ)⁻¹Dx over all patterns and signs, times clip.
func farthest(b, d [][]*big.Rat, clip float64, p Participation) float64 {
	s, worst := covariance(b), new(big.Rat)
	patterns(len(b), p, func(pattern []int) {
		for signs := range 1 << (len(pattern) - 1) {
			x := make([]*big.Rat, len(b))
			for i := range x {
				x[i] = new(big.Rat)
				for k, j := range pattern {
					if signs>>k&1 == 1 {
						x[i].Sub(x[i], d[i][j])
					} else {
						x[i].Add(x[i], d[i][j])
					}
				}
			}
			if q := quadratic(s, x); q.Cmp(worst) > 0 {
				worst = q
			}
		}
	})
	square, _ := worst.Float64()
	return clip * math.Sqrt(square)
}

// definitions returns the entries of C as they are defined, for each kind of matrix: binomial coefficients over 4^i, sums
// of powers, nodes of a tree that end at a step. All are multiples of the grid for few steps, so that no row is rounded.
func definitions(n int) map[string]struct {
	s Strategy
	c func(i, j int) float64
} {
	type entry = struct {
		s Strategy
		c func(i, j int) float64
	}
	root := func(i int) float64 {
		x := new(big.Rat).SetInt(new(big.Int).Binomial(int64(2*i), int64(i)))
		v, _ := x.Quo(x, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(2*i)))).Float64()
		return v
	}
	r := rand.New(rand.NewPCG(3, 9))
	rows := make([][]float64, n)
	for i := range rows {
		for range i + 1 {
			rows[i] = append(rows[i], float64(r.IntN(9)+1)/8)
		}
		rows[i][i] += 1
	}
	list := []float64{2, -0.5, 0.25}
	return map[string]entry{
		"identity": {Identity(), func(i, j int) float64 { return float64(1 - min(1, i-j)) }},
		"root":     {rooted(n), func(i, j int) float64 { return root(i - j) }},
		"bands": {rooted(3), func(i, j int) float64 {
			if i-j >= 3 {
				return 0
			}
			return root(i - j)
		}},
		"signs": {must(Toeplitz(list)), func(i, j int) float64 {
			if i-j >= len(list) {
				return 0
			}
			return list[i-j]
		}},
		"buffers": {must(BLT([]float64{0.125, 0.25}, []float64{0.875, 0.5})), func(i, j int) float64 {
			if i == j {
				return 1
			}
			return 0.125*math.Pow(0.875, float64(i-j-1)) + 0.25*math.Pow(0.5, float64(i-j-1))
		}},
		"rows": {must(Rows(rows)), func(i, j int) float64 { return rows[i][j] }},
		"tree": {Tree(false), func(i, j int) float64 { // the node that ends at step i has the last 2^l steps
			if length := (i + 1) & -(i + 1); i-j < length {
				return 1
			}
			return 0
		}},
	}
}

// TestReleasedCovarianceHasThePrice measures what a stream adds from the bits that it releases, one noise at a time. It is
// C⁻¹ for the C of the definition, and the price of the run covers what its covariance gives away: the Mahalanobis
// distance of every pattern of participations with every sign, in rational numbers.
func TestReleasedCovarianceHasThePrice(t *testing.T) {
	const n = 6
	for name, d := range definitions(n) {
		// Multiples of the grid, so that one standard deviation is released exactly.
		for _, noise := range []struct{ sigma, clip float64 }{{2, 0.5}, {1.25, 1.5}} {
			c := Config{noise.sigma, n, d.s, Single()}
			b, x := impulses(t, c, noise.clip)
			for i := range n {
				for j := range n {
					// (CB)_ij, of numbers of size σ·clip or less in sums of n, each of which is rounded a few times.
					total := 0.0
					for k := range i + 1 {
						v, _ := b[k][j].Float64()
						total += d.c(i, k) * v
					}
					want := 0.0
					if i == j {
						want = noise.sigma * noise.clip
					}
					if v, _ := x[i][j].Float64(); math.Abs(v-want/(noise.sigma*noise.clip)) > 1e-13 {
						t.Errorf("%s: without noise, 1 at step %d is released as %v at step %d", name, j, v, i)
					}
					if math.Abs(total-want) > 1e-13 {
						t.Errorf("%s: C times what is released is %v at (%d, %d), want %v", name, total, i, j, want)
					}
				}
			}
			if noise.sigma != 2 {
				continue
			}
			for _, p := range []Participation{Single(), separated(2, 3), must(Epochs(3))} {
				c.Participation = p
				shift := farthest(b, x, noise.clip, p)
				s := must(c.sensitivity(t.Context()))
				const rounding = 1e-13 // as above, through as many sums
				if s.Upper < noise.sigma*shift*(1-rounding) {
					t.Errorf("%s, %v: sensitivity at most %v, but a record moves what is released by %v", name, p, s.Upper, noise.sigma*shift)
				}
				if name != "tree" && s.Lower > noise.sigma*shift*(1+rounding) { // a tree has nodes that are not released
					t.Errorf("%s, %v: sensitivity at least %v, but no record moves what is released by more than %v", name, p, s.Lower, noise.sigma*shift)
				}
				if s.Exact && name != "tree" && s.Upper > noise.sigma*shift*(1+rounding) {
					t.Errorf("%s, %v: sensitivity %v is said to be exact, and a record moves what is released by %v", name, p, s.Upper, noise.sigma*shift)
				}
				// What is composed is Gaussian numbers, whose shifts are together at least this one.
				together := 0.0
				for _, r := range must(must(New(c)).Runs(t.Context(), profiles.AddRemove)) {
					together += float64(r.Count) * math.Pow(must(r.Mechanism.Pair(profiles.AddRemove)).(profiles.Gaussian).NoiseMultiplier(), -2)
				}
				if math.Sqrt(together) < shift*(1-rounding) {
					t.Errorf("%s, %v: priced at a shift of %v, a record makes %v", name, p, math.Sqrt(together), shift)
				}
			}
		}
	}
}
