package menu

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestIndividualPrice: two records with bits, three steps that release a randomized sum of those that are in, types by the record and
// the history, all transcripts enumerated: with and without record 0 they differ by at most the price of its budget.
func TestIndividualPrice(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 9))
	losses := []float64{0.2, 0.6}
	var types []Type
	for i, l := range losses {
		// The output is + with the probability of (1 + tanh(l/2)·s)/2, s in [−1, 1] what records contribute: with a record against without it, the worst
		// shift of one record's share is at most that from 0 to ±half, or between −half and +half of another one.
		types = append(types, Type{Name: string(rune('a' + i)), Cost: i + 1, Runs: profiles.Repeat(worstBit(t, l), 1)})
	}
	const units = 3
	m, err := New(t.Context(), types, Options{Units: units, Delta: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		kind := [2][8]int{} // of a record at a history
		sign := [2][8]float64{}
		for r := range 2 {
			for h := range 8 {
				kind[r][h], sign[r][h] = rng.IntN(2), float64(2*rng.IntN(2)-1)
			}
		}
		// law of the transcript, by the records that there are.
		law := func(there [2]bool) (p [8]float64) {
			var walk func(step, history int, mass float64, spent [2]int)
			walk = func(step, history int, mass float64, spent [2]int) {
				if step == 3 {
					p[history] += mass
					return
				}
				sum, h := 0.0, history|step<<2&7
				for r := range 2 {
					if cost := kind[r][h] + 1; there[r] && spent[r]+cost <= units {
						spent[r] += cost
						sum += sign[r][h] * math.Tanh(losses[kind[r][h]]/2) / 2
					}
				}
				plus := (1 + sum) / 2
				walk(step+1, history*2+1, mass*plus, spent)
				walk(step+1, history*2, mass*(1-plus), spent)
			}
			walk(0, 0, 1, [2]int{})
			return p
		}
		for _, eps := range []float64{0, 0.1, 0.3, 0.6} {
			iv, err := m.Delta(t.Context(), eps)
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range []bool{false, true} {
				with, without := law([2]bool{true, other}), law([2]bool{false, other})
				for swap := range 2 {
					if swap == 1 {
						with, without = without, with
					}
					h := 0.0
					for i := range with {
						h += max(0, with[i]-math.Exp(eps)*without[i])
					}
					if h > iv.Upper*(1+1e-12) {
						t.Fatalf("ε = %v: %v is reached, above %v", eps, h, iv.Upper)
					}
				}
			}
		}
	}
}

// worstBit is the mechanism of one bit whose mean moves by up to tanh(l/2)/2 from anywhere within ±tanh(0.3)/2: the largest of
// both losses at the ends.
func worstBit(t *testing.T, l float64) profiles.Bounds {
	t.Helper()
	shift, far := math.Tanh(l/2)/2, math.Tanh(0.3)/2
	worst := math.Log((1 - far + 0) / (1 - far - shift)) // of the answer that gets rarer
	worst = max(worst, math.Log((1+far)/(1+far-shift)), math.Log((1-far+shift)/(1-far)))
	p := 1 / (1 + math.Exp(-worst))
	d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: worst, LogP: math.Log(p), LogQ: math.Log1p(-p)}, {Loss: -worst, LogP: math.Log1p(-p), LogQ: math.Log(p)}},
		math.Inf(-1), math.Inf(-1), 1e-15, 0)
	if err != nil {
		t.Fatal(err)
	}
	return profiles.NewBounds("bit", profiles.AddRemove, d)
}

// TestZeroOutKeepsItsPlace: places {x, z}, one drawn at each step, RR(1) on the contribution (z: 1, an empty place: 0). If x, once out, left the pool,
// 20 further steps would tell by a total variation of at least 0.7255 at no charge.
func TestZeroOutKeepsItsPlace(t *testing.T) {
	p := math.E / (1 + math.E)
	// x left: z is drawn always in D; in D′ z or the empty place.
	withX, without := p, (p+(1-p))/2
	tv := 0.0
	for k := 0; k <= 20; k++ {
		b := math.Exp(lgamma(21) - lgamma(float64(k+1)) - lgamma(float64(21-k)))
		tv += b * math.Abs(math.Pow(withX, float64(k))*math.Pow(1-withX, float64(20-k))-math.Pow(without, float64(k))*math.Pow(1-without, float64(20-k))) / 2
	}
	if !(tv >= 0.7255) {
		t.Errorf("total variation %v", tv)
	}
}

func lgamma(x float64) float64 {
	y, _ := math.Lgamma(x)
	return y
}
