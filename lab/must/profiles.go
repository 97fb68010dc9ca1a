package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

type named struct {
	name string
	s    subsample.FixedSize
}

// schemes returns the four schemes of fixed size that differ in law.
func schemes(n, b, m int64) []named {
	wor := try.Must(subsample.NewWithoutReplacement(n, m))
	wr := try.Must(subsample.NewWithReplacement(n, m))
	ow := try.Must(subsample.NewMustOW(n, b, m))
	ww := try.Must(subsample.NewMustWW(n, b, m))
	return []named{{"WOR", wor}, {"WR", wr}, {"MUST.OW", ow}, {"MUST.WW", ww}}
}

var (
	schemeNames = []string{"WOR", "WR", "MUST.OW", "MUST.WW"}
	drawnNames  = append([]string{"Poisson"}, schemeNames...)
)

type noise struct {
	name string
	base profiles.Mechanism
}

// noises are the four panels of Figure 4. The paper's Δ is the sensitivity of a
// substitution, twice one record's contribution.
func noises() []noise {
	var out []noise
	for _, ratio := range []float64{0.25, 1} {
		l := try.Must(profiles.NewLaplaceMechanism(2 / ratio))
		g := try.Must(profiles.NewGaussianMechanism(2 / ratio))
		out = append(out, noise{fmt.Sprintf("Laplace, Δ/σ = %v", ratio), l}, noise{fmt.Sprintf("Gaussian, Δ/σ = %v", ratio), g})
	}
	return out
}

// table3Grid are the ε of Table 3.
var table3Grid = []float64{0.05, 0.5, 1, 2, 3, 4.5}

func profilesTable(r *report) {
	ss := schemes(1000, 500, 400)
	bs := noises()
	for _, s := range ss {
		r.page.Add("table3", "| – | ε', %s |", s.name)
		for _, e := range table3Grid {
			r.page.Add("table3", " %.3f |", s.s.AmplifiedEpsilon(e))
		}
		r.page.Add("table3", "\n")
	}
	for _, b := range bs {
		for i, s := range ss {
			points := try.Must(s.s.Aligned(b.base, table3Grid))
			if i == 0 {
				r.page.Add("table3", "| %s | base δ |", b.name)
				for _, p := range points {
					r.page.Add("table3", " %.3g |", p.Delta)
				}
				r.page.Add("table3", "\n")
			}
			r.page.Add("table3", "| | %s |", s.name)
			for _, p := range points {
				r.page.Add("table3", " %.3g |", p.Delta2)
			}
			r.page.Add("table3", "\n")
		}
	}
}

// fineGrid is ε from 0.01 to 6 for any scheme, densest where the curves bend: the paper has steps of 0.01 throughout.
func fineGrid(subsample.FixedSize) (grid []float64) {
	for i := 1; i <= 600; i++ {
		if i <= 30 || i <= 100 && i%2 == 0 || i%10 == 0 {
			grid = append(grid, float64(i)/100)
		}
	}
	return grid
}

// alignedPanels draws, for each noise, one curve per scheme through (x, y) of
// the aligned points at the ε of a grid.
func alignedPanels(x, y string, grid func(subsample.FixedSize) []float64, at func(subsample.AlignedPoint) (x, y float64)) (ps []figure.Picture) {
	ss := schemes(1000, 500, 400)
	for _, b := range noises() {
		p := panel(b.name, x, y)
		for _, s := range ss {
			c := figure.Band{Name: s.name, Method: styles[s.name]}
			for _, q := range try.Must(s.s.Aligned(b.base, grid(s.s))) {
				c.Add(at(q))
			}
			p.Bands = append(p.Bands, c)
		}
		ps = append(ps, p)
	}
	return ps
}

// guide is a line to compare with.
func guide(x, y []float64) figure.Band { return figure.Band{Muted: true, X: x, Proved: y} }

func alignedFigure(r *report) {
	ps := alignedPanels("ε'/ε", "δ' − δ", fineGrid, func(q subsample.AlignedPoint) (x, y float64) { return q.Epsilon2 / q.Epsilon, q.Delta2 - q.Delta })
	for i := range ps {
		ps[i].X.Min, ps[i].X.Max = 0.2, 0.9
		ps[i].Bands = append(ps[i].Bands, guide([]float64{0.2, 0.9}, []float64{0, 0}))
	}
	ps[0].Bands = append(ps[0].Bands, schemeEntries(schemeNames...)...)
	r.figure("must-figure4", 7*vg.Centimeter, ps[:2], ps[2:])
}

func profilesFigure(r *report) {
	ps := alignedPanels("δ", "δ'", fineGrid, func(q subsample.AlignedPoint) (x, y float64) { return q.Delta, q.Delta2 })
	for i := range ps {
		p, top := &ps[i], 0.
		for _, b := range p.Bands {
			top = max(top, slices.Max(b.Proved))
		}
		p.Bands = append(p.Bands, guide([]float64{0, top}, []float64{0, top}))
	}
	eps := alignedPanels("ε", "ε'", fineGrid, func(q subsample.AlignedPoint) (x, y float64) { return q.Epsilon, q.Epsilon2 })[0]
	eps.Title = "any noise"
	eps.Bands = append(append(eps.Bands, guide([]float64{0, 6}, []float64{0, 6})), schemeEntries(schemeNames...)...)
	ratio := panel("any noise", "ε", "ε'/ε")
	ss := schemes(1000, 500, 400)
	for _, s := range ss {
		b := figure.Band{Name: s.name, Method: styles[s.name]}
		for _, e := range fineGrid(s.s) {
			b.Add(e, s.s.AmplifiedEpsilon(e)/e)
		}
		ratio.Bands = append(ratio.Bands, b)
	}
	r.figure("must-figureS3", 7*vg.Centimeter, []figure.Picture{eps, ratio}, ps[:2], ps[2:])
}

// equalFigure compares the schemes at equal ε', which the paper does not do.
func equalFigure(r *report) {
	grid := func(s subsample.FixedSize) (grid []float64) {
		for i := 0; i <= 150; i++ {
			grid = append(grid, baseEpsilon(max(1e-6, float64(i)/50), s.InclusionProbability()))
		}
		return grid
	}
	const least = 1e-12 // of the axis
	ps := alignedPanels("ε'", "δ'", grid, func(q subsample.AlignedPoint) (x, y float64) { return q.Epsilon2, q.Delta2 })
	for i := range ps {
		p := &ps[i]
		p.X.Max, p.Y = 3, figure.Axis{Label: p.Y.Label, Log: true, Min: least, Max: 1}
		for j := range p.Bands {
			b := &p.Bands[j]
			if n := slices.IndexFunc(b.Proved, func(y float64) bool { return y <= least }); n >= 0 {
				b.X, b.Proved = b.X[:n], b.Proved[:n]
			}
		}
	}
	ps[0].Bands = append(ps[0].Bands, schemeEntries(schemeNames...)...)
	r.figure("must-equal", 7*vg.Centimeter, ps[:2], ps[2:])
}

// sizes gives a value on the grid of Figure 5: b from 150 to 200 over m from 100
// to 150, in steps of 5 (values in between are nearly linear).
type sizes [11][11]float64

func (s *sizes) at(m, b int64) float64 { return s[(m-100)/5][(b-150)/5] }

// sizeGrids returns, computed once, η, δ' − δ for Laplace and for Gaussian noise on the grid of
// Figure 5, for MUST.OW and MUST.WW.
var sizeGrids = sync.OnceValue(func() (out [2][3]sizes) {
	bs := noises()
	for c := range 11 {
		for q := range 11 {
			ow := try.Must(subsample.NewMustOW(1000, int64(150+5*q), int64(100+5*c)))
			ww := try.Must(subsample.NewMustWW(1000, int64(150+5*q), int64(100+5*c)))
			for i, s := range []subsample.FixedSize{ow, ww} {
				out[i][0][c][q] = s.InclusionProbability()
				for j, b := range bs[2:] {
					p := try.Must(s.Aligned(b.base, []float64{1}))
					out[i][1+j][c][q] = p[0].Delta2 - p[0].Delta
				}
			}
		}
	}
	return out
})

func sizesFigure(r *report) {
	grids := sizeGrids()
	titles := []string{"η", "δ' − δ, Laplace", "δ' − δ, Gaussian"}
	rows := make([][]figure.Picture, 2)
	for i, name := range []string{"MUST.OW", "MUST.WW"} {
		for j, title := range titles {
			p := panel(name+": "+title, "batch m", title)
			p.LegendLeft = true
			for q := range 11 {
				b := figure.Band{Name: fmt.Sprintf("value at b = %d", 150+5*q), Method: styles[name].Shade(q, 11).Dashed(0)}
				for c := range 11 {
					b.Add(float64(100+5*c), grids[i][j][c][q])
				}
				p.Bands = append(p.Bands, b)
			}
			p.Bands = append(p.Bands, figure.Band{Name: "b = 150", Method: p.Bands[0].Method}, figure.Band{Name: "b = 200", Method: p.Bands[10].Method})
			rows[i] = append(rows[i], p)
		}
	}
	r.figure("must-figure5", 7*vg.Centimeter, rows...)
	for _, size := range [][2]int64{{100, 150}, {100, 200}, {125, 175}, {150, 150}, {150, 200}} {
		for i, name := range []string{"MUST.OW", "MUST.WW"} {
			r.page.Add("sizes", "| %d | %d | %s |", size[0], size[1], name)
			for _, g := range grids[i] {
				r.page.Add("sizes", " %.6f |", g.at(size[0], size[1]))
			}
			r.page.Add("sizes", "\n")
		}
	}
}

// baseEpsilon inverts ε' = log(1 + η(e^ε − 1)).
func baseEpsilon(eps2, eta float64) float64 { return math.Log1p(math.Expm1(eps2) / eta) }

// nominalDelta is δ' of Theorem 5 at ε' for noise by the classical formula at δ,
// sensitivities as the paper has them.
func nominalDelta(s subsample.FixedSize, eps2, delta float64) float64 {
	eps := baseEpsilon(eps2, s.InclusionProbability())
	g := try.Must(profiles.NewGaussianMechanism(2 * classical(1, eps, delta)))
	points := try.Must(s.Aligned(g, []float64{eps}))
	return points[0].Delta2
}

func distinctTable(r *report) {
	draws := r.pick(10_000, 200)
	r.page["draws"] = draws
	for _, size := range [][3]int64{{300, 50, 30}, {1000, 200, 100}, {30969, 500, 300}} {
		ss := schemes(size[0], size[1], size[2])
		for i, s := range ss {
			src := rand.NewPCG(9, uint64(i))
			lo, hi, sum := math.MaxInt, 0, 0
			for range draws {
				picks := try.Must(s.s.Sample(src, size[0]))
				d := len(picks)
				lo, hi, sum = min(lo, d), max(hi, d), sum+d
			}
			r.page.Add("distinct", "| %d, %d, %d | %s | %.3f | %d | %.2f | %d |\n", size[0], size[1], size[2], s.name, s.s.ExpectedDistinct(), lo, float64(sum)/float64(draws), hi)
		}
	}
}
