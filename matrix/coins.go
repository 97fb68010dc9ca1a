package matrix

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// Theorem M5, proved at the end: a Toeplitz matrix C ≥ 0 with a coin of rate q for every
// record and step (MMCC: Choquette-Choo, Ganesh, Steinke and Thakurta 2023,
// arXiv:2310.15526, in a form that composes).
//
// Given the rows before row i, the record's coins of earlier steps are not fair to it any
// more: the rows say something about them. But unless ⟨c_j, y⟩ is large, the posterior
// probability that it took part at step j = i − d is at most
//
//	q̃_d = q·e^a/(1 − q + q·e^a),  a = t/σ² − |c|²/2σ²,
//
// with c the first d coefficients and t a quantile of ⟨c_j, y⟩ that has all but a small
// probability. Row i is then dominated by noise on Σ C_d·Bernoulli(q̃_d), d = 0..i. The
// probabilities that a quantile is passed add up to bad, which the list has as one more
// run: with probability delta everything is given away (conditional).
//
// Rows are taken in groups that double, each with the law of its last row, which is the
// largest as terms are only added.

// Every shift is a whole number of the largest coefficient over fine; those of the law that is
// priced, over coarse or less. Both are rounded up.
const (
	fine      = 1024
	coarse    = 64
	maxShifts = 2048
)

// coins returns the list of Theorem M5 for noise σ.
func (c Config) coins(ctx context.Context) ([]subsample.Run, error) {
	n, q, delta := c.Steps, c.Participation.rate, c.Participation.delta
	doubles, _ := c.Strategy.toeplitzCoefficients(n)
	coefficients := make([]float64, len(doubles))
	for t, x := range doubles {
		coefficients[t] = x.up()
	}
	// bad is what may be lost so that delta pays for it whatever the rows are worth: a bound
	// below of 1 − their total variation distance follows from their laws.
	bad := delta / 4
	for range 60 {
		rows, err := c.rowLaws(ctx, coefficients, q, bad)
		if err != nil {
			return nil, err
		}
		rest := delta * leastRest(rows, c.NoiseMultiplier)
		if bad <= rest {
			return c.coinRuns(coefficients, rows)
		}
		if bad = rest / 2; !(bad >= 1e-290) {
			break
		}
	}
	return nil, fault.In("participation", fault.In("poisson", fault.New("delta", "%v is too small for a noise multiplier of %v: nothing is proved", delta, c.NoiseMultiplier)))
}

// A rowLaw is the law of the shift of count rows: weights of 0, 1, … units.
type rowLaw struct {
	weights []float64
	unit    float64
	count   int64
}

// rowLaws returns the laws of all rows, for quantiles that are passed with a probability of at
// most bad in all.
func (c Config) rowLaws(ctx context.Context, coefficients []float64, q, bad float64) ([]rowLaw, error) {
	n, bands := c.Steps, len(coefficients)
	// The laws of rows grow up to row bands − 1, and stay.
	events := 0.0
	for d := 1; d < bands; d++ {
		events += float64(n - d)
	}
	posterior, err := posteriors(ctx, coefficients, n, q, c.NoiseMultiplier, xmath.Log(max(1, events))-xmath.Log(bad))
	if err != nil {
		return nil, err
	}
	step := slices.Max(coefficients) / fine
	law := []float64{1}
	var rows []rowLaw
	add := func(first, last int) {
		rows = append(rows, coarser(law, bands, step, int64(last-first+1)))
	}
	first := 0
	for d := range bands {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		law = withCoin(law, int(math.Ceil(coefficients[d]/step*(1-4*xmath.U))), posterior[d])
		if last := bands - 1; d == last {
			add(first, n-1)
		} else if d+1 >= first+max(1, first/2) {
			add(first, d)
			first = d + 1
		}
	}
	return rows, nil
}

// posteriors returns bounds of the probabilities q̃_d, which hold together unless what has a
// probability of e^−log per event and step happens.
//
// The quantile is that of Chernoff's bound, for ⟨c, y⟩ = σ|c|N + Σ_m g_m·s_m, with g_m the
// product of the first d coefficients with those of the column m steps before or after, of
// which there are the most for the last row. Any λ > 0 proves it.
func posteriors(ctx context.Context, c []float64, n int, q, sigma, log float64) ([]float64, error) {
	bands := len(c)
	out := make([]float64, bands)
	out[0] = q
	after, before := make([]float64, bands), make([]float64, bands)
	var gains []float64 // of the columns that count
	norm := 0.0
	lambda := 0.0
	for d := 1; d < bands; d++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t := d - 1 // the row that is new
		norm += c[t] * c[t]
		for m := 0; m <= t; m++ { // c_t·c_{t−m}: columns from j on
			after[m] += c[t] * c[t-m]
		}
		columns := min(bands-1-t, n-1-d)
		for m := 1; m <= columns; m++ { // c_t·c_{t+m}: columns before j
			before[m] += c[t] * c[t+m]
		}
		// Columns that are farther than the bands from the new row keep what they have.
		gains = append(append(gains[:0], after[:d]...), before[1:min(bands, n-d)]...)
		largest := slices.Max(gains)
		bound := func(lambda float64) float64 {
			s := log + lambda*lambda*sigma*sigma*norm/2
			for _, g := range gains {
				s += math.Log1p(q * math.Expm1(lambda*g))
			}
			// Sums of at most 2n positive terms, each of a few roundings; those of x = λg count up to 1.6·(1 + x)
			// times, as v(x) = log(1 + q(e^x − 1)) has x·v' ≤ x·v·e^x/(e^x − 1).
			return s / lambda * (1 + (16+2*lambda*largest)*float64(n+16)*xmath.U)
		}
		top := 600 / after[0]
		if lambda == 0 {
			lambda = math.Sqrt(2*log/norm) / sigma
		}
		lambda = min(lambda, top)
		best := bound(lambda)
		for factor := 1.5; factor > 1.02; factor = math.Sqrt(factor) {
			for _, x := range []float64{lambda * factor, lambda / factor} {
				if x <= top {
					if v := bound(x); v < best {
						best, lambda = v, x
					}
				}
			}
		}
		a := (best - norm/2) / (sigma * sigma)
		a += 64 * float64(n+16) * xmath.U * (best + norm) / (sigma * sigma)
		if q == 1 {
			out[d] = 1
			continue
		}
		if q > 0 {
			logOdds := xmath.Log(q) - math.Log1p(-q) + a
			out[d] = min(1, 1/(1+math.Exp(-logOdds))*(1+16*xmath.U*(1+math.Abs(a)-xmath.Log(q))))
		}
	}
	return out, nil
}

// withCoin returns the law with so many units more with probability p.
func withCoin(law []float64, units int, p float64) []float64 {
	out := make([]float64, len(law)+units)
	for i, w := range law {
		out[i] += w * (1 - p)
		out[i+units] += w * p
	}
	return out
}

// coarser returns the law in larger units, rounded up, with tails that are at least those of
// the exact law. Each weight is a sum of products, of at most three roundings for a coin; sums and
// differences of tails, and the division by their sum, have one for each weight.
func coarser(law []float64, coins int, step float64, count int64) rowLaw {
	parts := fine / coarse
	for float64(len(law))/float64(parts) > maxShifts {
		parts *= 2
	}
	tails := make([]float64, (len(law)+parts-2)/parts+2)
	for i, w := range law {
		tails[(i+parts-1)/parts] += w
	}
	slack := 1 + 8*float64(len(law)+coins+64)*xmath.U
	sum := 0.0
	for i := len(tails) - 1; i >= 0; i-- {
		sum += tails[i]
		if tails[i] = min(1, sum*slack); i == 0 {
			tails[i] = 1
		}
	}
	weights := make([]float64, len(tails)-1)
	for i := range weights {
		weights[i] = max(0, tails[i]-tails[i+1])
	}
	for len(weights) > 1 && weights[len(weights)-1] == 0 {
		weights = weights[:len(weights)-1]
	}
	return rowLaw{weights, step * float64(parts), count}
}

// leastRest returns a number below 1 − the total variation distance of all rows from noise alone:
// ½·BC², with the Bhattacharyya coefficient BC of a product, of which that of a mixture
// is at least Σ w·e^{−s²/8σ²} as the root is concave.
func leastRest(rows []rowLaw, sigma float64) float64 {
	log := -math.Ln2
	for _, r := range rows {
		b := 0.0
		for i, w := range r.weights {
			s := float64(i) * r.unit / sigma
			b += w * math.Exp(-s*s/8)
		}
		log += 2 * float64(r.count) * xmath.Log(b*(1-1e-12))
	}
	return math.Exp(log) * (1 - 1e-9)
}

// coinRuns returns the list: rows, what is given away, and the attack.
func (c Config) coinRuns(coefficients []float64, rows []rowLaw) ([]subsample.Run, error) {
	var runs []subsample.Run
	for _, r := range rows {
		shifts := make([]float64, len(r.weights))
		for i := range shifts {
			shifts[i] = float64(i)
		}
		m, err := subsample.NewGaussianMixture(xmath.Down(c.NoiseMultiplier/r.unit, 1), shifts, r.weights)
		if err != nil {
			return nil, fault.New("noise-multiplier", "%v is too far from the coefficients: %v", c.NoiseMultiplier, err)
		}
		runs = append(runs, subsample.Run{Mechanism: certain{m, nothing()}, Count: r.count})
	}
	away, err := profiles.NewApproximate(0, c.Participation.delta)
	if err != nil {
		return nil, err
	}
	attack, count, err := c.coinAttack(coefficients)
	if err != nil {
		return nil, err
	}
	return append(runs, subsample.Run{Mechanism: certain{away, nothing()}, Count: 1}, subsample.Run{Mechanism: certain{nothing(), attack}, Count: count}), nil
}

// coinAttack returns the pair of contributions at every p-th step alone, of which an attacker
// looks at p rows each: Poisson-Gaussian steps. The p is what promises most at little.
func (c Config) coinAttack(coefficients []float64) (profiles.Mechanism, int64, error) {
	best, at, norm := math.Inf(-1), 1, 0.0
	squares := 0.0
	for p := 1; p <= len(coefficients); p++ {
		x := xmath.Down(coefficients[p-1], 4)
		squares += x * x
		value := xmath.Log(float64(c.Steps/p)) + xmath.Log(math.Expm1(min(squares/c.NoiseMultiplier/c.NoiseMultiplier, 700)))
		if c.Steps/p >= 1 && value > best {
			best, at, norm = value, p, math.Sqrt(squares)
		}
	}
	noise := c.NoiseMultiplier / norm * (1 + 8*float64(at+4)*xmath.U)
	g, err := profiles.NewGaussian(noise)
	if err != nil {
		return nil, 0, fault.New("noise-multiplier", "%v over a norm of %v is %v, not in [%g, %g]", c.NoiseMultiplier, norm, noise, minEffective, maxEffective)
	}
	p, err := subsample.PoissonProfile(g, c.Participation.rate)
	return pairOf{p}, int64(c.Steps / at), err
}

// Theorem M5: coins at every step.
//
// If a record takes part in every step by a coin of its own, the rows so far say something of its coins, and the
// next row has to be priced with what they say. Let C ≥ 0 be Toeplitz with the coefficients c_0, c_1, …, and |c|_d
// the norm of the first d of them.
//
// Theorem M5 (Choquette-Choo, Ganesh, Steinke and Thakurta 2023, arXiv:2310.15526, in a form that composes).
// Let t_d be numbers that the quantities ⟨c_j, y⟩ over the rows j, …, j+d−1 pass, with the record in the data, for
// no j and d but with a probability of β in all. Let q̃_0 = q and q̃_d = q·e^a/(1 − q + q·e^a) with a = t_d/σ² −
// |c|_d²/2σ². Then, with β ≤ δ₀·(1 − TV) and TV the total variation distance of the list without its last member,
// the run is dominated under add-remove and zero-out in both directions by the list of: for every row i, noise on
// Σ_{d ≤ i} c_d·Bernoulli(q̃_d), against noise alone; and a mechanism that gives everything away with probability
// δ₀.
//
// Proof. By M3 it is enough to look at scalar noise on Cs. Given the rows before i and all other coins, the odds of
// s_j = 1 are those of q times exp(⟨c_j, y − Σ_{l≠j} c_l s_l⟩/σ² − |c_j|²/2σ²) over these rows, d = i − j of them;
// as C ≥ 0 the other coins only lower it. Where ⟨c_j, y⟩ ≤ t_d, the probability is at most q̃_d whatever the other
// coins are, so that all coins together are, one after the other, below independent ones of rates q̃. Noise on a
// larger shift is worse (M3's inequality for a coupling), and row i is dominated by its member of the list. Follow
// the run P with the record until the first row where some ⟨c_j, y⟩ passes, and noise alone Q from there on: this P′
// is dominated by the list without its last member, whose profile be h. P and P′ agree where nothing passes, so that
// for every event P(S) − αQ(S) ≤ h(α) + β. Noise alone passes less often than P, since C ≥ 0, so that Q(S) − αP(S) ≤
// h_rev(α) + β. The list with its last member has the profile δ₀ + (1 − δ₀)h(α), which is at least h(α) + β for α ≥
// 1, because h(α) ≤ TV there; the same holds for the reverse, and a pair whose profiles in both orders are above
// those of another from α = 1 on dominates it. ∎
//
// The last member makes it a pair like any other: runs compose, with everything. What it costs is that no ε holds
// for a δ below δ₀ = delta times the number of runs. The t_d are Chernoff's bounds for a normal number and the
// coins of all columns; TV is at most 1 − ½·BC², where the Bhattacharyya coefficient BC of a row is at least E
// exp(−shift²/8σ²). Rows are taken in groups that double, each as its last.
//
// The attack contributes at every p-th step alone, of which p rows each are looked at: Poisson-Gaussian steps. The
// gap is wide: for the full square root, 10 steps, q = 0.1, σ = 6 and delta 1e-3, δ(0.05) is at most 0.083,
// where a simulation of the pair has 0.035 and the attack 0.0053. With little noise the bound says next to nothing.
// Prefer cyclic Poisson sampling, whose price is exact, wherever C is banded.
