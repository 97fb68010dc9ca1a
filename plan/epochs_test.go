package plan

import (
	"strings"
	"testing"
)

func onSample(sampling string) string {
	return "neighbors: zero-out\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1}}\n    sampling: " + sampling + "\n    count: 3\n"
}

func TestBatchingSchemesAreRead(t *testing.T) {
	for _, s := range []string{
		"{random-allocation: {steps: 234}}",
		"{random-allocation: {steps: 1000, uses: 10}}",
		"{random-allocation: {steps: 10, first: 3}}",
		"{random-allocation: {steps: 10, redraw: each-epoch}}",
		"{random-allocation: {steps: 234, redraw: once, epochs: 60}}",
		"{balls-in-bins: {bins: 234, redraw: each-epoch, epochs: 60}}",
		"{balls-in-bins: {bins: 234, redraw: once, epochs: 60}}",
		"{shuffle: {batches: 234}}",
		"{shuffle: {batches: 234, unused: 0.01, redraw: once, epochs: 2}}",
		"{truncated-poisson: {rate: 0.01, cap: 600, population: 50000}}",
		"{fixed-order: {uses: 2}}",
		"{fixed-order: {}}",
	} {
		p, err := Parse(t.Context(), []byte(onSample(s)))
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		if got, want := p.Steps[0].Sampling.Name(), strings.TrimPrefix(strings.Split(s, ":")[0], "{"); got != want && want != "balls-in-bins" {
			t.Errorf("%s: is %s", s, got)
		}
	}
}

func TestBatchingSchemesSayWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ sampling, want string }{
		{"{random-allocation: {steps: 10, uses: 11}}", "line 4: steps[0].sampling.random-allocation.uses: 11 is not in [1, 10], the number of steps"},
		{"{random-allocation: {steps: 0}}", "line 4: steps[0].sampling.random-allocation.steps: 0 is not in [1, 1073741824]"},
		{"{random-allocation: {steps: 10, first: 11}}", "first: 11 is not in [0, 10]"},
		{"{random-allocation: {steps: 10, redraw: once}}", "epochs: is missing; must be how many epochs one draw is kept for"},
		{"{random-allocation: {steps: 10, redraw: ones}}", `redraw: "ones" is not a way to redraw; must be one of each-epoch, once`},
		{"{random-allocation: {steps: 10, epochs: 0}}", "epochs: 0 is not in [1, 1073741824]"},
		{"{balls-in-bins: {bins: 10}}", "redraw: is missing; must be each-epoch"},
		{"{balls-in-bins: {bins: 0, redraw: once, epochs: 2}}", "bins: 0 is not in [1, 1073741824]"},
		{"{shuffle: {batches: 10, unused: 1}}", "unused: 1 is not in [0, 1)"},
		{"{truncated-poisson: {rate: 0.01, cap: 600}}", "population is missing; must be a whole number"},
		{"{truncated-poisson: {rate: 0.01, cap: 0, population: 100}}", "cap: 0 is not in [1, 100], the population"},
		{"{truncated-poisson: {rate: 0.01, cap: 101, population: 100}}", "cap: 101 is not in [1, 100], the population"},
		{"{fixed-order: {uses: 0}}", "uses: 0 is not in [1, 1073741824]"},
		{"{poisson: {rate: 0.01}, shuffle: {batches: 100}}", "names both poisson and shuffle; must name one sampling scheme: batches cut from a shuffled list are shuffle, and nothing of poisson holds for them"},
	} {
		_, err := Parse(t.Context(), []byte(onSample(c.sampling)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\ngot  %v\nwant %s", c.sampling, err, c.want)
		}
	}
}
