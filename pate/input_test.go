package pate

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/pate/ballots"
)

func TestBadInput(t *testing.T) {
	votes := must(ballots.NewVotes([][]int64{{8, 2}, {5, 5}}, 0))
	good := confident{6, 3, 1}
	account := func(a Aggregator, o Options) func() error {
		return func() error { _, err := Account(context.Background(), votes, a, o); return err }
	}
	total := func(a Aggregator, r Report, answered []bool) func() error {
		return func() error { _, err := ledger(t, votes, a, nil).Cost(context.Background(), r, answered); return err }
	}
	sens := func(a Aggregator, order float64, r Report) func() error {
		return func() error {
			_, err := ledger(t, votes, a, nil).NewSensitivity(context.Background(), order, r, nil)
			return err
		}
	}
	bound := &Sensitivity{Order: 14, Cost: .1, Local: []float64{.01}, Bound: true}
	sanitize := func(delta float64, c Conversion, rounds ...Round) func() error {
		return func() error { _, err := Sanitize(delta, c, nil, rounds...); return err }
	}
	nan, inf := math.NaN(), math.Inf(1)
	for i, c := range []struct {
		want string
		do   func() error
	}{
		{"sigma2: 0 is not in [0.0001, 1e+09]", func() error { _, err := NewGNMax(0); return err }},
		{"sigma2: NaN is not in [0.0001, 1e+09]", func() error { _, err := NewGNMax(nan); return err }},
		{"sigma2: +Inf is not in [0.0001, 1e+09]", func() error { _, err := NewGNMax(inf); return err }},
		{"sigma2: -40 is not in [0.0001, 1e+09]", func() error { _, err := NewGNMax(-40); return err }},
		{"gamma: 0 is not in [1e-09, 100]", func() error { _, err := NewLNMax(0); return err }},
		{"gamma: NaN is not in [1e-09, 100]", func() error { _, err := NewLNMax(nan); return err }},
		{"threshold: NaN is not in [-1e+12, 1e+12]", func() error { _, err := NewConfident(nan, 1, 1); return err }},
		{"sigma1: 0 is not in [0.0001, 1e+09]", func() error { _, err := NewConfident(1, 0, 1); return err }},
		{"sigma2: 1e+10 is not in [0.0001, 1e+09]", func() error { _, err := NewConfident(1, 1, 1e10); return err }},
		{"confidence: 1.5 is not in [0, 1]", func() error { _, err := NewInteractive(1, 1.5, 1, 1, true); return err }},
		{"votes: 1 classes are not in [2, +Inf)", func() error { _, err := gnMax{1}.Label([]int64{4}, 0, nil, nil); return err }},
		{"votes: column 2: -1 is not in [0, 1000000000]", func() error { _, err := good.Label([]int64{4, -1}, 0, nil, nil); return err }},
		{"scores: 1 scores are not one for each of 2 classes", func() error {
			_, err := interactive{good, .9, true}.Label([]int64{4, 1}, 5, []float64{1}, nil)
			return err
		}},
		{"scores: the scores sum to 0.5, must sum to 1", func() error {
			_, err := interactive{good, .9, true}.Label([]int64{4, 1}, 5, []float64{.25, .25}, nil)
			return err
		}},
		{"votes: 5 votes are not in [0, 4], the number of teachers", func() error {
			_, err := interactive{good, .9, true}.Label([]int64{4, 1}, 4, []float64{.5, .5}, nil)
			return err
		}},
		{"teachers: 0 is not in [1, 1000000000]", func() error {
			_, err := interactive{good, .9, true}.Label([]int64{0, 0}, 0, []float64{.5, .5}, nil)
			return err
		}},
		{"log-q: 0.5 is not in [-Inf, 0]", func() error { _, err := gnMax{1}.DependentRDP(.5, 2); return err }},
		{"order: 1 is not in (1, 1e+06]", func() error { _, err := gnMax{1}.DependentRDP(-5, 1); return err }},
		{"v: NaN is not in [-1e+12, 1e+12]", func() error { _, err := thresholdRDP(1, 1, nan, 2); return err }},
		{"mu1: 3 is not in [4, 1e+06]", func() error { _, err := theorem6(-10, 3, .5, 6, .4, 4); return err }},
		{"eps2: -0.4 is not in [0, 1e+12]", func() error { _, err := theorem6(-10, 8, .5, 6, -.4, 4); return err }},

		{"baseline: is missing, must hold the student's scores for interactive aggregation", account(interactive{good, .5, true}, Options{})},
		{"baseline: shape (1, 2) is not the votes' (2, 2)", account(interactive{good, .5, true}, Options{Scores: must(ballots.NewScores([][]float64{{1, 0}}, 10, false))})},

		{"orders: 0 orders are not in [1, 100000]", account(good, Options{Orders: []float64{}})},
		{"orders[1]: 2 is not in (2, 1e+06]: orders must ascend", account(good, Options{Orders: []float64{2, 2}})},
		{"orders[0]: 0.5 is not in (1, 1e+06]", account(good, Options{Orders: []float64{.5}})},
		{"answered: is missing, must say which queries were answered for the realised report", total(good, Realised, nil)},
		{"answered: 1 entries are not one for each of 2 queries", total(good, Realised, []bool{true})},
		{"answered: must be absent, because gnmax(sigma2=1) answers every query", total(gnMax{1}, Realised, []bool{true, true})},
		{"price: \"worst\" is not in [best, exact, theorem6]", account(good, Options{Price: "worst"})},
		{"report: \"\" is not in [expected, realised, worst, independent, joint]", total(gnMax{1}, "", nil)},
		{"report: \"best\" is not in [expected, realised, worst, independent, joint]", total(good, "best", nil)},
		{"cuts[1]: 1 is not in [1, 2] and ascending", func() error {
			_, err := ledger(t, votes, good, nil).Running(context.Background(), Worst, nil, []int{1, 1})
			return err
		}},
		{"query: 2 is not in [0, 1]", func() error { _, _, err := ledger(t, votes, good, nil).Query(2, 4); return err }},
		{"mechanism: lnmax(gamma=0.1) is not in [gnmax, confident, interactive]: smooth sensitivity is not known for it", sens(lnMax{.1}, 4, Worst)},
		{"votes: 2 votes are not the 10 of all teachers, which smooth sensitivity needs", func() error {
			_, err := must(newLocalBound(1.5, 2, 3, 10)).AtDistance([]int64{1, 1, 0})
			return err
		}},
		{"order: 3: condition C6 of smooth sensitivity fails for sigma2=2 and 2 classes: the step to a neighbour falls from", sens(gnMax{2}, 3, Worst)},
		{"delta: 0 is not in (0, 1)", sanitize(0, Classic, Round{bound, .02, 5})},
		{"rounds: is empty, must hold at least one", sanitize(1e-5, Classic)},
		{"conversion: 7 is not in [improved, classic]", sanitize(1e-5, 7, Round{bound, .02, 5})},
		{"rounds[0]: report: expected or realised is not in [worst, independent]: it is no bound", sanitize(1e-5, Classic, Round{&Sensitivity{Order: 14, Local: []float64{0}}, .02, 5})},
		{"rounds[0]: beta: 0 is not in [1e-12, 1000]", sanitize(1e-5, Classic, Round{bound, 0, 5})},
		{"rounds[0]: beta: 0.05 is not in (0, 0.03705398", sanitize(1e-5, Classic, Round{bound, .05, 5})},
		{"rounds[0]: sigma-ss: 0 is not in [0.0001, 1e+09]", sanitize(1e-5, Classic, Round{bound, .02, 0})},
		{"rounds[1]: order: 8 is not 14, that of rounds[0]", sanitize(1e-5, Classic, Round{bound, .02, 5}, Round{&Sensitivity{Order: 8, Local: []float64{0}, Bound: true}, .02, 5})},
		{"beta: 0.5 is not in (0, 0.25) at order 2", func() error { _, _, err := GNSS{2, .5}.PrintedNotABound(1); return err }},
		{"smooth-sensitivity: 0 is not in (0, +Inf)", func() error { _, err := GNSS{14, .01}.OptimalSigma(0); return err }},
	} {
		err := c.do()
		if err == nil {
			t.Errorf("case %d: no error, want %q", i, c.want)
		} else if msg := err.Error(); msg != c.want && !(strings.HasPrefix(msg, c.want) && (strings.Contains(c.want, "falls from") || strings.HasSuffix(c.want, "0.03705398"))) {
			t.Errorf("case %d: %q, want %q", i, msg, c.want)
		}
	}
	short := must(ballots.NewVotes([][]int64{{8, 2}, {5, 4}}, 10))
	if short.Short() != 1 {
		t.Errorf("short rows: %d", short.Short())
	}
	_, err := ledger(t, short, gnMax{1.5}, nil).NewSensitivity(context.Background(), 2, Worst, nil)
	if want := "votes: 1 rows have fewer than 10 votes; smooth sensitivity needs the vote of every teacher"; err == nil || err.Error() != want {
		t.Errorf("short rows: %v, want %q", err, want)
	}
}
