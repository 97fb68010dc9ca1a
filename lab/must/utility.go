package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// classical is the paper's calibration, σ = Δ√(2 log(1.25/δ))/ε. It is proved
// for ε < 1 only; here it reproduces tables.
func classical(sensitivity, eps, delta float64) float64 {
	return sensitivity * math.Sqrt(2*xmath.Log(1.25/delta)) / eps
}

// A scheme is one that the utility experiments draw by, from n records.
type scheme struct {
	name string
	law  subsample.Scheme
	eta  float64
	n    int64
}

// draw fills in a batch: one index per draw.
func (s scheme) draw(src rand.Source, out []int) []int {
	law := s.law.(interface {
		Sample(rand.Source, int64) ([]subsample.Pick, error)
	})
	for _, p := range try.Must(law.Sample(src, s.n)) {
		for range p.Copies {
			out = append(out, int(p.Index))
		}
	}
	return out
}

// drawn returns Poisson sampling at the rate m/n and the schemes of fixed size.
func drawn(n, b, m int64) []scheme {
	rate := float64(m) / float64(n)
	out := []scheme{{"Poisson", try.Must(subsample.NewPoisson(rate)), rate, n}}
	for _, s := range schemes(n, b, m) {
		out = append(out, scheme{s.name, s.s, s.s.InclusionProbability(), n})
	}
	return out
}

// A spent is a noise multiplier and the privacy of all steps with it.
type spent struct {
	budget, multiplier float64
	total              accountant.Interval // ε at δ = 1e-5
}

// spend certifies that k steps of noise cost at most the budget at δ = 1e-5, and
// not much less. For few steps the recursion narrows the theory gap, so that WOR and
// WR are not charged for what is not known about them; for 1000 they are.
func spend(ctx context.Context, s scheme, k int64, budget, multiplier float64) spent {
	out := spent{budget: budget, multiplier: multiplier}
	g := try.Must(profiles.NewGaussianMechanism(multiplier))
	m := try.Must(s.law.Apply(g, profiles.Substitute))
	narrowed := int64(200)
	if k > narrowed {
		narrowed = 0
	}
	out.total = epsilon(ctx, m, k, accountant.Options{Recursion: narrowed})
	if !(out.total.Upper <= budget && out.total.Upper >= 0.97*budget) {
		try.Check(fmt.Errorf("%s, %d runs of noise %v cost %v, not %v", s.name, k, multiplier, out.total.Upper, budget))
	}
	return out
}

// A run is one noise level of one scheme.
type run struct {
	setting string
	scheme  scheme
	noise   float64 // on the mean gradient
	spent   *spent  // at equal privacy
}

// equalPrivacy returns runs of k steps at each budget by each scheme, with the multipliers that were found for it; the mean of m gradients is
// that of their sum, clipped to a norm.
func equalPrivacy(ctx context.Context, ss []scheme, k int64, budgets []float64, multipliers map[string][]float64, clip float64, m int) (runs []run) {
	for i, eps := range budgets {
		for _, s := range ss {
			total := spend(ctx, s, k, eps, multipliers[s.name][i])
			runs = append(runs, run{equalAt(eps), s, total.multiplier * clip / float64(m), &total})
		}
	}
	return runs
}

func equalAt(budget float64) string { return fmt.Sprintf("total ε = %v", budget) }

// equalPanel draws what runs come to over their budgets, with bars, a little aside so that they do not hide each other.
func equalPanel(y string, budgets []float64, of func(setting, scheme string) (mean, bar float64)) figure.Picture {
	p := panel("at equal privacy", "total ε at δ = 1e-5", y)
	p.X.Log, p.X.At = true, budgets
	for i, name := range drawnNames {
		b := figure.Band{Name: name, Method: styles[name], Dots: true}
		for _, eps := range budgets {
			mean, bar := of(equalAt(eps), name)
			b.Add(eps*math.Pow(1.05, float64(i-2)), mean)
			b.Errors = append(b.Errors, bar)
		}
		p.Bands = append(p.Bands, b)
	}
	return p
}

// A descent is noisy, clipped gradient descent by the paper's Algorithm 2, on a
// loss whose gradient at a row is residual(score, y)·x.
type descent struct {
	x        [][]float64
	y        []float64
	residual func(score, y float64) float64
	batch    int
	rate     float64
	clip     float64 // 0: none
	noise    float64 // standard deviation on each coordinate of the mean gradient
	steps    int
	own      bool // divide by the size of the batch drawn and not by the one expected, as the authors' program
}

// run moves beta and calls after each step, if it is not nil.
func (d descent) run(beta []float64, s scheme, src rand.Source, after func(t int)) {
	rng := rand.New(src)
	g := make([]float64, len(beta))
	var batch []int
	for t := range d.steps {
		clear(g)
		batch = s.draw(src, batch[:0])
		for _, i := range batch {
			row := d.x[i]
			score, square := 0.0, 0.0
			for j, v := range row {
				score += v * beta[j]
				square += v * v
			}
			e := d.residual(score, d.y[i])
			if norm := math.Abs(e) * math.Sqrt(square); d.clip > 0 && norm > d.clip {
				e *= d.clip / norm
			}
			for j, v := range row {
				g[j] += e * v
			}
		}
		size := float64(d.batch)
		if d.own {
			size = float64(max(1, len(batch)))
		}
		for j := range beta {
			beta[j] -= d.rate * (g[j]/size + d.noise*rng.NormFloat64())
		}
		if after != nil {
			after(t)
		}
	}
}

// A bootstrapRow is one line of Tables 4 and 5.
type bootstrapRow struct {
	name                   string
	scheme                 scheme
	noiseMean, noiseVar    float64 // as printed
	delta2                 float64 // δ' per query by Theorem 5, as the paper's nominal noise has it
	expected               float64 // of the variance
	means, variances, fair []float64
}

// bootstrapRows runs experiment 1.
func bootstrapRows(datasets, subsamples int) []bootstrapRow {
	const n, m, eps2 = 300, 30, 0.1
	var rows []bootstrapRow
	for _, b := range []int64{10, 20, 30, 50, 70, 100} {
		ss := drawn(n, b, m)
		f := float64(b)
		expected := []float64{1, 1, 1 - 1./n, 1 - 1/f, (1 - 1/f) * (1 - 1./n)}
		for i, s := range ss {
			if i < 3 && b > 10 {
				continue
			}
			row := bootstrapRow{name: s.name, scheme: s, expected: expected[i]}
			if i >= 3 {
				row.name += fmt.Sprintf(" %d", b)
			}
			eps := baseEpsilon(eps2, s.eta)
			row.noiseMean, row.noiseVar = classical(8./n, eps, 1./n), classical(64./n, eps, 1./n)
			if fixed, ok := subsample.AsFixedSize(s.law); ok {
				row.delta2 = nominalDelta(fixed, eps2, 1./n)
			}
			rows = append(rows, row)
		}
	}
	x := make([]float64, n)
	for d := range datasets {
		data := rand.New(rand.NewPCG(1, uint64(d))) // the same for all schemes
		for j := range x {
			x[j] = data.NormFloat64()
		}
		for i := range rows {
			row := &rows[i]
			src := rand.NewPCG(2+uint64(i), uint64(d))
			rng := rand.New(src)
			var mean, variance, fair float64
			var batch []int
			var y []float64
			for range subsamples {
				for batch = row.scheme.draw(src, batch[:0]); len(batch) < 2; batch = row.scheme.draw(src, batch[:0]) {
				}
				y = y[:0]
				for _, k := range batch {
					y = append(y, x[k])
				}
				mu, v := stat.MeanVariance(y, nil)
				z := rng.NormFloat64()
				mean += mu + row.noiseMean*rng.NormFloat64()
				variance += v + row.noiseVar*z
				fair += v + row.noiseVar*n/m*z
			}
			k := float64(subsamples)
			row.means, row.variances, row.fair = append(row.means, mean/k), append(row.variances, variance/k), append(row.fair, fair/k)
		}
	}
	return rows
}

func bootstrap(r *report) {
	datasets, subsamples := r.pick(200, 5), r.pick(500, 20)
	rows := bootstrapRows(datasets, subsamples)
	r.page["datasets"], r.page["subsamples"], r.page["rootDatasets"] = datasets, subsamples, math.Sqrt(float64(datasets))
	for _, row := range rows {
		mm, ms := stat.MeanStdDev(row.means, nil)
		vm, vs := stat.MeanStdDev(row.variances, nil)
		hm, hs := stat.MeanStdDev(row.fair, nil)
		delta := "–"
		if row.delta2 > 0 {
			delta = fmt.Sprintf("%.3g", row.delta2)
		}
		paper := printed("5", row.name)
		r.page.Add("bootstrap", "| %s | %.3f | %.3f | %s | %.4f (%.3f) | %s | %.3f (%.3f) | %s | %.4f | %.3f (%.3f) |\n", row.name, row.noiseMean, row.noiseVar, delta, mm, ms, paper[0], vm, vs, paper[1], row.expected, hm, hs)
	}
}
