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
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"path/filepath"
	"slices"
	"strings"

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

// A report collects the page and its pictures.
type report struct {
	bytes.Buffer
	dir string
}

func (r *report) p(format string, args ...any) { fmt.Fprintf(r, format+"\n", args...) }

// heads returns the head of a table: a word, then numbers by a format.
func heads(first, format string, numbers []float64) []string {
	out := []string{first}
	for _, x := range numbers {
		out = append(out, fmt.Sprintf(format, x))
	}
	return out
}

// section begins a section with its first paragraph.
func (r *report) section(title, text string, args ...any) {
	r.p("\n## %s\n", title)
	r.p(text, args...)
}

func (r *report) table(head []string, rows [][]string) {
	r.p("")
	r.p("| %s |", strings.Join(head, " | "))
	r.p("|%s", strings.Repeat("---|", len(head)))
	for _, row := range rows {
		r.p("| %s |", strings.Join(row, " | "))
	}
	r.p("")
}

// sections are the page, in order.
var sections = []struct {
	name  string
	write func(*report)
}{
	{"table one", tableOne}, {"figure two", figureTwo}, {"mesh size", meshSize}, {"losses", lossCurves}, {"bias", biasCurves}, {"bias limit", biasLimit},
	{"thresholds", thresholds}, {"privacy", privacy}, {"regression", regression}, {"poisson", poissonCounts}, {"missing", missing},
}

// run writes the page and its pictures, without the sections that are left out.
func run(dir string, without ...string) {
	r := &report{dir: dir}
	r.p(`# Optimal unbiased label randomizers

Paper: Badanidiyuru et al., *Optimal Unbiased Randomizers for Regression with Label Differential Privacy*, arXiv:2312.05659.
This page is written by %s. On public data: [labeldp-flights.md](labeldp-flights.md). The theory is in [labeldp.md](../guide/labeldp.md).

Losses are **half-losses**, E ½(ŷ − y)², as the paper tabulates them; test losses are mean squared errors.`, "`go run ./lab/labeldp`")
	for _, section := range sections {
		if slices.Contains(without, section.name) {
			continue
		}
		section.write(r)
	}
	plots.WritePage(dir, "labeldp", r.Bytes())
}

func num(x float64) string { return fmt.Sprintf("%.6g", x) }

func ints(a, b int) []float64 {
	var v []float64
	for i := a; i <= b; i++ {
		v = append(v, float64(i))
	}
	return v
}

// The priors.
func priorA() labeldp.Prior {
	return try.Must(labeldp.NewPrior(ints(0, 2), []float64{0.6, 0.25, 0.15}))
}
func priorC() labeldp.Prior {
	return try.Must(labeldp.NewPrior([]float64{1, 2, 5, 10}, []float64{0.4, 0.3, 0.2, 0.1}))
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
	r.section("Table 1 and its example: bias bends the best predictor", "Features {a, b}, labels {0, 1, 2}, P(a, ·) = (0.35, 0.10, 0.05), P(b, ·) = (0.25, 0.15, 0.10), ε = 0.5. RR-on-bins sends 0 to %s and 1, 2 to %s (the paper: 0.396, 0.720).", num(bins.Outputs()[0]), num(bins.Outputs()[1]))
	var rows [][]string
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
		rows = append(rows, []string{name, num(f[0]), num(f[1]), num(loss)})
	}
	r.table([]string{"labels", "best predictor at a", "at b", "its half-loss on true labels"}, rows)
	r.p("The paper prints the losses 2.625 and 2.726 for the first and last row: ten times too large.")
}

func figureTwo(r *report) {
	opt, cert := try.Must2(labeldp.OptimalUnbiased(context.Background(), priorA(), 0.5))
	r.section("Figure 2: the optimal law", "Prior (0.6, 0.25, 0.15) on {0, 1, 2}, ε = 0.5. Without a grid there are %d outputs, half-loss %.10g, certified to a relative %.0e.", len(opt.Outputs()), cert.Primal, math.Pow(10, math.Ceil(math.Log10(cert.RelGap))))
	head := heads("output", "P(· \\| %v)", opt.Labels())
	var rows [][]string
	for j, out := range opt.Outputs() {
		row := []string{num(out)}
		for i := range opt.Labels() {
			row = append(row, fmt.Sprintf("%.6f", opt.Row(i)[j]))
		}
		rows = append(rows, row)
	}
	r.table(head, rows)
	r.p("![Output law per label](labeldp-law.png)\n\nFor 52 labels (uniform, ε = 1) the same staircases appear.\n\n![Output law for 52 labels](labeldp-law52.png)")
	drawLaw(opt, filepath.Join(r.dir, "labeldp-law.png"))
	u52, _ := try.Must2(labeldp.OptimalUnbiased(context.Background(), uniform(1, 52), 1))
	drawLaw(u52, filepath.Join(r.dir, "labeldp-law52.png"))
}

func meshSize(r *report) {
	const eps = 0.998
	r.section("Mesh size (the table of Appendix G.3)", "The paper solves its linear program for US Census weeks worked, labels 1..52, with ε₂ = 0.998 (ε = 1 less 0.002 for the prior; the paper's rule √(k/n) is %.5f), on output grids of 52, 416 and 1664 points, in 2.4 s, 17 s and 161 s: 1288.21, 1275.22, 1274.71. The pattern is the same on two synthetic priors.", math.Sqrt(52.0/131_903_909))
	var rows [][]string
	for _, c := range []named{{"uniform on 1..52", uniform(1, 52)}, {"half of the mass on 52", half52()}} {
		row := []string{c.name, fmt.Sprintf("%.2f", try.Must(labeldp.HalfLoss(try.Must(labeldp.RROnBins(c.p, eps)), c.p)))}
		for _, n := range []int{52, 416, 1664} {
			grid := try.Must(labeldp.FeasibleGrid(c.p.Labels(), eps, n))
			_, cert := try.Must2(labeldp.OptimalUnbiasedGrid(context.Background(), c.p, eps, grid))
			row = append(row, fmt.Sprintf("%.4f", cert.Primal))
		}
		_, cert := try.Must2(labeldp.OptimalUnbiased(context.Background(), c.p, eps))
		rows = append(rows, append(row, fmt.Sprintf("%.4f", cert.Primal)))
	}
	r.table([]string{"prior", "RR-on-bins", "n = 52", "n = 416", "n = 1664", "grid-free"}, rows)
	r.p("Speed is measured by `go test -bench . ./labeldp`.")
}

func lossCurves(r *report) {
	r.section("Noisy label loss against ε (as Figures 4 and 5, on synthetic priors)", "Two priors: *weeks*, labels 1..52 with half of the mass on 52; *sales*, labels 0..100 with mass proportional to e^{−y/10}. Solid lines are unbiased, dashed ones biased.")
	for _, c := range []named{{"weeks", half52()}, {"sales", sales100()}} {
		var eps []float64
		for i := range 14 {
			eps = append(eps, 0.1*math.Pow(8/0.1, float64(i)/13))
		}
		curves := map[string][]float64{}
		var order []string
		for i, e := range eps {
			ms, _ := try.Must2(labeldp.Methods(context.Background(), c.p, e))
			for _, m := range ms {
				loss := try.Must(labeldp.HalfLoss(m, c.p))
				if i == 0 {
					order = append(order, m.Name())
				}
				curves[m.Name()] = append(curves[m.Name()], loss)
			}
		}
		file := "labeldp-loss-" + c.name + ".png"
		drawLosses(c.name, eps, order, curves, filepath.Join(r.dir, file))
		r.p("\n![Loss against ε, %s](%s)", c.name, file)
		some := func(xs []float64) []float64 { return []float64{xs[0], xs[4], xs[7], xs[10], xs[13]} }
		var rows [][]string
		for _, name := range order {
			rows = append(rows, heads(name, "%.5g", some(curves[name])))
		}
		r.table(heads("half-loss, "+c.name, "ε = %.3g", some(eps)), rows)
	}
	r.p("For small ε the optimum is close to the two-point mechanism, with half the loss of Laplace noise; for large ε it reaches debiased randomized response.")
}

func biasCurves(r *report) {
	const eps = 2
	p := half52()
	clip := try.Must(labeldp.NewAdditive(p.Labels(), eps, labeldp.Noise{Clipped: true}))
	opt, _ := try.Must2(labeldp.OptimalUnbiased(context.Background(), p, eps))
	ms := []labeldp.Method{opt, clip, try.Must(labeldp.RandomizedResponse(p.Labels(), eps)), try.Must(labeldp.RROnBins(p, eps))}
	var names []string
	var curves [][]float64
	for _, m := range ms {
		var c []float64
		for _, y := range p.Labels() {
			b, _ := try.Must2(m.Moments(y))
			c = append(c, b)
		}
		names, curves = append(names, m.Name()), append(curves, c)
	}
	r.section("Bias", "E[ŷ] − y for each label of *weeks* at ε = %v.", eps)
	r.p("\n![Bias per label](labeldp-bias.png)")
	drawBias(p.Labels(), names, curves, filepath.Join(r.dir, "labeldp-bias.png"))
}

func biasLimit(r *report) {
	p := priorA()
	betas := []float64{0, 0.05, 0.1, 0.25, 0.5, 1, math.Inf(1)}
	head := []string{"ε \\ β"}
	for _, b := range betas {
		head = append(head, strings.Replace(fmt.Sprint(b), "+Inf", "∞", 1))
	}
	var rows [][]string
	for _, eps := range []float64{0.5, 1, 2} {
		grid := try.Must(labeldp.FeasibleGrid(p.Labels(), eps, 65))
		row := []string{fmt.Sprint(eps)}
		for _, b := range betas {
			_, cert := try.Must2(labeldp.BiasLimited(context.Background(), p, eps, b, grid))
			row = append(row, num(cert.Primal))
		}
		rows = append(rows, row)
	}
	r.section("Between unbiased and unconstrained", "Half-loss of the best randomizer with |E[ŷ] − y| ≤ β for every label, prior (0.6, 0.25, 0.15) on {0, 1, 2}, 65 outputs between those of debiased randomized response:")
	r.table(head, rows)
	biasRule(r, p)
}

// biasRule says which β a regression of d parameters on n examples should take.
func biasRule(r *report, p labeldp.Prior) {
	r.p("A model of d parameters fitted to n examples turns noise into about 2·loss·d/n of squared test error, and a bias of β into up to β². The β with the least 2·loss(β)·d/n + β² is s·d/n, where the loss falls by s for a unit of β. By the table above, and by search over β in steps of 0.005:")
	sizes := []float64{10, 100, 1000, 10000}
	head := []string{"ε", "s"}
	for _, n := range sizes {
		head = append(head, fmt.Sprintf("n/d = %v: s·d/n", n), "best β", "of the error at β = 0")
	}
	var rows [][]string
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
		rows = append(rows, row)
	}
	r.table(head, rows)
}

func thresholds(r *report) {
	r.section("Where debiased randomized response is optimal", "The optimum equals debiased randomized response above a finite ε, found by bisection on the dual certificate.")
	var rows [][]string
	for _, c := range []named{
		{"(0.6, 0.25, 0.15) on {0, 1, 2}", priorA()}, {"uniform on {0, 1, 2}", uniform(0, 2)},
		{"uniform on {0, …, 4}", uniform(0, 4)}, {"(0.4, 0.3, 0.2, 0.1) on {1, 2, 5, 10}", priorC()},
		{"uniform on {0, …, 9}", uniform(0, 9)},
	} {
		from, _ := xmath.Bisect(8, 0.5, 33, func(eps float64) bool {
			_, cert := try.Must2(labeldp.OptimalUnbiased(context.Background(), c.p, eps))
			return cert.Iterations == 0 // the certificate of debiased randomized response held
		})
		rows = append(rows, []string{c.name, fmt.Sprintf("%.6f", from)})
	}
	r.table([]string{"prior", "optimal from ε ="}, rows)
}

func missing(r *report) {
	r.section("What is not here", "The data of the paper: Criteo Sponsored Search Conversion (Figures 3 and 4), US Census 1940 (Figure 5 (a), the mesh table) and proprietary conversion counts (Figure 5 (b)). [Flights](labeldp-flights.md) stand in for them.")
}
