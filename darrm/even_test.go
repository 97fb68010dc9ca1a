package darrm

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// An even number of votes: subsampling by enumeration of all votes and all subsets, ties
// decided by a fair coin.
func TestEvenSubsamplingByEnumeration(t *testing.T) {
	for _, k := range []int{2, 4, 6} {
		for m := 1; m <= k; m++ {
			g, err := exactSubsampling(k, m)
			if err != nil {
				t.Fatal(err)
			}
			for l := range k + 1 {
				yes, total := new(big.Rat), int64(0)
				for set := range 1 << k {
					size, ones := 0, 0
					for i := range k {
						if set>>i&1 == 1 {
							size++
							if i < l {
								ones++
							}
						}
					}
					if size != m {
						continue
					}
					total++
					switch {
					case 2*ones > m:
						yes.Add(yes, big.NewRat(1, 1))
					case 2*ones == m:
						yes.Add(yes, big.NewRat(1, 2))
					}
				}
				yes.Quo(yes, big.NewRat(total, 1))
				want := yes.Sub(yes.Mul(yes, big.NewRat(2, 1)), big.NewRat(1, 1)) // 2h − 1
				if l < k-l {
					want.Neg(want)
				}
				if g[l].Cmp(want) != 0 {
					t.Errorf("K=%d m=%d: γ(%d) = %v, want %v", k, m, l, g[l], want)
				}
			}
		}
	}
}

// The certificate of an even number of votes is the largest f over all 8^K tuples of
// corners, and random mechanisms inside stay below.
func TestEvenCertificateByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for _, p := range []Params{pure(2, .5, 1), pure(4, .3, 2), approx(4, .3, 1.5, .02)} {
		for _, monotone := range []bool{true, false} {
			g := randomGamma(rng, p.Mechanisms, monotone)
			cert, err := Certify(t.Context(), p, g)
			if err != nil {
				t.Fatal(err)
			}
			pairs := newCornerTable(p.Mechanisms, p.Epsilon, p.Delta, false).pairs()
			worst := math.Inf(-1)
			var visit func(on, off []coin)
			visit = func(on, off []coin) {
				if len(on) == p.Mechanisms {
					worst = max(worst, signed(g, on)-math.Exp(p.budget())*signed(g, off))
					return
				}
				for _, c := range pairs {
					visit(append(on[:len(on):len(on)], c[0]), append(off[:len(off):len(off)], c[1]))
				}
			}
			visit(nil, nil)
			if math.Abs(worst-cert.MaxF) > 1e-12 {
				t.Errorf("%+v monotone %v: max f %v, want %v", p, monotone, cert.MaxF, worst)
			}
		}
	}
}

// signed is Φ: the majority's sign times γ, averaged over the votes; a tie counts 0.
func signed(g Gamma, coins []coin) float64 {
	sum := 0.0
	for l, a := range poissonBinomial(coins) {
		switch {
		case 2*l > len(coins):
			sum += a * g[l]
		case 2*l < len(coins):
			sum -= a * g[l]
		}
	}
	return sum
}

// Of K votes, K even, the optimum is at least that of K − 1 (a random vote may be left out)
// and at most that of K + 1; the noise-free majority costs K/2; both engines and the
// release agree on what a tie is.
func TestEvenOptimum(t *testing.T) {
	for _, eps := range []float64{.1, 1} {
		last := 0.0
		for k := 3; k <= 10; k++ {
			r, err := Optimize(t.Context(), pure(k, eps, 2), Surrogate{.75}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkResult(t, pure(k, eps, 2), r, 2e-6)
			if r.Value < last-1e-9 {
				t.Errorf("K=%d ε=%v: value %v is below %v of one vote less", k, eps, r.Value, last)
			}
			last = r.Value
		}
	}
	r, err := Optimize(t.Context(), pure(6, .1, 3), Surrogate{.75}, Options{})
	if err != nil || r.Gamma[4] != 1 || r.Gamma[3] != 0 {
		t.Errorf("the majority of six votes costs 3ε: %v, %v", r, err)
	}
	ones := 0
	for range 4000 {
		bit, err := Release(r.Gamma, []bool{true, false, true, false, true, false}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if bit {
			ones++
		}
	}
	if math.Abs(float64(ones)-2000) > 6*math.Sqrt(1000) {
		t.Errorf("%d of 4000 ties are answered with 1", ones)
	}
}
