// Command batching draws the picture of docs/choosing-a-sampler.md: the certified ε of one
// training run against the noise multiplier, for each way to draw its batches. The run is
// that of the README: 60,000 examples, batches of 256, 60 epochs, δ = 1e-5.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"image/color"
	"log"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/lab/plots"
)

func main() {
	dir := plots.OutFlag("docs/experiments")
	points := flag.Int("points", 25, "noise multipliers, between 0.5 and 20")
	flag.Parse()
	if err := run(context.Background(), dir(), *points); err != nil {
		log.Fatal(err)
	}
}

const (
	examples, batch, epochs = "60000", "256", "60"
	leastNoise, mostNoise   = 0.5, 20
)

// A way is a line of the picture, or a band between an attack and a theorem.
type way struct {
	batching, cap, label string
}

func ways() []way {
	return []way{
		{service.FixedOrder, "", "fixed order, or shuffled: proved"},
		{service.Shuffle, "", "shuffled: an attack"},
		{service.WithoutReplacement, "", "without replacement"},
		{service.TruncatedPoisson, "328", "Poisson, at most 328"},
		{service.Poisson, "", "Poisson"},
		{service.RandomAllocation, "", "random allocation"},
	}
}

// cost returns the interval of ε, under zero-out where examples have places and add-remove
// elsewhere.
func (w way) cost(ctx context.Context, s *service.Service, sigma float64) (lower, upper float64, err error) {
	a, err := s.DPSGD(ctx, service.DPSGDRequest{Batching: w.batching, Cap: service.Decimal(w.cap), Examples: examples, BatchSize: batch, Epochs: epochs,
		NoiseMultiplier: service.Decimal(strconv.FormatFloat(sigma, 'g', -1, 64)), Delta: service.Decimals{"1e-5"}})
	if err != nil {
		return 0, 0, fmt.Errorf("%s at %v: %w", w.batching, sigma, err)
	}
	e := a.Results[0].Epsilon
	return float64(e.Lower), float64(e.Upper), nil
}

func run(ctx context.Context, dir string, points int) error {
	p := figure.New()
	p.Title.Text = "60,000 examples, batches of 256, 60 epochs, δ = 1e-5"
	p.X.Label.Text, p.Y.Label.Text = "noise multiplier σ", "certified ε"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.ConstantTicks([]plot.Tick{
		{Value: 0.5, Label: "0.5"}, {Value: 1, Label: "1"}, {Value: 2, Label: "2"}, {Value: 5, Label: "5"}, {Value: 10, Label: "10"}, {Value: 20, Label: "20"}})
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, figure.Decades{}
	p.Legend.Top, p.Legend.Padding, p.Legend.ThumbnailWidth = true, vg.Points(2), vg.Points(30)
	p.Add(plotter.NewGrid())
	s := service.New(nil)
	rows := [][]string{{"batching", "noise-multiplier", "epsilon-lower", "epsilon-upper"}}
	lines := map[string]plotter.XYs{}
	for _, w := range ways() {
		var line plotter.XYs
		for k := range points {
			sigma := round(leastNoise * math.Pow(mostNoise/leastNoise, float64(k)/float64(points-1)))
			lower, upper, err := w.cost(ctx, s, sigma)
			if err != nil {
				return err
			}
			rows = append(rows, []string{w.batching, number(sigma, 4), number(lower, 6), number(upper, 6)})
			y := upper
			if w.batching == service.Shuffle {
				y = lower
			}
			line = append(line, plotter.XY{X: sigma, Y: y})
		}
		lines[w.batching] = line
	}
	if err := band(p, lines[service.Shuffle], lines[service.FixedOrder]); err != nil {
		return err
	}
	for _, w := range ways() {
		l, err := plotter.NewLine(lines[w.batching])
		if err != nil {
			return err
		}
		l.LineStyle = figure.Named("batches", w.batching).Line()
		p.Add(l)
		p.Legend.Add(w.label, l)
	}
	var data bytes.Buffer
	if err := csv.NewWriter(&data).WriteAll(rows); err != nil {
		return err
	}
	name := filepath.Join(dir, "batching")
	if err := os.WriteFile(name+".csv", data.Bytes(), 0o644); err != nil {
		return err
	}
	return plots.Save(p, 16*vg.Centimeter, 11*vg.Centimeter, name+".svg")
}

// band shades what nobody knows: between an attack and what is proved.
func band(p *plot.Plot, below, above plotter.XYs) error {
	ring := append(plotter.XYs{}, below...)
	for i := len(above) - 1; i >= 0; i-- {
		ring = append(ring, above[i])
	}
	area, err := plotter.NewPolygon(ring)
	if err != nil {
		return err
	}
	area.Color = color.NRGBA{213, 94, 0, 30}
	area.LineStyle.Width = 0
	p.Add(area)
	return nil
}

func round(x float64) float64 {
	digits := math.Pow(10, 3-math.Floor(math.Log10(x))-1)
	return math.Round(x*digits) / digits
}

func number(x float64, digits int) string { return strconv.FormatFloat(x, 'g', digits, 64) }
