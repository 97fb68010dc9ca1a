package subsample

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// A finite mechanism whose two lists are no mirror images: the batch of one record has the law p if
// that is a record of the first kind, and q if it is of the second. Which of the two kinds leaves, or
// is replaced, is nobody's choice but the adversary's, so that p and q come in both orders. Every data
// set of up to four such records, every neighbour, exactly.
//
// The pair (P, Q) alone is no bound: with p = (1, 0), q = (½, ½) and two records, removing the one of the
// second kind shows the second outcome with probability ¼, which the other data set never does.
func TestFiniteInBothOrdersOnEveryTinyDataSet(t *testing.T) {
	laws := [2][]float64{{1, 0, 0}, {0.5, 0.25, 0.25}}
	for _, laws := range [][2][]float64{laws, {laws[1], laws[0]}, {{0.7, 0.1, 0.2}, {0.2, 0.1, 0.7}}, {{0.5, 0.5, 0}, {0.25, 0.5, 0.25}}, {{0, 1, 0}, {1, 0, 0}}} {
		base := ok(profiles.NewFiniteMechanism(laws[0], laws[1]))
		// of is the output on one record drawn from so many of the two kinds.
		of := func(first, second int) []float64 {
			out := make([]float64, len(laws[0]))
			for i := range out {
				out[i] = (float64(first)*laws[0][i] + float64(second)*laws[1][i]) / float64(first+second)
			}
			return out
		}
		for n := 1; n <= 4; n++ {
			for _, s := range []FixedSize{must(NewWithoutReplacement(int64(n), 1)), must(NewWithReplacement(int64(n), 1))} {
				for a := 0; a < n; a++ { // of the n − 1 others
					b := n - 1 - a
					one, two := of(a+1, b), of(a, b+1)
					holds(t, s, base, profiles.Substitute, 0, one, two)
					holds(t, s, base, profiles.Substitute, 1, two, one)
					if n > 1 { // which kind is replaced changes from step to step
						holds(t, s, base, profiles.Substitute, 0, two, one)
						rest := of(a, b)
						for _, with := range [][]float64{one, two} {
							holds(t, s, base, profiles.AddRemove, 0, with, rest)
							holds(t, s, base, profiles.AddRemove, 1, rest, with)
						}
					}
				}
			}
		}
		// A Poisson sample of one record, with an empty batch that looks like either.
		const rate = 0.25
		s := ok(NewPoisson(rate))
		for _, none := range laws {
			mix := func(law []float64) []float64 {
				out := make([]float64, len(law))
				for i := range out {
					out[i] = rate*law[i] + (1-rate)*none[i]
				}
				return out
			}
			for d := range 2 {
				holds(t, s, base, profiles.Substitute, d, mix(laws[0]), mix(laws[1]))
				holds(t, s, base, profiles.Substitute, d, mix(laws[1]), mix(laws[0]))
			}
		}
		// Two records that are replaced, one of the first kind by one of the second and the other way
		// round, in a mechanism that is the first law on the one data set and the second on the other
		// wherever both agree.
		chain := persons(t, base, nil, profiles.Substitute, 2)
		plain := persons(t, base, nil, profiles.Substitute, 1)
		for _, d := range chain.Directions {
			for _, e := range plain.Directions {
				for _, eps := range orderGrid {
					if up, low := deltaOf(d.Upper, eps), deltaOf(e.Lower, eps); low > up*(1+1e-12)+1e-15 {
						t.Errorf("%v: two records have δ(%v) ≤ %v, one has %v", laws, eps, up, low)
					}
				}
			}
		}
	}
}

var orderGrid = []float64{-3, -1, -0.3, 0, 0.05, 0.2, 0.4, 0.7, 1, 2, 4, 30}

// holds demands that δ(ε) of p against q is at most that of the upper profile of a direction, and
// that the lower profile is not above the upper one.
func holds(t *testing.T, s Scheme, b profiles.Mechanism, r profiles.Relation, d int, p, q []float64) {
	t.Helper()
	m, err := ofPersons(context.Background(), b, s, r, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, eps := range orderGrid {
		truth := 0.0
		for i := range p {
			truth += max(0, p[i]-math.Exp(eps)*q[i])
		}
		dir := m.Directions[d]
		if up := deltaOf(dir.Upper, eps); truth > up*(1+1e-12)+1e-15 {
			t.Errorf("%v %+v, direction %d: %v against %v has δ(%v) = %v, above %v", r, s, d, p, q, eps, truth, up)
			return
		}
		if up, low := deltaOf(dir.Upper, eps), deltaOf(dir.Lower, eps); low > up*(1+1e-12)+1e-15 {
			t.Errorf("%v %+v, direction %d: δ(%v) is at least %v and at most %v", r, s, d, eps, low, up)
		}
	}
}
