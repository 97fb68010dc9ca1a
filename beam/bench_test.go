package beam

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/dpaccountant/accountant/labeldp"
)

// What one core does with one label row besides what Beam does: read, check, draw, write.
// docs/reference/beam.md has the number.
func BenchmarkLabelRow(b *testing.B) {
	var set []float64
	for y := range 51 {
		set = append(set, float64(y))
	}
	weights := make([]float64, len(set))
	for i := range weights {
		weights[i] = float64(51 - i)
	}
	o := LabelOptions{Epsilon: 2, Labels: set, Weights: weights, Key: keyFile(b, "5a")}
	f := LabelFields{Layout: Layout{CSV, "id,shop,sales"}, Label: "sales"}
	p, err := labeldp.NewPrior(set, weights)
	if err != nil {
		b.Fatal(err)
	}
	m, err := o.design(context.Background(), p, 2)
	if err != nil {
		b.Fatal(err)
	}
	text, err := json.Marshal(struct{ Groups map[string]labeldp.Randomizer }{map[string]labeldp.Randomizer{"": m}})
	if err != nil {
		b.Fatal(err)
	}
	fields, check, draw, write := &labelFieldFn{fieldFn[LabelFields]{Fields: f}}, &labelCheckFn{labelFn{Options: o}}, &randomizeFn{labelFn: labelFn{Options: o}}, &privateLineFn{fieldFn[LabelFields]{Fields: f}}
	ctx := context.Background()
	for _, err := range []error{fields.Setup(), check.Setup(ctx), draw.Setup(ctx), write.Setup()} {
		if err != nil {
			b.Fatal(err)
		}
	}
	side, bytes := string(text), 0
	refuse := func(d Dead) { b.Fatal(d) }
	for i := range b.N {
		l := Line{"gs://bucket/sales-00017-of-01000.csv", int64(i) * 20, fmt.Sprintf("%d,shop%d,%d", i, i%100, i%51)}
		err := fields.ProcessElement(ctx, l, func(r LabelRow) {
			check.ProcessElement(r, func(r LabelRow) {
				if err := draw.ProcessElement(r, side, func(p PrivateRow) {
					if err := write.ProcessElement(p, func(line string) { bytes += len(line) }); err != nil {
						b.Fatal(err)
					}
				}); err != nil {
					b.Fatal(err)
				}
			}, refuse)
		}, refuse)
		if err != nil {
			b.Fatal(err)
		}
	}
	if bytes == 0 {
		b.Fatal("no rows")
	}
}
