// Command batching draws the picture of docs/guide/choosing-a-sampler.md: the certified ε of one
// training run against the noise multiplier, for each way to draw its batches. The run is
// that of the README: 60,000 examples, batches of 256, 60 epochs, δ = 1e-5.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
)

func main() {
	dir := plots.OutFlag("docs/experiments")
	points := flag.Int("points", 25, "noise multipliers, between 0.5 and 20")
	flag.Parse()
	try.Main(func() { run(context.Background(), dir(), *points) })
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
func (w way) cost(ctx context.Context, s *service.Service, sigma string) (lower, upper float64) {
	a := try.Must(service.Ask[service.Answers[service.DPSGDAnswer]](ctx, s, service.DPSGDRequest{Batching: w.batching, Cap: service.Decimal(w.cap), Examples: examples, BatchSize: batch, Epochs: epochs,
		NoiseMultiplier: service.Decimal(sigma), Delta: service.Decimals{"1e-5"}}))
	e := a.Results[0].Results[0].Epsilon
	return float64(e.Lower), float64(e.Upper)
}

// run writes the numbers and the picture. What nobody knows about shuffled batches, between an attack and the theorem, is shaded.
func run(ctx context.Context, dir string, points int) {
	pic := figure.Picture{
		Title: "60,000 examples, batches of 256, 60 epochs, δ = 1e-5", LegendUp: true,
		X: figure.Axis{Label: "noise multiplier σ", Log: true, At: []float64{0.5, 1, 2, 5, 10, 20}},
		Y: figure.Axis{Label: "certified ε", Log: true},
	}
	s := service.New(nil)
	rows := [][]string{{"batching", "noise-multiplier", "epsilon-lower", "epsilon-upper"}}
	for _, w := range ways() {
		b := figure.Band{Name: w.label, Method: figure.Named("batches", w.batching)}
		var attack []float64
		for k := range points {
			sigma := number(leastNoise*math.Pow(mostNoise/leastNoise, float64(k)/float64(points-1)), 3)
			lower, upper := w.cost(ctx, s, sigma)
			rows = append(rows, []string{w.batching, sigma, number(lower, 6), number(upper, 6)})
			b.X, b.Proved, attack = append(b.X, try.Must(strconv.ParseFloat(sigma, 64))), append(b.Proved, upper), append(attack, lower)
		}
		if w.batching == service.Shuffle {
			pic.Bands[0].Lower, pic.Bands[0].Upper, b.Proved = attack, pic.Bands[0].Proved, attack
		}
		pic.Bands = append(pic.Bands, b)
	}
	var data bytes.Buffer
	try.Check(csv.NewWriter(&data).WriteAll(rows))
	name := filepath.Join(dir, "batching")
	try.Check(os.WriteFile(name+".csv", data.Bytes(), 0o644))
	plots.Save(name+".svg", figure.Size{Width: 16 * vg.Centimeter, Height: 11 * vg.Centimeter}, []figure.Picture{pic})
}

func number(x float64, digits int) string { return strconv.FormatFloat(x, 'g', digits, 64) }
