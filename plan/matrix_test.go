package plan

import (
	"context"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/profiles"
)

const matrixHead = "neighbors: add-remove\nsteps:\n  - mechanism:\n      matrix:\n        noise-multiplier: 2\n        steps: 12\n"

// TestMatrixPlans: every strategy and every schema, as YAML and in the types.
func TestMatrixPlans(t *testing.T) {
	must := func(s matrix.Strategy, err error) matrix.Strategy {
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	part := func(p matrix.Participation, err error) matrix.Participation {
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		strategy, participation string
		s                       matrix.Strategy
		p                       matrix.Participation
	}{
		{"identity", "{single: true}", matrix.Identity(), matrix.Single()},
		{"{square-root: {}}", "{epochs: 3}", must(matrix.SquareRoot(12)), part(matrix.Epochs(3))},
		{"{square-root: {bands: 4}}", "{min-separation: 3, at-most: 2}", must(matrix.SquareRoot(4)), part(matrix.MinSeparation(3, 2))},
		{"{toeplitz: {coefficients: [1, 0.5]}}", "{cyclic-poisson: {cycle: 3, rate: 0.1}}", must(matrix.Toeplitz([]float64{1, 0.5})), part(matrix.CyclicPoisson(3, 0.1))},
		{"{blt: {scales: [0.1], decays: [0.9]}}", "{epochs: 2}", must(matrix.BLT([]float64{0.1}, []float64{0.9})), part(matrix.Epochs(2))},
		{"{toeplitz: {coefficients: [1, 0.5]}}", "{b-min-sep: {separation: 3, rate: 0.1}}", must(matrix.Toeplitz([]float64{1, 0.5})), part(matrix.BMinSep(3, 0.1))},
		{"{tree: {}}", "{epochs: 2}", matrix.Tree(false), part(matrix.Epochs(2))},
		{"{square-root: {}}", "{balls-in-bins: 4}", must(matrix.SquareRoot(12)), part(matrix.BallsInBins(4))},
		{"{tree: {completion: true}}", "{epochs: 2}", matrix.Tree(true), part(matrix.Epochs(2))},
	} {
		p, err := Parse(t.Context(), []byte(matrixHead+"        strategy: "+c.strategy+"\n        participation: "+c.participation+"\n"))
		if err != nil {
			t.Errorf("%s, %s: %v", c.strategy, c.participation, err)
			continue
		}
		r, err := matrix.New(matrix.Config{NoiseMultiplier: 2, Steps: 12, Strategy: c.s, Participation: c.p})
		if err != nil {
			t.Fatal(err)
		}
		same := p.Steps[0].Mechanism.(matrix.Run)
		got, want := accountant.New(profiles.AddRemove), accountant.New(profiles.AddRemove)
		for _, x := range []struct {
			a *accountant.Accountant
			r matrix.Run
		}{{got, same}, {want, r}} {
			if err := x.a.Add(context.Background(), accountant.Step{Mechanism: x.r}, 1); err != nil {
				t.Fatal(err)
			}
		}
		x, err := got.Delta(context.Background(), 0.5)
		if err != nil {
			t.Fatal(err)
		}
		if y, _ := want.Delta(context.Background(), 0.5); x.Upper != y.Upper {
			t.Errorf("%s, %s: %v, want %v", c.strategy, c.participation, x.Upper, y.Upper)
		}
	}
	rows := strings.Replace(matrixHead, "12", "2", 1) + "        strategy: {banded: {rows: [[1], [0.5, 1]]}}\n        participation: {single: true}\n"
	if _, err := Parse(t.Context(), []byte(rows)); err != nil {
		t.Error(err)
	}
}

// TestMatrixErrors: the line and the key of what is wrong.
func TestMatrixErrors(t *testing.T) {
	const at = "steps[0].mechanism.matrix"
	for _, c := range []struct{ strategy, participation, want string }{
		{"identity", "{epochs: 5}", "line 8: " + at + ".participation.epochs: 5 does not divide the 12 steps"},
		{"identity", "{epochs: 0}", "line 8: " + at + ".participation.epochs: 0 is not an integer of at least 1"},
		{"identity", "{}", "line 8: " + at + ".participation: has no schema"},
		{"identity", "{epochs: 2, single: true}", "line 8: " + at + ".participation: has more than one schema"},
		{"identity", "{epochs: 2, at-most: 2}", "line 8: " + at + ".participation.at-most: is set without min-separation"},
		{"identity", "{min-separation: 2}", "line 8: " + at + ".participation: at-most is missing"},
		{"identity", "{single: false}", "line 8: " + at + ".participation.single: must be true"},
		{"identity", "{balls-in-bins: 0}", "line 8: " + at + ".participation.balls-in-bins: 0 is not an integer"},
		{"identity", "{poisson: {rate: 0.1}}", "line 8: " + at + ".participation.poisson: delta is missing; must be a number"},
		{"identity", "{poisson: {rate: 0.1, delta: 1}}", "line 8: " + at + ".participation.poisson.delta: 1 is not in [1e-200, 0.5]"},
		{"{tree: {}}", "{poisson: {rate: 0.1, delta: 1e-6}}", "line 8: " + at + ".participation.poisson: is covered for Toeplitz matrices alone"},
		{"{tree: {}}", "{balls-in-bins: 3}", "line 8: " + at + ".participation.balls-in-bins: is not covered for trees"},
		{"identity", "{single: 1}", "line 8: " + at + ".participation.single: 1 is not true or false"},
		{"identity", "single", "line 8: " + at + `.participation: "single" is not a schema`},
		{"identity", "{epoch: 2}", "line 8: " + at + `.participation: unknown key "epoch"`},
		{"identity", "{cyclic-poisson: {cycle: 3, rate: 2}}", "line 8: " + at + ".participation.cyclic-poisson.rate: 2 is not in [0, 1]"},
		{"{square-root: {bands: 4}}", "{cyclic-poisson: {cycle: 3, rate: 0.2}}", "line 8: " + at + ".participation.cyclic-poisson.cycle: 3 is below the 4 bands"},
		{"{square-root: {bands: 0}}", "{single: true}", "line 7: " + at + ".strategy.square-root.bands: 0 is not"},
		{"{square-root: {bands: 13}}", "{single: true}", "line 7: " + at + ".strategy.square-root.bands: 13 is not in [1, 12], the number of steps"},
		{"{toeplitz: {coefficients: [1, x]}}", "{single: true}", "line 7: " + at + ".strategy.toeplitz.coefficients[1]: "},
		{"{toeplitz: {coefficients: [0]}}", "{single: true}", "line 7: " + at + ".strategy.toeplitz.coefficients[0]: 0 is not the diagonal"},
		{"{tree: {completion: maybe}}", "{single: true}", "line 7: " + at + `.strategy.tree.completion: "maybe" is not true or false`},
		{"{banded: {rows: [[1], 2]}}", "{single: true}", "line 7: " + at + ".strategy.banded.rows[1]: 2 is not a list of numbers"},
		{"{banded: {rows: [[1], [1, 0]]}}", "{single: true}", "line 7: " + at + ".strategy.banded.rows[1]: 0 is on the diagonal"},
		{"{roots: {}}", "{single: true}", "line 7: " + at + `.strategy: unknown key "roots"`},
		{"blt", "{single: true}", "line 7: " + at + `.strategy: "blt" is not a strategy: identity, {square-root: {bands: 8}}, {toeplitz: {coefficients: [1, 0.5]}}, {blt: {scales: [0.2, 0.3], decays: [0.5, 0.97]}}`},
		{"{blt: {buffers: 2}}", "{single: true}", "line 7: " + at + `.strategy.blt: unknown key "buffers"; must be one of scales, decays`},
		{"{file: c.csv}", "{single: true}", "line 7: " + at + ".strategy.file: is not read here"},
		{"identity", "{b-min-sep: {separation: 0, rate: 0.1}}", "line 8: " + at + ".participation.b-min-sep.separation: 0 is not an integer of at least 1"},
		{"{square-root: {bands: 4}}", "{b-min-sep: {separation: 3, rate: 0.1}}", "line 8: " + at + ".participation.b-min-sep.separation: 3 is below the 4 bands"},
		{"identical", "{single: true}", "line 7: " + at + `.strategy: "identical" is not a strategy`},
	} {
		_, err := Parse(t.Context(), []byte(matrixHead+"        strategy: "+c.strategy+"\n        participation: "+c.participation+"\n"))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s, %s: %v, want %s", c.strategy, c.participation, err, c.want)
		}
	}
	sampled := matrixHead + "        strategy: identity\n        participation: {single: true}\n    sampling: {poisson: {rate: 0.1}}\n"
	if _, err := Parse(t.Context(), []byte(sampled)); err == nil || !strings.HasPrefix(err.Error(), "line 9: steps[0].sampling: ") {
		t.Error(err)
	}
}
