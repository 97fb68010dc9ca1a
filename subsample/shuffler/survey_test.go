package shuffler

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/random"
)

func surveyed() []randomizer {
	return []randomizer{must(NewKRR(1, 4)).(randomizer), must(NewOptimizedUnary(1, 4)).(randomizer), must(NewUnary(0.75, 0.25, 4)).(randomizer), must(NewSubsetSelection(1, 4, 2)).(randomizer),
		must(NewHadamard(1, 4)).(randomizer), must(NewLocalHash(1, 4, true)).(randomizer)}
}

// TestSurveys: of 1,000 simulated surveys of 400 users, the interval of 1.96 deviations has the true number in 93 to 97 of 100, for each randomizer, and the mean of
// the estimates is the truth.
func TestSurveys(t *testing.T) {
	const surveys = 1000
	truth := []int{200, 120, 60, 20}
	for _, r := range surveyed() {
		src := random.Seeded(20261128)
		covered, mean, square := 0, 0.0, 0.0
		for range surveys {
			var messages []Message
			for v, n := range truth {
				for range n {
					messages = append(messages, must(r.Sample(v, src)))
				}
			}
			for v, e := range must(r.Estimates(messages, 2)) {
				off := e.Count - float64(truth[v])
				if math.Abs(off) <= 1.96*e.Deviation {
					covered++
				}
				if v == 0 {
					mean, square = mean+off/surveys, square+e.Deviation*e.Deviation/surveys
				}
			}
		}
		share := float64(covered) / (2 * surveys)
		if share < 0.93 || share > 0.97 {
			t.Errorf("%s: %v of the intervals have the truth", r.name, share)
		}
		if math.Abs(mean) > 4*math.Sqrt(square/surveys) {
			t.Errorf("%s: estimates are off by %v in the mean", r.name, mean)
		}
	}
}

// TestSampleLaw: messages have the law that the price is about, by chi-square at 1e-6.
func TestSampleLaw(t *testing.T) {
	matrix := must(NewMatrix([][]float64{{0.5, 0.3, 0.2}, {0.25, 0.25, 0.5}}))
	small := []randomizer{must(NewKRR(1, 4)).(randomizer), must(NewOptimizedUnary(1, 3)).(randomizer), must(NewSubsetSelection(1, 4, 2)).(randomizer), must(NewHadamard(1, 3)).(randomizer), matrix.(randomizer)}
	for _, r := range small {
		rows := rowsOf(r)
		src := random.Seeded(7)
		const draws = 40000
		for v, row := range rows {
			seen := map[string]float64{}
			for range draws {
				seen[fmt.Sprint(must(r.Sample(v, src)))]++
			}
			// The law of a message does not depend on its name: sorted numbers are compared with sorted probabilities.
			chi, cells := 0.0, 0.0
			for y, p := range row {
				got := seen[name(r, y)]
				if p == 0 {
					continue
				}
				chi += (got - draws*p) * (got - draws*p) / (draws * p)
				cells++
			}
			if limit := cells - 1 + 5.5*math.Sqrt(2*(cells-1)) + 16; chi > limit {
				t.Errorf("%s, value %d: chi-square %v of %v cells: %v", r.name, v, chi, cells, seen)
			}
		}
	}
}

// name is the message of a column of rowsOf.
func name(r randomizer, y int) string {
	switch r.name {
	case "unary":
		var m Message
		for v := range r.k {
			if y>>v&1 == 1 {
				m = append(m, v)
			}
		}
		return fmt.Sprint(m)
	case "subset-selection":
		for set := range 1 << r.k {
			var m Message
			for v := range r.k {
				if set>>v&1 == 1 {
					m = append(m, v)
				}
			}
			if len(m) == r.s {
				if y == 0 {
					return fmt.Sprint(m)
				}
				y--
			}
		}
	case "hadamard":
		return fmt.Sprint(Message{y / 2, y % 2})
	}
	return fmt.Sprint(Message{y})
}

// TestSampleRefuses: what cannot be drawn says why.
func TestSampleRefuses(t *testing.T) {
	for want, f := range map[string]func() error{
		`categories: is missing; a message of "unary" needs their number`: func() error { _, err := must(NewOptimizedUnary(1, 0)).Sample(0, nil); return err },
		"value: 4 is not in [0, 3]":                                       func() error { _, err := must(NewKRR(1, 4)).Sample(4, nil); return err },
		"size: 3 is not a power of two up to 65536, for which hashes are exactly independent": func() error {
			_, err := must(NewLocalHash(1, 3, true)).Sample(0, nil)
			return err
		},
		"categories: 5 is not in [1, 4]": func() error { _, err := must(NewKRR(1, 4)).Estimates(nil, 5); return err },
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
