package main

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

type named struct {
	name string
	s    subsample.FixedSize
}

// schemes returns the four schemes that differ in law.
func schemes(n, b, m int64) ([]named, error) {
	wor, err := subsample.NewWithoutReplacement(n, m)
	if err != nil {
		return nil, err
	}
	wr, err := subsample.NewWithReplacement(n, m)
	if err != nil {
		return nil, err
	}
	ow, err := subsample.NewMustOW(n, b, m)
	if err != nil {
		return nil, err
	}
	ww, err := subsample.NewMustWW(n, b, m)
	if err != nil {
		return nil, err
	}
	return []named{{"WOR", wor}, {"WR", wr}, {"MUST.OW", ow}, {"MUST.WW", ww}}, nil
}

// noises are the four panels of figure 4. The paper's Δ is the sensitivity of a
// substitution, twice one record's contribution.
func noises() ([]named2, error) {
	var out []named2
	for _, ratio := range []float64{0.25, 1} {
		l, err := profiles.NewLaplaceMechanism(2 / ratio)
		if err != nil {
			return nil, err
		}
		g, err := profiles.NewGaussianMechanism(2 / ratio)
		if err != nil {
			return nil, err
		}
		out = append(out, named2{fmt.Sprintf("Laplace, Δ/σ = %v", ratio), l}, named2{fmt.Sprintf("Gaussian, Δ/σ = %v", ratio), g})
	}
	return out, nil
}

type named2 struct {
	name string
	b    profiles.Base
}

func profilesTable(r *report) error {
	ss, err := schemes(1000, 500, 400)
	if err != nil {
		return err
	}
	bs, err := noises()
	if err != nil {
		return err
	}
	grid := []float64{0.05, 0.5, 1, 2, 3, 4.5}
	r.printf("## Table 3: one step, n = 1000, b = 500, m = 400\n\nδ' of Theorem 5 at ε' = log(1 + η(e^ε − 1)). MUST.WO has the row of WR. The paper's row for Gaussian noise, Δ/σ = 1, MUST.WW repeats the Laplace row.\n\n| noise | scheme | ε = 0.05 | 0.5 | 1 | 2 | 3 | 4.5 |\n|---|---|---|---|---|---|---|---|\n")
	for _, s := range ss {
		r.printf("| – | ε', %s |", s.name)
		for _, e := range grid {
			r.printf(" %.3f |", s.s.AmplifiedEpsilon(e))
		}
		r.printf("\n")
	}
	for _, b := range bs {
		for i, s := range ss {
			points, err := s.s.Aligned(b.b, grid)
			if err != nil {
				return err
			}
			if i == 0 {
				r.printf("| %s | base δ |", b.name)
				for _, p := range points {
					r.printf(" %.3g |", p.Delta)
				}
				r.printf("\n")
			}
			r.printf("| | %s |", s.name)
			for _, p := range points {
				r.printf(" %.3g |", p.Delta2)
			}
			r.printf("\n")
		}
	}
	r.printf("\n")
	return nil
}

var palette = []color.Color{color.RGBA{0, 90, 181, 255}, color.RGBA{220, 50, 32, 255}, color.RGBA{26, 133, 80, 255}, color.RGBA{212, 160, 23, 255}, color.RGBA{93, 58, 155, 255}}

type curve struct {
	name string
	xy   plotter.XYs
}

func draw(r *report, file, title, x, y string, logY bool, curves []curve) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top = !logY // growing curves leave the room below them
	if logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	for i, c := range curves {
		l, err := plotter.NewLine(c.xy)
		if err != nil {
			return err
		}
		l.Color, l.Width = palette[i%len(palette)], vg.Points(1.5)
		p.Add(l)
		p.Legend.Add(c.name, l)
	}
	if err := p.Save(14*vg.Centimeter, 10*vg.Centimeter, filepath.Join(r.dir, file)); err != nil {
		return err
	}
	r.printf("![%s](%s)\n", title, file)
	return nil
}

func alignedFigure(r *report) error {
	r.printf("## Figure 4: aligned privacy profiles, n = 1000, b = 500, m = 400\n\nBelow 0 and left of 1: strong amplification. Curves have different ε' at equal ε, so a lower curve is not a more private scheme.\n\n")
	ss, err := schemes(1000, 500, 400)
	if err != nil {
		return err
	}
	bs, err := noises()
	if err != nil {
		return err
	}
	grid := make([]float64, 600)
	for i := range grid {
		grid[i] = float64(i+1) / 100
	}
	for i, b := range bs {
		var cs []curve
		for _, s := range ss {
			points, err := s.s.Aligned(b.b, grid)
			if err != nil {
				return err
			}
			c := curve{name: s.name}
			for _, p := range points {
				c.xy = append(c.xy, plotter.XY{X: p.Epsilon2 / p.Epsilon, Y: p.Delta2 - p.Delta})
			}
			cs = append(cs, c)
		}
		if err := draw(r, fmt.Sprintf("must-aligned-%d.png", i+1), b.name, "ε'/ε", "δ' − δ", false, cs); err != nil {
			return err
		}
	}
	r.printf("\n")
	return nil
}

func sizesFigure(r *report) error {
	r.printf("## Figure 5: sensitivity to b and m, n = 1000, ε = 1, Δ/σ = 1\n\nη grows with m and b; δ' − δ grows with m and *falls* with b, and is larger for WW than for OW (the paper's text has it the other way).\n\n| m | b | scheme | η | δ' − δ Laplace | δ' − δ Gaussian |\n|---|---|---|---|---|---|\n")
	bs, err := noises()
	if err != nil {
		return err
	}
	for _, size := range [][2]int64{{100, 150}, {100, 200}, {125, 175}, {150, 150}, {150, 200}} {
		ss, err := schemes(1000, size[1], size[0])
		if err != nil {
			return err
		}
		for _, s := range ss[2:] {
			r.printf("| %d | %d | %s | %.6f |", size[0], size[1], s.name, s.s.InclusionProbability())
			for _, b := range bs[2:] {
				p, err := s.s.Aligned(b.b, []float64{1})
				if err != nil {
					return err
				}
				r.printf(" %.6f |", p[0].Delta2-p[0].Delta)
			}
			r.printf("\n")
		}
	}
	r.printf("\n")
	return nil
}

// epsilon returns the interval of ε(1e-5) after k runs.
func epsilon(m profiles.Mechanism, k int64) (accountant.Interval, error) {
	acct := accountant.New(accountant.Substitute)
	if err := acct.AddMechanism(m, k); err != nil {
		return accountant.Interval{}, err
	}
	return acct.Epsilon(1e-5)
}

// below and above print five digits on the safe side.
func below(x float64) string { return outward(x, math.Floor) }
func above(x float64) string { return outward(x, math.Ceil) }

func outward(x float64, round func(float64) float64) string {
	if x == 0 {
		return "0"
	}
	scale := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(x))))
	return fmt.Sprintf("%.5g", round(x*scale)/scale)
}

func compositionTable(r *report) error {
	r.printf("## Composition: n = 10000, m = 200, b = 118, σ = 4, δ = 1e-5\n\nε by the paper's pair (**no bound**), by the attack with all other records at the substitute's value (lower), and by the proved profile (upper), each certified to 1e-3.\n\n| scheme | k | paper's pair, no bound | attack: at least | proved: at most |\n|---|---|---|---|---|\n")
	g, err := profiles.NewGaussianMechanism(4)
	if err != nil {
		return err
	}
	ss, err := schemes(10000, 118, 200)
	if err != nil {
		return err
	}
	steps := []int64{1, 10, 100, 1000, 10000}
	if r.quick {
		steps = []int64{1, 10}
	}
	p, err := subsample.NewPoisson(0.02)
	if err != nil {
		return err
	}
	poisson, err := p.Apply(g, profiles.Substitute)
	if err != nil {
		return err
	}
	var cs []curve
	for _, k := range steps {
		iv, err := epsilon(poisson, k)
		if err != nil {
			return err
		}
		r.printf("| Poisson | %d | %.5g (exact here) | %s | %s |\n", k, iv.Estimate, below(iv.Lower), above(iv.Upper))
	}
	for _, s := range ss {
		m, err := s.s.Apply(g, profiles.Substitute)
		if err != nil {
			return err
		}
		a, err := s.s.PaperPairNotABound(g)
		if err != nil {
			return err
		}
		paper := profiles.NewMechanism("paper's pair", profiles.Substitute, a)
		lower, upper, wrong := curve{name: s.name + ", attack"}, curve{name: s.name + ", proved"}, curve{name: s.name + ", paper's pair"}
		for _, k := range steps {
			iv, err := epsilon(m, k)
			if err != nil {
				return fmt.Errorf("%s, %d runs: %w", s.name, k, err)
			}
			w, err := epsilon(paper, k)
			if err != nil {
				return fmt.Errorf("%s, the paper's pair, %d runs: %w", s.name, k, err)
			}
			r.printf("| %s | %d | %.5g | %s | %s |\n", s.name, k, w.Estimate, below(iv.Lower), above(iv.Upper))
			x := math.Log10(float64(k))
			lower.xy = append(lower.xy, plotter.XY{X: x, Y: iv.Lower})
			upper.xy = append(upper.xy, plotter.XY{X: x, Y: iv.Upper})
			wrong.xy = append(wrong.xy, plotter.XY{X: x, Y: w.Estimate})
		}
		if s.name == "WOR" || s.name == "MUST.OW" {
			cs = append(cs, lower, wrong)
		}
	}
	r.printf("\n")
	if err := draw(r, "must-composition.png", "ε(1e-5) after k steps", "log10 k", "ε", true, cs); err != nil {
		return err
	}
	r.printf("\n")
	return nil
}

// laplaceTable composes Laplace noise of the same size, for which the paper has no
// pair.
func laplaceTable(r *report) error {
	r.printf("## Composition with Laplace noise: n = 10000, m = 200, b = 118, scale 4, δ = 1e-5\n\nSubstitution, unless told. Without replacement and Poisson share the bound; the attack on Poisson is weaker. With replacement and for the schemes of MUST the bound is Theorem 5 (docs/theory/subsampling.md §2).\n\n| scheme | k | attack: at least | proved: at most |\n|---|---|---|---|\n")
	l, err := profiles.NewLaplaceMechanism(4)
	if err != nil {
		return err
	}
	ss, err := schemes(10000, 118, 200)
	if err != nil {
		return err
	}
	p, err := subsample.NewPoisson(0.02)
	if err != nil {
		return err
	}
	type row struct {
		name     string
		s        subsample.Scheme
		relation profiles.Relation
	}
	rows := []row{{"Poisson, add-remove", p, profiles.AddRemove}, {"Poisson", p, profiles.Substitute}}
	for _, s := range ss {
		rows = append(rows, row{s.name, s.s, profiles.Substitute})
	}
	steps := []int64{1, 10, 100, 1000, 10000}
	if r.quick {
		steps = steps[:2]
	}
	for _, row := range rows {
		for _, k := range steps {
			acct := accountant.New(row.relation)
			if err := acct.Add(accountant.Step{Mechanism: l, Sampling: row.s}, k); err != nil {
				return err
			}
			iv, err := acct.Epsilon(1e-5)
			if err != nil {
				return fmt.Errorf("%s, laplace, %d runs: %w", row.name, k, err)
			}
			r.printf("| %s | %d | %s | %s |\n", row.name, k, below(iv.Lower), above(iv.Upper))
		}
	}
	r.printf("\n")
	return nil
}

func historicTable(r *report) error {
	r.printf("## Figure S2: the paper's Fourier accountant, MUST.OW, ε = 1, L = 10, r = 5e5\n\nIts three values for its own pair, the exact δ of that pair, and δ of the attack. Its lower and upper value happen to enclose the exact δ of its pair here; all are far below what a legal data set has.\n\n| k | Algorithm 1: lower, centre, upper | its pair, certified | attack, certified |\n|---|---|---|---|\n")
	ss, err := schemes(10000, 118, 200)
	if err != nil {
		return err
	}
	g, err := profiles.NewGaussianMechanism(4)
	if err != nil {
		return err
	}
	ow := ss[2].s
	law := ow.Multiplicity()
	var p, q fourier.NormalMixture
	for u := 0; u < 26; u++ {
		w := math.Exp(law.LogP[u])
		p.Weight, p.Mean = append(p.Weight, w), append(p.Mean, float64(u))
		q.Weight, q.Mean = append(q.Weight, w), append(q.Mean, -float64(u))
	}
	h, err := fourier.NewHistoric(p, q, 4, 10, r.pick(500_000, 5000))
	if err != nil {
		return err
	}
	a, err := ow.PaperPairNotABound(g)
	if err != nil {
		return err
	}
	b, err := ow.Attack(g)
	if err != nil {
		return err
	}
	for _, k := range []int64{200, 400, 600, 800, 1000} {
		l, c, u := h.Delta(1, int(k))
		r.printf("| %d | %.4g, %.4g, %.4g |", k, l, c, u)
		for _, x := range []profiles.Profile{a, b} {
			acct := accountant.New(accountant.Substitute)
			if err := acct.AddMechanism(profiles.NewMechanism("pair", profiles.Substitute, x), k); err != nil {
				return err
			}
			iv, err := acct.Delta(1)
			if err != nil {
				return fmt.Errorf("delta(1) after %d runs: %w", k, err)
			}
			r.printf(" [%s, %s] |", below(iv.Lower), above(iv.Upper))
		}
		r.printf("\n")
	}
	r.printf("\n")
	return nil
}

func distinctTable(r *report) error {
	draws := r.pick(10_000, 200)
	r.printf("## Table 9: distinct records in a subsample\n\nExact mean nη, and minimum, mean and maximum of %d draws. (The paper swaps minimum and mean of OW and WW in its second experiment.)\n\n| n, b, m | scheme | nη | min | mean | max |\n|---|---|---|---|---|---|\n", draws)
	for _, size := range [][3]int64{{300, 50, 30}, {1000, 200, 100}, {30969, 500, 300}} {
		ss, err := schemes(size[0], size[1], size[2])
		if err != nil {
			return err
		}
		for i, s := range ss {
			src := rand.NewPCG(9, uint64(i))
			lo, hi, sum := math.MaxInt, 0, 0
			for range draws {
				d := len(s.s.Sample(src))
				lo, hi, sum = min(lo, d), max(hi, d), sum+d
			}
			r.printf("| %d, %d, %d | %s | %.3f | %d | %.2f | %d |\n", size[0], size[1], size[2], s.name, s.s.ExpectedDistinct(), lo, float64(sum)/float64(draws), hi)
		}
	}
	r.printf("\n")
	return nil
}
