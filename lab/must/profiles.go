package main

import (
	"fmt"
	"image/color"
	"math"
	"sync"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

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

var schemeNames = []string{"WOR", "WR", "MUST.OW", "MUST.WW"}

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

// fineGrid is ε from 0.01 to 6, densest where the curves bend: the paper has steps of 0.01 throughout.
func fineGrid() (grid []float64) {
	for i := 1; i <= 600; i++ {
		if i <= 30 || i <= 100 && i%2 == 0 || i%10 == 0 {
			grid = append(grid, float64(i)/100)
		}
	}
	return grid
}

var thin = draw.LineStyle{Color: color.Gray{170}, Width: vg.Points(0.7)}

// alignedPanels draws, for each noise, one curve per scheme through (x, y) of
// the aligned points.
func alignedPanels(x, y string, at func(subsample.AlignedPoint) plotter.XY) []*chart {
	ss := schemes(1000, 500, 400)
	bs := noises()
	var ps []*chart
	for _, b := range bs {
		p := panel(b.name, x, y)
		for _, s := range ss {
			points := try.Must(s.s.Aligned(b.base, fineGrid()))
			var xy plotter.XYs
			for _, q := range points {
				xy = append(xy, at(q))
			}
			p.line(s.name, styles[s.name].line(), xy)
		}
		ps = append(ps, p)
	}
	return ps
}

func alignedFigure(r *report) {
	ps := alignedPanels("ε'/ε", "δ' − δ", func(q subsample.AlignedPoint) plotter.XY {
		return plotter.XY{X: q.Epsilon2 / q.Epsilon, Y: q.Delta2 - q.Delta}
	})
	for _, p := range ps {
		p.X.Min, p.X.Max = 0.2, 0.9
		p.line("", thin, plotter.XYs{{X: 0.2}, {X: 0.9}})
	}
	r.figure("must-figure4", schemeEntries(schemeNames...), [][]*chart{{ps[0], ps[1]}, {ps[2], ps[3]}}, 13*vg.Centimeter)
}

func profilesFigure(r *report) {
	ps := alignedPanels("δ", "δ'", func(q subsample.AlignedPoint) plotter.XY { return plotter.XY{X: q.Delta, Y: q.Delta2} })
	for _, p := range ps {
		top := p.X.Max
		p.line("", thin, plotter.XYs{{}, {X: top, Y: top}})
		p.X.Min, p.Y.Min, p.Y.Max = 0, 0, p.Y.Max*1.05
		p.Y.Max = min(p.Y.Max, top/2)
	}
	eps := alignedPanels("ε", "ε'", func(q subsample.AlignedPoint) plotter.XY { return plotter.XY{X: q.Epsilon, Y: q.Epsilon2} })
	eps[0].Title.Text, eps[0].title = "any noise", "any noise"
	eps[0].line("", thin, plotter.XYs{{}, {X: 6, Y: 6}})
	ratio := panel("any noise", "ε", "ε'/ε")
	ss := schemes(1000, 500, 400)
	for _, s := range ss {
		var xy plotter.XYs
		for _, e := range fineGrid() {
			xy = append(xy, plotter.XY{X: e, Y: s.s.AmplifiedEpsilon(e) / e})
		}
		ratio.line(s.name, styles[s.name].line(), xy)
	}
	r.figure("must-figureS3", schemeEntries(schemeNames...), [][]*chart{{eps[0], ratio}, {ps[0], ps[1]}, {ps[2], ps[3]}}, 18*vg.Centimeter)
}

// equalFigure compares the schemes at equal ε', which the paper does not do.
func equalFigure(r *report) {
	ss := schemes(1000, 500, 400)
	bs := noises()
	var ps []*chart
	for _, b := range bs {
		p := panel(b.name, "ε'", "δ'")
		logY(p)
		for _, s := range ss {
			var grid []float64
			for i := 0; i <= 150; i++ {
				grid = append(grid, baseEpsilon(max(1e-6, float64(i)/50), s.s.InclusionProbability()))
			}
			points := try.Must(s.s.Aligned(b.base, grid))
			var xy plotter.XYs
			for _, q := range points {
				if q.Delta2 > 1e-12 {
					xy = append(xy, plotter.XY{X: q.Epsilon2, Y: q.Delta2})
				}
			}
			p.line(s.name, styles[s.name].line(), xy)
		}
		p.Y.Min, p.Y.Max, p.X.Min, p.X.Max = 1e-12, 1, 0, 3
		ps = append(ps, p)
	}
	r.figure("must-equal", schemeEntries(schemeNames...), [][]*chart{{ps[0], ps[1]}, {ps[2], ps[3]}}, 13*vg.Centimeter)
}

// sizes gives a value on the grid of Figure 5: b from 150 to 200 over m from 100
// to 150, in steps of 5 (values in between are nearly linear).
type sizes struct{ z [11][11]float64 }

func (sizes) Dims() (c, r int)        { return 11, 11 }
func (s sizes) Z(c, r int) float64    { return s.z[c][r] }
func (sizes) X(c int) float64         { return float64(100 + 5*c) }
func (sizes) Y(r int) float64         { return float64(150 + 5*r) }
func (s sizes) at(m, b int64) float64 { return s.z[(m-100)/5][(b-150)/5] }

// sizeGrids returns, computed once, η, δ' − δ for Laplace and for Gaussian noise on the grid of
// Figure 5, for MUST.OW and MUST.WW.
var sizeGrids = sync.OnceValue(func() (out [2][3]sizes) {
	bs := noises()
	for c := range 11 {
		for q := range 11 {
			ow := try.Must(subsample.NewMustOW(1000, int64(150+5*q), int64(100+5*c)))
			ww := try.Must(subsample.NewMustWW(1000, int64(150+5*q), int64(100+5*c)))
			for i, s := range []subsample.FixedSize{ow, ww} {
				out[i][0].z[c][q] = s.InclusionProbability()
				for j, b := range bs[2:] {
					p := try.Must(s.Aligned(b.base, []float64{1}))
					out[i][1+j].z[c][q] = p[0].Delta2 - p[0].Delta
				}
			}
		}
	}
	return out
})

func sizesFigure(r *report) {
	grids := sizeGrids()
	titles := []string{"η", "δ' − δ, Laplace", "δ' − δ, Gaussian"}
	var rows [][]*chart
	for i, name := range []string{"MUST.OW", "MUST.WW"} {
		var row []*chart
		for j, title := range titles {
			p := panel(name+": "+title, "batch m", "subset b")
			try.Check(contours(p, &grids[i][j], styles[name].color))
			row = append(row, p)
		}
		rows = append(rows, row)
	}
	r.figure("must-figure5", schemeEntries("MUST.OW", "MUST.WW"), rows, 13*vg.Centimeter)
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

// contours draws some lines of equal value, with their values where they cross
// the diagonal along which the value changes most.
func contours(p *chart, g *sizes, c color.Color) error {
	along := func(t int) float64 { return g.z[t][t] }
	row := func(t int) int { return t }
	if g.z[10][10]-g.z[0][0] < g.z[10][0]-g.z[0][10] {
		row = func(t int) int { return 10 - t }
		along = func(t int) float64 { return g.z[t][10-t] }
	}
	var levels []float64
	var labels plotter.XYLabels
	lo, hi := along(0), along(10)
	step := 0.002  // of δ' − δ
	if lo > 0.05 { // η
		step = 0.005
	}
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		v := i * step
		for t := range 10 {
			if lo, hi := along(t), along(t+1); lo <= v && v < hi {
				levels = append(levels, v)
				x := float64(t) + (v-lo)/(hi-lo)
				y := float64(row(t)) + (x-float64(t))*float64(row(t+1)-row(t))
				if x > 0.6 && x < 9.2 {
					labels.XYs = append(labels.XYs, plotter.XY{X: 100 + 5*x, Y: 150 + 5*y})
					labels.Labels = append(labels.Labels, fmt.Sprintf("%.4g", v))
				}
			}
		}
	}
	if len(levels) == 0 {
		return fmt.Errorf("no contour between %v and %v", along(0), along(10))
	}
	lines := plotter.NewContour(g, levels, nil)
	lines.LineStyles = []draw.LineStyle{{Color: c, Width: vg.Points(1.1)}}
	names := try.Must(plotter.NewLabels(labels))
	for i := range names.TextStyle {
		names.TextStyle[i].Font.Size = vg.Points(8)
		names.TextStyle[i].XAlign, names.TextStyle[i].YAlign = text.XCenter, text.YCenter
	}
	p.Add(lines, names)
	for row := range 11 {
		var xy plotter.XYs
		for col := range 11 {
			xy = append(xy, plotter.XY{X: g.X(col), Y: g.z[col][row]})
		}
		p.lines = append(p.lines, numbers{name: fmt.Sprintf("value at b = %.0f", g.Y(row)), xy: xy})
	}
	return nil
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
