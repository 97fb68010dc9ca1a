package besttest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
)

// outcomes are those of some runs of a pair of finite distributions, P and Q.
type outcome struct{ p, q float64 }

// powerOf returns the exact power of the best test at a false-positive rate, by Neyman and Pearson's
// lemma: outcomes by falling likelihood ratio, the last one at random.
func powerOf(all []outcome, alpha float64) (power, miss float64) {
	slices.SortFunc(all, func(a, b outcome) int { return cmp.Compare(b.p*a.q, a.p*b.q) })
	left := alpha
	for i, o := range all {
		if o.q <= left {
			power, left = power+o.p, left-o.q
			continue
		}
		share := left / o.q
		power += share * o.p
		miss = (1 - share) * o.p
		for _, o := range all[i+1:] {
			miss += o.p
		}
		return power, miss
	}
	return power, 0
}

// The power and the misses are within the interval for random pairs, with outcomes that only one side
// has or not, composed by enumeration; at false-positive rates next to 0 and to 1 as well.
func TestPowerByEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 7))
	for trial := range 60 {
		n, runs := 2+r.IntN(3), 1+r.IntN(4)
		one := make([]outcome, n)
		var sumP, sumQ float64
		spread := []float64{0.01, 1, 6}[r.IntN(3)]
		for i := range one {
			base := r.ExpFloat64()
			one[i] = outcome{base, base * math.Exp(spread*r.NormFloat64())}
			if trial%5 == 0 && i == 0 {
				one[i].q = 0
			}
			if trial%7 == 0 && i == n-1 {
				one[i].p = 0
			}
			sumP, sumQ = sumP+one[i].p, sumQ+one[i].q
		}
		p, q := make([]float64, n), make([]float64, n)
		for i := range one {
			one[i] = outcome{one[i].p / sumP, one[i].q / sumQ}
			p[i], q[i] = one[i].p, one[i].q
		}
		b, err := profiles.NewFiniteMechanism(p, q)
		if err != nil {
			continue // sums off by a rounding
		}
		pair, err := b.Pair(profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		all := []outcome{{1, 1}}
		for range runs {
			var next []outcome
			for _, a := range all {
				for _, o := range one {
					next = append(next, outcome{a.p * o.p, a.q * o.q})
				}
			}
			all = next
		}
		sums := [2]*fourier.Sum{fourier.New(fourier.Options{Relative: 1e-4}), fourier.New(fourier.Options{Relative: 1e-4})}
		for i, x := range []profiles.Profile{pair, profiles.Reverse(pair)} {
			if err := sums[i].Add(x, int64(runs)); err != nil {
				t.Fatal(err)
			}
		}
		alphas := []float64{1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-6, 1 - 1e-10}
		found := New(sums[0], sums[1], 1e-3, 1e9, 1e11, alphas)
		for _, alpha := range alphas {
			power, typeII, err := found.Test(t.Context(), alpha)
			if err != nil {
				t.Fatal(err)
			}
			want, miss := powerOf(all, alpha)
			// The enumeration rounds, and so did the masses of the pair.
			const tol = 1e-12
			if power.Lower > want*(1+tol)+1e-15 || power.Upper < want*(1-tol)-1e-15 || typeII.Lower > miss*(1+tol)+1e-15 || typeII.Upper < miss*(1-tol)-1e-15 {
				t.Errorf("trial %d, %d runs, α = %v: power in [%v, %v], exactly %v; misses in [%v, %v], exactly %v", trial, runs, alpha,
					power.Lower, power.Upper, want, typeII.Lower, typeII.Upper, miss)
			}
			if power.Upper-power.Lower > 2e-2*power.Upper+1e-9 && len(found.Warnings) == 0 {
				t.Errorf("trial %d, α = %v: power in [%v, %v] without a warning", trial, alpha, power.Lower, power.Upper)
			}
		}
	}
}
