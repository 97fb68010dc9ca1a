// Command labeldp regenerates tables and figures of "Optimal Unbiased Randomizers for Regression
// with Label Differential Privacy" (arXiv:2312.05659). They are about the noisy label loss on
// synthetic priors, a synthetic regression, and a regression on public data.
//
// It writes labeldp.md and its pictures into a folder:
//
//	go run ./lab/labeldp -out docs/experiments
//
// With -data it writes labeldp-flights.md instead, from delays of flights:
//
//	npm pack vega-datasets@2.11.0
//	tar xzf vega-datasets-2.11.0.tgz package/data/flights-200k.json
//	go run ./lab/labeldp -data package/data
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/labeldp"
)

func main() {
	out := plots.OutFlag("docs/experiments")
	data := flag.String("data", "", "folder with flights-200k.json; writes the page about it")
	seeds := flag.Int("seeds", 10, "runs of every method with -data, at least 2")
	flag.Parse()
	log.SetFlags(0)
	try.Main(func() {
		if *data == "" {
			run(out())
		} else {
			flightsPage(out(), *data, max(*seeds, 2))
		}
	})
}

// A report has the numbers of a page, and the folder of its pictures.
type report struct {
	plots.Values
	dir string
}

// row adds a row to a table.
func (r *report) row(table string, cells ...string) {
	r.Add(table, "| %s |\n", strings.Join(cells, " | "))
}

//go:embed page.tmpl
var pageText string

// sections are what the page has numbers of, by their titles there.
var sections = []struct {
	title string
	write func(*report)
}{
	{"Table 1", tableOne}, {"Figure 2", figureTwo}, {"Mesh size", meshSize}, {"Noisy label loss", lossCurves}, {"Bias", biasCurves}, {"Between unbiased", biasLimit},
	{"Where debiased", thresholds}, {"Privacy", privacy}, {"A synthetic regression", regression}, {"Poisson loss", poissonCounts},
}

// run writes the page and its pictures, without the sections that are left out.
func run(dir string, without ...string) {
	r := &report{plots.Values{}, dir}
	text := pageText
	for _, section := range sections {
		if slices.Contains(without, section.title) {
			before, rest, _ := strings.Cut(text, "\n## "+section.title)
			_, after, _ := strings.Cut(rest, "\n## ")
			text = before + "\n## " + after
			continue
		}
		section.write(r)
	}
	plots.WritePage(dir, "labeldp", r.Page(text))
}

func num(x float64) string { return fmt.Sprintf("%.6g", x) }

// ints returns the whole numbers from a to b.
func ints(a, b int) []float64 { return floats.Span(make([]float64, b-a+1), float64(a), float64(b)) }

// The priors.
func priorA() labeldp.Prior {
	return try.Must(labeldp.NewPrior(ints(0, 2), []float64{0.6, 0.25, 0.15}))
}

// A named prior is a row of a table.
type named struct {
	name string
	p    labeldp.Prior
}

func uniform(from, to int) labeldp.Prior { return try.Must(labeldp.NewPrior(ints(from, to), nil)) }

// half52 stands for weeks worked: half of the mass on 52, the rest uniform.
func half52() labeldp.Prior {
	w := slices.Repeat([]float64{1}, 52)
	w[51] = 51
	return try.Must(labeldp.NewPrior(ints(1, 52), w))
}

// sales100 stands for sales amounts: {0, …, 100}, exponentially decreasing.
func sales100() labeldp.Prior {
	w := make([]float64, 101)
	for i := range w {
		w[i] = math.Exp(-float64(i) / 10)
	}
	return try.Must(labeldp.NewPrior(ints(0, 100), w))
}

func tableOne(r *report) {
	joint := [2][3]float64{{0.35, 0.10, 0.05}, {0.25, 0.15, 0.10}}
	bins := try.Must(labeldp.RROnBins(priorA(), 0.5))
	opt, _ := try.Must2(labeldp.OptimalUnbiased(context.Background(), priorA(), 0.5))
	r.Values["first"], r.Values["others"] = bins.Outputs()[0], bins.Outputs()[1]
	for _, m := range []labeldp.Randomizer{nil, opt, bins} {
		var f [2]float64
		loss := 0.0
		for x := range joint {
			mass := 0.0
			for y, p := range joint[x] {
				bias := 0.0
				if m != nil {
					bias, _ = try.Must2(m.Moments(float64(y)))
				}
				mass += p
				f[x] += p * (float64(y) + bias)
			}
			f[x] /= mass
			for y, p := range joint[x] {
				loss += p * (f[x] - float64(y)) * (f[x] - float64(y)) / 2
			}
		}
		name := "true labels"
		if m != nil {
			name = m.Name()
		}
		r.row("table1", name, num(f[0]), num(f[1]), num(loss))
	}
}

func figureTwo(r *report) {
	opt, cert := try.Must2(labeldp.OptimalUnbiased(context.Background(), priorA(), 0.5))
	r.Values["outputs"], r.Values["halfLoss"], r.Values["certified"] = len(opt.Outputs()), cert.Primal, math.Pow(10, math.Ceil(math.Log10(cert.RelGap)))
	for j, out := range opt.Outputs() {
		row := []string{num(out)}
		for i := range opt.Labels() {
			row = append(row, fmt.Sprintf("%.6f", opt.Row(i)[j]))
		}
		r.row("law", row...)
	}
	r.drawLaw("labeldp-law", opt)
	u52, _ := try.Must2(labeldp.OptimalUnbiased(context.Background(), uniform(1, 52), 1))
	r.drawLaw("labeldp-law52", u52)
}

func meshSize(r *report) {
	const eps = 0.998
	r.Values["census"] = math.Sqrt(52.0 / 131_903_909)
	for _, c := range []named{{"uniform on 1..52", uniform(1, 52)}, {"half of the mass on 52", half52()}} {
		row := []string{c.name, fmt.Sprintf("%.2f", try.Must(labeldp.HalfLoss(try.Must(labeldp.RROnBins(c.p, eps)), c.p)))}
		for _, n := range []int{52, 416, 1664} {
			grid := try.Must(labeldp.FeasibleGrid(c.p.Labels(), eps, n))
			_, cert := try.Must2(labeldp.OptimalUnbiasedGrid(context.Background(), c.p, eps, grid))
			row = append(row, fmt.Sprintf("%.4f", cert.Primal))
		}
		_, cert := try.Must2(labeldp.OptimalUnbiased(context.Background(), c.p, eps))
		r.row("mesh", append(row, fmt.Sprintf("%.4f", cert.Primal))...)
	}
}

func lossCurves(r *report) {
	for _, c := range []named{{"weeks", half52()}, {"sales", sales100()}} {
		var eps []float64
		for i := range 14 {
			eps = append(eps, 0.1*math.Pow(8/0.1, float64(i)/13))
		}
		var curves []curve
		for i, e := range eps {
			ms, _ := try.Must2(labeldp.Methods(context.Background(), c.p, e))
			for j, m := range ms {
				if i == 0 {
					curves = append(curves, curve{name: m.Name()})
				}
				curves[j].ys = append(curves[j].ys, try.Must(labeldp.HalfLoss(m, c.p)))
			}
		}
		r.drawLosses("labeldp-loss-"+c.name, c.name, eps, curves)
		for _, m := range curves {
			row := []string{m.name}
			for _, i := range []int{0, 4, 7, 10, 13} {
				row = append(row, fmt.Sprintf("%.5g", m.ys[i]))
			}
			r.row(c.name, row...)
		}
	}
}

func biasCurves(r *report) {
	const eps = 2
	p := half52()
	clip := try.Must(labeldp.NewAdditive(p.Labels(), eps, labeldp.Noise{Clipped: true}))
	opt, _ := try.Must2(labeldp.OptimalUnbiased(context.Background(), p, eps))
	ms := []labeldp.Method{opt, clip, try.Must(labeldp.RandomizedResponse(p.Labels(), eps)), try.Must(labeldp.RROnBins(p, eps))}
	var curves []curve
	for _, m := range ms {
		c := curve{name: m.Name()}
		for _, y := range p.Labels() {
			b, _ := try.Must2(m.Moments(y))
			c.ys = append(c.ys, b)
		}
		curves = append(curves, c)
	}
	r.draw("labeldp-bias", figure.Picture{Title: "Bias per label, prior: weeks, ε = 2", X: figure.Axis{Label: "label"}, Y: figure.Axis{Label: "E[ŷ] − y"}, LegendUp: true}, "label", p.Labels(), curves)
}

func biasLimit(r *report) {
	p := priorA()
	betas := []float64{0, 0.05, 0.1, 0.25, 0.5, 1, math.Inf(1)}
	for _, eps := range []float64{0.5, 1, 2} {
		grid := try.Must(labeldp.FeasibleGrid(p.Labels(), eps, 65))
		row := []string{fmt.Sprint(eps)}
		for _, b := range betas {
			_, cert := try.Must2(labeldp.BiasLimited(context.Background(), p, eps, b, grid))
			row = append(row, num(cert.Primal))
		}
		r.row("limit", row...)
	}
	biasRule(r, p)
}

// biasRule says which β a regression of d parameters on n examples should take.
func biasRule(r *report, p labeldp.Prior) {
	sizes := []float64{10, 100, 1000, 10000}
	for _, eps := range []float64{0.5, 1, 2} {
		grid := try.Must(labeldp.FeasibleGrid(p.Labels(), eps, 65))
		loss := func(beta float64) float64 {
			_, cert := try.Must2(labeldp.BiasLimited(context.Background(), p, eps, beta, grid))
			return cert.Primal
		}
		var losses []float64
		for k := range 201 {
			losses = append(losses, loss(float64(k)/200))
		}
		slope := (losses[0] - losses[10]) / 0.05
		row := []string{fmt.Sprint(eps), fmt.Sprintf("%.3g", slope)}
		for _, n := range sizes {
			best, least := 0.0, math.Inf(1)
			for k, l := range losses {
				if b := float64(k) / 200; 2*l/n+b*b < least {
					best, least = b, 2*l/n+b*b
				}
			}
			row = append(row, fmt.Sprintf("%.3g", slope/n), fmt.Sprintf("%.3f", best), fmt.Sprintf("%.0f %%", 100*least/(2*losses[0]/n)))
		}
		r.row("rule", row...)
	}
}

func thresholds(r *report) {
	for _, c := range []named{
		{"(0.6, 0.25, 0.15) on {0, 1, 2}", priorA()}, {"uniform on {0, 1, 2}", uniform(0, 2)},
		{"uniform on {0, …, 4}", uniform(0, 4)}, {"(0.4, 0.3, 0.2, 0.1) on {1, 2, 5, 10}", try.Must(labeldp.NewPrior([]float64{1, 2, 5, 10}, []float64{0.4, 0.3, 0.2, 0.1}))},
		{"uniform on {0, …, 9}", uniform(0, 9)},
	} {
		from, _ := xmath.Bisect(8, 0.5, 33, func(eps float64) bool {
			_, cert := try.Must2(labeldp.OptimalUnbiased(context.Background(), c.p, eps))
			return cert.Iterations == 0 // the certificate of debiased randomized response held
		})
		r.row("thresholds", c.name, fmt.Sprintf("%.6f", from))
	}
}

// Figures: losses, biases, the regression and the law of a randomizer.

// style is the look of a method; a clipped or discrete one has the colour of what it is
// made of, and one that is biased has dashes.
func style(name string) figure.Method {
	m := figure.Named("labels", strings.TrimPrefix(strings.TrimPrefix(name, "clipped-"), "discrete-"))
	if strings.HasPrefix(name, "clipped") {
		return m.Dashed(1)
	}
	return m
}

// A curve is numbers of a method, over what all curves of a picture are over, and bars about them, if any.
type curve struct {
	name     string
	ys, bars []float64
}

// bands returns curves. Where the axis is logarithmic they have no points that are not above zero.
func bands(log bool, xs []float64, curves []curve) (out []figure.Band) {
	for _, c := range curves {
		b := figure.Band{Name: c.name, Method: style(c.name), Wide: strings.HasPrefix(c.name, "optimal") || c.name == "clean labels"}
		for j, y := range c.ys {
			if !log || y > 0 {
				b.Add(xs[j], y)
				if c.bars != nil {
					b.Errors = append(b.Errors, c.bars[j])
				}
			}
		}
		if b.X != nil {
			out = append(out, b)
		}
	}
	return out
}

// draw writes a picture of curves and, as CSV beside it, their numbers: x and a column for each. If the picture has its bands already,
// only the numbers are of the curves.
func (r *report) draw(name string, pic figure.Picture, x string, xs []float64, curves []curve) {
	if pic.Bands == nil {
		pic.Bands = bands(pic.Y.Log, xs, curves)
	}
	var b strings.Builder
	b.WriteString(x)
	for _, c := range curves {
		b.WriteString("," + c.name)
	}
	for i, v := range xs {
		fmt.Fprintf(&b, "\n%.9g", v)
		for _, c := range curves {
			fmt.Fprintf(&b, ",%.9g", c.ys[i])
		}
	}
	try.Check(os.WriteFile(filepath.Join(r.dir, name+".csv"), []byte(b.String()+"\n"), 0o644))
	r.save(name, pic)
}

func (r *report) save(name string, pic figure.Picture) {
	plots.Save(filepath.Join(r.dir, name+".png"), figure.Size{Width: 18 * vg.Centimeter, Height: 11 * vg.Centimeter}, []figure.Picture{pic})
}

func (r *report) drawLosses(name, prior string, eps []float64, curves []curve) {
	pic := figure.Picture{Title: "Noisy label loss, prior: " + prior, X: figure.Axis{Label: "ε", Log: true, At: []float64{0.1, 0.2, 0.5, 1, 2, 4, 8}}, Y: figure.Axis{Label: "half-loss", Log: true}}
	shown := slices.DeleteFunc(slices.Clone(curves), func(c curve) bool { return strings.Contains(c.name, "discrete") }) // on top of the continuous ones
	pic.Bands = bands(true, eps, shown)
	r.draw(name, pic, "epsilon", eps, curves)
}

// drawLaw draws the output law of each label.
func (r *report) drawLaw(name string, m labeldp.Randomizer) {
	pic := figure.Law(m.Labels(), m.Outputs(), m.Row)
	pic.Title = fmt.Sprintf("Output law per label, ε = %v", m.Epsilon())
	pic.X.Label = "output (area of a disc: its probability; ×: the label, which is the mean)"
	var rows []curve
	for i, y := range m.Labels() {
		rows = append(rows, curve{name: fmt.Sprintf("P(·|%v)", y), ys: m.Row(i)})
	}
	r.draw(name, pic, "output", m.Outputs(), rows)
}
