package accountant_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

type peerCase struct {
	Kind   string
	Args   []float64
	Claims []struct {
		Delta  float64
		Bounds [][4]any
	}
}

type violation struct {
	Kind                string
	Args                []float64
	Delta, Truth, Claim float64
	ID                  string
}

func loadPeers(t testing.TB) (cases []peerCase, violations []violation) {
	t.Helper()
	f, err := os.Open("testdata/golden/peers.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Cases      []peerCase
		Violations []violation
	}
	if err := json.NewDecoder(z).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cases) < 50 || len(doc.Violations) != 180 {
		t.Fatalf("%d cases and %d violations: the file is not whole", len(doc.Cases), len(doc.Violations))
	}
	return doc.Cases, doc.Violations
}

// must returns the step of a mechanism.
func must(t testing.TB) func(b profiles.Mechanism, err error) accountant.Step {
	return func(b profiles.Mechanism, err error) accountant.Step {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return accountant.Step{Mechanism: b}
	}
}

func sampled(t testing.TB, s accountant.Step, rate float64) accountant.Step {
	t.Helper()
	p, err := subsample.NewPoisson(rate)
	if err != nil {
		t.Fatal(err)
	}
	s.Sampling = p
	return s
}

// peerAccountant returns an accountant for a case of the golden file, nil for a
// kind it does not know.
func peerAccountant(t testing.TB, kind string, a []float64, opts ...accountant.Options) *accountant.Accountant {
	t.Helper()
	acct := accountant.New(profiles.AddRemove, opts...)
	add := func(s accountant.Step, count float64) {
		if err := acct.Add(t.Context(), s, int64(count)); err != nil {
			t.Fatal(err)
		}
	}
	switch kind {
	case "dpsgd":
		add(dpsgdStep(t, a[0], a[1]), a[2])
	case "laplace":
		add(must(t)(profiles.NewLaplaceMechanism(a[0])), a[1])
	case "gauss":
		add(must(t)(profiles.NewGaussianMechanism(a[0])), a[1])
	case "hetero": // 500x subsampled Gaussian(q=0.01,s=1) + 200x Laplace(b=10) + 50x Gaussian(s=20)
		add(dpsgdStep(t, 0.01, 1), 500)
		add(must(t)(profiles.NewLaplaceMechanism(10)), 200)
		add(must(t)(profiles.NewGaussianMechanism(20)), 50)
	case "subsampled-laplace":
		add(sampled(t, must(t)(profiles.NewLaplaceMechanism(a[1])), a[0]), a[2])
	case "randomized-response":
		add(must(t)(profiles.NewRandomizedResponse(a[0], int(a[1]))), a[2])
	case "discrete-laplace": // parameter a = 1/b
		add(sampled(t, must(t)(profiles.NewDiscreteLaplaceMechanism(1/a[0]/a[1], int(a[1]))), a[3]), a[2])
	case "discrete-gaussian":
		add(sampled(t, must(t)(profiles.NewDiscreteGaussianNumber(a[0]/a[1], int(a[1]))), a[3]), a[2])
	case "approximate":
		add(must(t)(profiles.NewApproximate(a[0], a[1])), a[2])
	default:
		return nil
	}
	return acct
}

// Every trusted bound of every case is on the right side of our interval, and
// ours is never wider than the narrowest that a peer claims.
//
// Unchecked claims that contradict our interval are logged with -v. The exact
// sums that were computed decide for us; the causes given here are our reading.
// Nearly all are claims at δ ≤ 1e-8 by a transform without a round-off budget (dp_accounting at 1e-12 to
// 1e-15, prv_accountant at 1e-13), an optimistic bound that has the 1e-15 added to
// its mass at +∞, Newton iterations with an absolute tolerance (PLD-Accountant on
// Gaussians and randomized response), or a δ that exceeds the mass at +∞ by 5e-11
// only (approximate 0.01, 1e-9, 10000 times, at 1e-5).
//
// The bounds of peers are right up to the rounding of their FFTs, which has the size
// of masses near 1 and not of δ: a bound of ε that our two engines refute may miss by
// peerRounding in δ (seen: dp_accounting, 1000 Laplace b = 10, δ = 1e-10, pessimistic at
// 1e-3: 23.94439 where ε is 23.94442, which is 4e-15 in δ).
func TestPeers(t *testing.T) {
	slow.Test(t)
	cases, _ := loadPeers(t)
	trusted, differing, unchecked := 0, 0, 0
	for n, c := range cases {
		name := fmt.Sprintf("%s%v", c.Kind, c.Args)
		acct := peerAccountant(t, c.Kind, c.Args)
		if acct == nil {
			t.Errorf("%s: unknown kind", name)
			continue
		}
		var sharp *accountant.Accountant
		for i, claim := range c.Claims {
			if i%3 != n%min(3, len(c.Claims)) && !slow.All() {
				continue // every third δ, not the same ones of all cases; SLOW=2 asks all
			}
			iv, err := acct.Epsilon(t.Context(), claim.Delta)
			if err != nil {
				t.Errorf("%s δ=%g: %v", name, claim.Delta, err)
				continue
			}
			deltaAt := func(eps float64) accountant.Interval {
				d, err := acct.Delta(t.Context(), eps)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			top, low := math.Inf(1), math.Inf(-1)
			for _, b := range claim.Bounds {
				relation, value, trust, row := b[0].(string), b[1].(float64), b[2].(string), b[3].(string)
				// What a peer's printed digits and its own rounding can differ by.
				slack := 1e-9 * (1 + value)
				switch {
				case trust == "reference":
					trusted++
					slack = 1e-7 * max(1, value)
					if c.Kind == "dpsgd" && c.Args[0] == 1e-4 {
						slack = 2e-6 * max(1, value)
					}
					if value < iv.Lower-slack || value > iv.Upper+slack {
						t.Errorf("%s: %s: [%.12g, %.12g] misses %.12g", name, row, iv.Lower, iv.Upper, value)
					}
				case trust == "unchecked":
					unchecked++
					if relation == "upper" && value < iv.Lower-slack || relation == "lower" && value > iv.Upper+slack {
						differing++
						t.Logf("%s: unchecked %s says %s %.10g, we prove [%.10g, %.10g]", name, row, relation, value, iv.Lower, iv.Upper)
					}
				case relation == "upper":
					trusted++
					top = min(top, value)
					if value < iv.Lower-slack && deltaAt(value).Lower > claim.Delta+peerRounding {
						t.Errorf("%s: %s: upper bound %.12g is below our lower %.12g", name, row, value, iv.Lower)
					}
				case relation == "lower":
					trusted++
					low = max(low, value)
					if value > iv.Upper+slack && deltaAt(value).Upper < claim.Delta-peerRounding {
						t.Errorf("%s: %s: lower bound %.12g is above our upper %.12g", name, row, value, iv.Upper)
					}
				}
			}
			// The narrowest interval of all peers together, lower from one and upper
			// from another.
			width := iv.Upper - iv.Lower
			if narrow := top - low; !math.IsInf(narrow, 0) && width > narrow {
				if sharp == nil {
					sharp = peerAccountant(t, c.Kind, c.Args, accountant.Options{Accuracy: 1e-6})
				}
				iv, err := sharp.Epsilon(t.Context(), claim.Delta)
				if err != nil {
					t.Fatal(err)
				}
				if w := iv.Upper - iv.Lower; w > max(narrow, 1e-6*iv.Upper) {
					t.Errorf("%s δ=%g: width %.3g, the peers' narrowest is %.3g", name, claim.Delta, w, narrow)
				}
			}
		}
	}
	t.Logf("%d trusted bounds, %d of %d unchecked ones contradict our interval", trusted, differing, unchecked)
	least := 500
	if slow.All() {
		least = 1600
	}
	if trusted < least {
		t.Errorf("only %d trusted bounds were compared, of at least %d", trusted, least)
	}
}

// Where peers' bounds are violated by the truth, ours hold it.
func TestPeerViolations(t *testing.T) {
	_, violations := loadPeers(t)
	accounts := map[string]*accountant.Accountant{}
	for _, v := range violations {
		k := fmt.Sprint(v.Kind, v.Args)
		if accounts[k] == nil {
			accounts[k] = peerAccountant(t, v.Kind, v.Args)
		}
		iv, err := accounts[k].Epsilon(t.Context(), v.Delta)
		if err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		slack := 1e-7 * max(1, v.Truth)
		if v.Kind == "dpsgd" && v.Args[0] == 1e-4 {
			slack = 2e-6 * max(1, v.Truth)
		}
		if v.Truth < iv.Lower-slack || v.Truth > iv.Upper+slack {
			t.Errorf("%s δ=%g: [%.12g, %.12g] misses %.12g", v.ID, v.Delta, iv.Lower, iv.Upper, v.Truth)
		}
	}
}

// peerRounding is the absolute error in δ that an FFT of 2^20 masses in float64 has: about
// 20 roundings of 2^−53 each on a sum of masses of 1, four times over for composing and
// reading off.
const peerRounding = 1e-14
