package allocation

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/subsample"
)

// chi2 fails where counts differ from equal shares by more than 5 standard deviations of χ².
func chi2(t *testing.T, what string, counts []int, shares []float64) {
	t.Helper()
	n := 0
	for _, c := range counts {
		n += c
	}
	x := 0.0
	for i, c := range counts {
		e := float64(n) * shares[i]
		x += (float64(c) - e) * (float64(c) - e) / e
	}
	k := float64(len(counts) - 1)
	if x > k+5*math.Sqrt(2*k) {
		t.Errorf("%s: χ² = %v with %v degrees of freedom: %v", what, x, k, counts)
	}
}

func equal(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = 1 / float64(n)
	}
	return s
}

// TestBins: every record's step is uniform, and those of two records are independent.
func TestBins(t *testing.T) {
	src := rand.NewPCG(1, 1)
	s := must(NewRandom(3))
	joint := make([]int, 9)
	for range 20000 {
		b := s.(randomScheme).epoch(src, 2)
		at := [2]int{}
		for i, step := range b {
			for _, r := range step {
				at[r] = i
			}
		}
		joint[3*at[0]+at[1]]++
	}
	chi2(t, "two records", joint, equal(9))
	b := must(NewRandom(100)).(randomScheme).epoch(src, 100000)
	counts, seen := make([]int, 100), 0
	for i, step := range b {
		counts[i] = len(step)
		seen += len(step)
		if !slices.IsSorted(step) {
			t.Fatal("a batch is not in order")
		}
	}
	chi2(t, "steps", counts, equal(100))
	if seen != 100000 {
		t.Errorf("%d records of 100000", seen)
	}
}

// TestSubsets: k of t is one of all subsets.
func TestSubsets(t *testing.T) {
	src := rand.NewPCG(2, 2)
	s := must(must(NewRandom(5)).WithUses(2))
	counts := map[int]int{}
	for range 20000 {
		mask := 0
		for i, step := range s.(randomScheme).epoch(src, 1) {
			mask |= len(step) << i
		}
		counts[mask]++
	}
	var list []int
	for mask, c := range counts {
		if ones(mask) != 2 {
			t.Fatalf("%b has not two steps", mask)
		}
		list = append(list, c)
	}
	if len(list) != 10 {
		t.Fatalf("%d subsets of 10", len(list))
	}
	chi2(t, "subsets", list, equal(10))
	many := must(must(NewRandom(100)).WithUses(60)).(randomScheme).epoch(src, 50)
	total := 0
	for _, step := range many {
		if len(slices.Compact(slices.Clone(step))) != len(step) {
			t.Fatal("a record twice in a step")
		}
		total += len(step)
	}
	if total != 3000 {
		t.Errorf("%d uses of 3000", total)
	}
}

// TestPermutations: all orders of four records, in batches of two.
func TestPermutations(t *testing.T) {
	src := rand.NewPCG(3, 3)
	s := must(NewShuffle(2))
	counts := map[[4]int64]int{}
	for range 48000 {
		b := s.(shuffleScheme).epoch(src, 4)
		counts[[4]int64{b[0][0], b[0][1], b[1][0], b[1][1]}]++
	}
	var list []int
	for _, c := range counts {
		list = append(list, c)
	}
	if len(list) != 24 {
		t.Fatalf("%d orders of 24", len(list))
	}
	chi2(t, "orders", list, equal(24))
	if b := must(NewShuffle(4)).(shuffleScheme).epoch(src, 10); len(b[0]) != 3 || len(b[3]) != 1 {
		t.Error("the last batch is not the short one")
	}
}

// TestCappedBatches: the exact law at four records, rate ½ and a cap of two.
func TestCappedBatches(t *testing.T) {
	src := rand.NewPCG(5, 5)
	s := must(NewTruncated(0.5, 2, 4))
	counts := make([]int, 16)
	for range 64000 {
		mask := 0
		for _, r := range s.(truncatedScheme).draw(src) {
			mask |= 1 << r.Index
		}
		counts[mask]++
	}
	var list []int
	var shares []float64
	for mask, c := range counts {
		share := 1. / 16
		switch ones(mask) {
		case 2: // two of the sets of three keep this pair with ⅓, the whole one with 1/6
			share += 2./3/16 + 1./6/16
		case 3, 4:
			share = 0
		}
		if share == 0 {
			if c > 0 {
				t.Fatalf("a batch of %d", ones(mask))
			}
			continue
		}
		list, shares = append(list, c), append(shares, share)
	}
	chi2(t, "batches", list, shares)
}

// TestShuffleAttackEndToEnd: check 8.7 of the page. The real sampler at three batches of two,
// contributions ∓1 and σ = 1: what an attacker reaches is the pair's value.
func TestShuffleAttackEndToEnd(t *testing.T) {
	src := rand.NewPCG(6, 6)
	r := rand.New(src)
	s := must(NewShuffle(3))
	const runs, eps = 400000, 1.0
	// Likelihood ratio of avg N(2e_i) against avg N(e_i) after adding the batch size.
	ratio := func(y [3]float64) float64 {
		var p, q float64
		for _, v := range y {
			p += math.Exp(2*v - 2)
			q += math.Exp(v - 0.5)
		}
		return p / q
	}
	hits := [2]float64{}
	for world := range hits {
		for range runs {
			b := s.(shuffleScheme).epoch(src, 6)
			var y [3]float64
			for i, batch := range b {
				y[i] = 2 + r.NormFloat64() // what batches of others alone lack
				for _, x := range batch {
					switch {
					case x > 0:
						y[i]-- // all others are −1
					case world == 0:
						y[i]++ // the record; in the other world its place is empty
					}
				}
			}
			if ratio(y) > math.E {
				hits[world]++
			}
		}
	}
	p, q := hits[0]/runs, hits[1]/runs
	got := p - math.E*q
	sd := math.Sqrt((p + math.E*math.E*q) / runs)
	// The pair by quadrature.
	want := 0.0
	const h = 0.1
	for a := -5.0; a < 8; a += h {
		for b := -5.0; b < 8; b += h {
			for c := -5.0; c < 8; c += h {
				y := [3]float64{a, b, c}
				var pp, qq float64
				for _, v := range y {
					pp += math.Exp(2*v-2) / 3
					qq += math.Exp(v-0.5) / 3
				}
				want += math.Exp(-(a*a+b*b+c*c)/2) * max(0, pp-math.E*qq)
			}
		}
	}
	want *= h * h * h / math.Pow(2*math.Pi, 1.5)
	if math.Abs(got-want) > 4*sd+1e-4 {
		t.Errorf("δ(1) = %v ± %v, want %v", got, sd, want)
	}
	low, _ := interval(t, must(s.Apply(gaussian(1), 2)).Directions[0], 1, want)
	if low > 1+1e-3 || low < 0.97 {
		t.Errorf("the attack's law has ε = %v at δ = %v, want 1", low, want)
	}
}

// TestRuns: batches of a run come epoch after epoch, drawn anew or once, cut short or not.
func TestRuns(t *testing.T) {
	const n = 40
	for _, c := range []struct {
		s     subsample.Sampler
		steps int
		whole bool // every record once an epoch
		once  bool
	}{
		{must(NewRandom(4)), 4, true, false},
		{must(must(NewRandom(4)).WithOneDraw(3)), 4, true, true},
		{must(must(NewRandom(4)).First(3)), 3, false, false},
		{must(NewShuffle(4)), 4, true, false},
		{must(must(NewShuffle(4)).WithOneDraw(3)), 4, true, true},
		{must(NewTruncated(0.5, 10, n)), 4, false, false},
	} {
		var all [][]subsample.Pick
		run := must(c.s.Batches(rand.NewPCG(7, 7), n))
		for len(all) < 3*c.steps { // leaves the loop and goes on
			for b := range run {
				if all = append(all, b); len(all)%3 == 0 {
					break
				}
			}
		}
		for e := range 3 {
			seen := 0
			for i := range c.steps {
				b := all[e*c.steps+i]
				if !slices.IsSortedFunc(b, func(a, b subsample.Pick) int { return cmp.Compare(a.Index, b.Index) }) {
					t.Fatalf("%s: %v is not in order", c.s.Name(), b)
				}
				seen += len(b)
				if same := slices.Equal(b, all[i]); e > 0 && same != c.once {
					t.Errorf("%s: the batch of epoch %d, step %d is that of the first epoch: %v", c.s.Name(), e, i, same)
				}
			}
			if c.whole && seen != n {
				t.Errorf("%s: %d of %d records in an epoch", c.s.Name(), seen, n)
			}
		}
		if _, e := c.s.Batches(nil, 0); e == nil {
			t.Errorf("%s: a population of 0 is taken", c.s.Name())
		}
	}
}
