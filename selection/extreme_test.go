package selection

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestExtremePairs: outcomes of masses down to 1e-170, outcomes of one law only, ε up to 700:
// exact sums of every ranking, in high precision, lie below the price, and what is said to be reached as well.
func TestExtremePairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(700, 1))
	cases, tight := 0, 0
	for range 15 {
		n := 2 + rng.IntN(2)
		draw := func() []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.Exp(-400 * rng.Float64() * float64(rng.IntN(2)))
			}
			x[rng.IntN(n)] = 1
			if i := rng.IntN(2 * n); i < n && x[i] < 1 {
				x[i] = 0
			}
			s := 0.0
			for _, v := range x {
				s += v
			}
			for i := range x {
				x[i] /= s
			}
			return x
		}
		p, q := draw(), draw()
		c := finiteCandidate(p, q)
		for _, l := range []Law{must(Geometric(0.1)), must(Geometric(1e-9)), must(Fixed(3)), must(Binomial(6, 0.7)), must(Conditioned(0.5, 0.2, 5))} {
			both := must(PriceOfBest(l).certify(context.Background(), c, fineness{1e-5, -700}, fewLevels))
			for _, eps := range []float64{0, 1e-9, 1, 30, 37, 300, 699, 700} {
				best := 0.0
				permutations(n, func(order []int) {
					var blocks []block
					for _, o := range order {
						blocks = append(blocks, block{p[o], q[o]})
					}
					best = max(best, deltaFromBottom(l, blocks, eps))
				})
				cases++
				up, low := both[0].above(eps), both[0].below(eps)
				// NewFinite divides by sums, which moves masses by rounding.
				if best > up*(1+1e-9)+1e-300 {
					t.Fatalf("%v %v %v ε=%v: a ranking reaches %v, the price says %v", l, p, q, eps, best, up)
				}
				if low > up || math.IsNaN(low) || math.IsNaN(up) || low < 0 || up > 1 {
					t.Fatalf("%v %v %v ε=%v: [%v, %v]", l, p, q, eps, low, up)
				}
				if best > 1e-290 && low > 0.9*best {
					tight++
				}
			}
		}
	}
	t.Logf("%d cases, in %d the attack comes near a ranking", cases, tight)
	if tight < cases/10 {
		t.Errorf("%d cases, in %d the attack comes near a ranking: the test says little", cases, tight)
	}
}

// TestNothingGiven: a price of no law and a search over no candidate are errors with a field.
func TestNothingGiven(t *testing.T) {
	ctx, c, g := context.Background(), gaussianCandidate(2), PriceOfBest(must(Geometric(0.1)))
	none := PriceOfBest(nil)
	b := must(FromApproximate(1, 0))
	for _, call := range []struct {
		field string
		err   error
	}{
		{"law", second(none.Pure(1))}, {"law", second(none.CalibratePure(1))}, {"law", third(none.Approximate(1, 0))},
		{"law", second(none.Profile(ctx, b))}, {"law", second(none.Curve(ctx, gaussianCurve(1), nil))},
		{"law", third(none.Epsilon(ctx, c, 1e-5, 0))}, {"law", third(none.Delta(ctx, c, 1, 0))},
		{"law", second(none.Bounds(ctx, "x", 0, c, 0, 0))}, {"law", second(PriceOfFirstAbove(nil))},
		{"candidate", second(g.Profile(ctx, nil))}, {"candidate", third(g.Epsilon(ctx, nil, 1e-5, 0))},
		{"candidate", third(g.Delta(ctx, nil, 1, 0))}, {"candidate", second(g.Bounds(ctx, "x", 0, nil, 0, 0))},
	} {
		if call.err == nil || !strings.HasPrefix(call.err.Error(), call.field+": is missing") {
			t.Errorf("%s: %v", call.field, call.err)
		}
	}
}

func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }
