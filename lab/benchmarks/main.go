// Command benchmarks measures what docs/benchmarks.md shows: what an answer costs against
// its accuracy, against the number of runs and against the number of distinct steps, by the
// contour engine and by the lattice engine, and for every sampling scheme; and it draws the picture of docs/contour.md.
// Costs are processor time in units of one real FFT of 65,536 points of gonum, taken before
// and after each measurement: machines drift, the ratio hardly does.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	dsp "gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func main() {
	dir := plots.OutFlag("docs/experiments")
	rounds := flag.Int("rounds", 5, "measurements of which the median counts")
	redraw := flag.Bool("redraw", false, "draw the figures of the data in the directory again, without measuring")
	figures := flag.String("only", "", "accuracy, counts, distinct, schemes or contour (the picture of docs/contour.md): one of them only")
	flag.Parse()
	try.Main(func() {
		ctx := context.Background()
		if *figures == "contour" {
			contourPicture(dir())
		}
		for _, s := range []sweep{accuracies(), counts(), distinct()} {
			if *figures != "" && *figures != s.name {
				continue
			}
			if *redraw {
				s.draw(dir())
			} else {
				s.run(ctx, dir(), *rounds)
			}
		}
		if *redraw {
			return
		}
		if *figures == "" || *figures == "schemes" {
			schemesTable(ctx, os.Stdout, dir(), *rounds, settings)
		}
	})
}

// A sweep is one picture: the cost of some questions along one axis.
type sweep struct {
	name, title, axis string
	values            []float64
	lines             []line
}

// A line is one way to answer. ask answers the question at x with a new accountant and
// returns the relative width of the answer; from is when the clock starts, as the work
// before it is not what the line is about. Values above last would take too long.
type line struct {
	name string
	last float64
	ask  func(ctx context.Context, x float64) (from float64, width float64, err error)
}

// dpsgd is the run of the pictures: q = 0.01, σ = 1 + shift.
func dpsgd(shift float64) (accountant.Step, error) {
	m := try.Must(profiles.NewGaussianMechanism(1 + shift))
	s, err := subsample.NewPoisson(0.01)
	return accountant.Step{Mechanism: m, Sampling: s}, err
}

const delta = 1e-5

// answer asks for ε of so many distinct steps of so many runs each, and of one more
// distinct step where more is set.
func answer(ctx context.Context, steps int, runs int64, more bool, opts ...accountant.Option) (from, width float64, err error) {
	from = processor()
	a := accountant.New(accountant.AddRemove, opts...)
	for i := range steps {
		step := try.Must(dpsgd(float64(i) / float64(steps)))
		if more && i == steps-1 {
			if _, err := a.Epsilon(ctx, delta); err != nil {
				return 0, 0, err
			}
			from = processor()
		}
		try.Check(a.Add(ctx, step, runs))
	}
	iv, err := a.Epsilon(ctx, delta)
	return from, (iv.Upper - iv.Lower) / iv.Lower, err
}

func accuracies() sweep {
	s := sweep{name: "accuracy", title: "1000 runs, rate 0.01, noise multiplier 1", axis: "relative width asked for"}
	for e := 2; e <= 12; e++ {
		s.values = append(s.values, 1/math.Pow(10, float64(e)))
	}
	slices.Reverse(s.values)
	for _, l := range []struct {
		engine fourier.Engine
		opts   []accountant.Option
		last   float64
	}{{fourier.Contour, nil, 1e-12}, {fourier.Lattice, []accountant.Option{accountant.WithTransform(fourier.Gonum)}, 1e-7}} {
		s.lines = append(s.lines, line{string(l.engine) + " engine", -l.last, func(ctx context.Context, x float64) (float64, float64, error) {
			return answer(ctx, 1, 1000, false, append(l.opts, accountant.WithAccuracy(x))...)
		}})
	}
	return s
}

func counts() sweep {
	s := sweep{name: "counts", title: "rate 0.01, noise multiplier 1", axis: "runs"}
	for e := range 13 {
		s.values = append(s.values, math.Pow(10, float64(e)))
	}
	for _, l := range []struct {
		name string
		opts []accountant.Option
		last float64
	}{
		{"as asked by default", nil, 1e12},
		{"lattice engine, 1e-3", []accountant.Option{accountant.WithTransform(fourier.Gonum), accountant.WithAccuracy(1e-3)}, 1e9},
	} {
		s.lines = append(s.lines, line{l.name, l.last, func(ctx context.Context, x float64) (float64, float64, error) {
			return answer(ctx, 1, int64(x), false, l.opts...)
		}})
	}
	return s
}

func distinct() sweep {
	s := sweep{name: "distinct", title: "distinct steps of 10 runs each, noise multipliers from 1 to 2", axis: "distinct steps"}
	s.values = []float64{1, 3, 10, 30, 100, 300, 1000, 3000, 10000}
	for _, l := range []struct {
		name string
		more bool
		opts []accountant.Option
		last float64
	}{
		{"as asked by default", false, nil, 1e4},
		{"one more, after an answer", true, nil, 1e4},
		{"lattice engine, 1e-3", false, []accountant.Option{accountant.WithTransform(fourier.Gonum), accountant.WithAccuracy(1e-3)}, 100},
	} {
		s.lines = append(s.lines, line{l.name, l.last, func(ctx context.Context, x float64) (float64, float64, error) {
			return answer(ctx, int(x), 10, l.more, l.opts...)
		}})
	}
	return s
}

// run measures, prints a table, and writes the data and its picture.
func (s sweep) run(ctx context.Context, dir string, rounds int) {
	rows := [][]string{{"line", s.axis, "x-fft", "relative width"}}
	fmt.Printf("\n%s\n\n| %s | way | x-fft | relative width |\n|---|---|---|---|\n", s.title, s.axis)
	for _, l := range s.lines {
		for _, x := range s.values {
			if l.last >= 0 && x > l.last || l.last < 0 && x < -l.last*(1-1e-9) {
				continue
			}
			cost, width := try.Must2(l.measure(ctx, x, rounds))
			number := func(v float64, digits int) string { return strconv.FormatFloat(v, 'g', digits, 64) }
			rows = append(rows, []string{l.name, number(x, 3), number(cost, 3), number(width, 2)})
			fmt.Printf("| %.3g | %s | %.3g | %.2g |\n", x, l.name, cost, width)
		}
	}
	var data bytes.Buffer
	w := csv.NewWriter(&data)
	try.Check(w.WriteAll(rows))
	try.Check(os.WriteFile(filepath.Join(dir, "benchmarks-"+s.name+".csv"), data.Bytes(), 0o644))
	s.draw(dir)
}

// draw writes the picture of the data in dir.
func (s sweep) draw(dir string) {
	name := filepath.Join(dir, "benchmarks-"+s.name)
	data := try.Must(os.ReadFile(name + ".csv"))
	rows := try.Must(csv.NewReader(bytes.NewReader(data)).ReadAll())
	pic := figure.Picture{Title: s.title, X: figure.Axis{Label: s.axis, Log: true}, Y: figure.Axis{Label: "cost, in FFTs of 65,536 points", Log: true}, LegendUp: true}
	for _, l := range s.lines {
		b := figure.Band{Name: l.name, Method: figure.Contour, Dots: true}
		if strings.HasPrefix(l.name, "lattice") {
			b.Method = figure.Lattice
		}
		if l.name == "one more, after an answer" {
			b.Method = figure.ContourAgain
		}
		for _, r := range rows[1:] {
			if r[0] != l.name {
				continue
			}
			x, errX := strconv.ParseFloat(r[1], 64)
			y, errY := strconv.ParseFloat(r[2], 64)
			try.Check(errors.Join(errX, errY))
			b.X, b.Proved = append(b.X, x), append(b.Proved, y)
		}
		pic.Bands = append(pic.Bands, b)
	}
	svg := try.Must(pic.Encode("svg", figure.Size{Width: 16 * vg.Centimeter, Height: 10 * vg.Centimeter}))
	try.Check(os.WriteFile(name+".svg", svg, 0o644))
}

// measure returns the median cost of an answer in FFTs, and its width.
func (l line) measure(ctx context.Context, x float64, rounds int) (cost, width float64, err error) {
	var costs []float64
	for range rounds {
		unit := transform()
		from, w := try.Must2(l.ask(ctx, x))
		spent := processor() - from
		unit = (unit + transform()) / 2
		costs, width = append(costs, spent/unit), w
		if spent > 5 { // one measurement of something long is enough
			break
		}
	}
	slices.Sort(costs)
	return costs[len(costs)/2], width, nil
}

// transform returns the processor time of one real FFT of 65,536 points.
func transform() float64 {
	const n, times = 65536, 10
	fft, x, dst := dsp.NewFFT(n), make([]float64, n), make([]complex128, n/2+1)
	for i := range x {
		x[i] = math.Sin(float64(i * i))
	}
	from := processor()
	for range times {
		fft.Coefficients(dst, x)
	}
	return (processor() - from) / times
}
