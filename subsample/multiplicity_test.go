package subsample

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/xmath"
)

func rel(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a-b) / max(math.Abs(a), math.Abs(b))
}

// enumerate returns the exact law of the multiplicity of record 0 and the
// expected number of distinct records, by listing every sample.
func enumerate(k kind, n, b, m int) (law []*big.Rat, distinct *big.Rat) {
	law = make([]*big.Rat, m+1)
	for i := range law {
		law[i] = new(big.Rat)
	}
	distinct = new(big.Rat)
	total := new(big.Rat)
	one := big.NewRat(1, 1)
	add := func(y []int) {
		u, seen := 0, map[int]bool{}
		for _, r := range y {
			if r == 0 {
				u++
			}
			seen[r] = true
		}
		law[u].Add(law[u], one)
		distinct.Add(distinct, big.NewRat(int64(len(seen)), 1))
		total.Add(total, one)
	}
	// tuples calls f with every sequence of size values below n, distinct if asked.
	var tuples func(n, size int, distinct bool, y []int, f func([]int))
	tuples = func(n, size int, distinct bool, y []int, f func([]int)) {
		if size == 0 {
			f(y)
			return
		}
	next:
		for r := range n {
			if distinct {
				for _, s := range y {
					if s == r {
						continue next
					}
				}
			}
			tuples(n, size-1, distinct, append(y, r), f)
		}
	}
	switch k {
	case withoutReplacement:
		tuples(n, m, true, nil, add)
	case withReplacement:
		tuples(n, m, false, nil, add)
	default:
		tuples(n, b, k == mustOW, make([]int, 0, b), func(sub []int) {
			tuples(b, m, k == mustWO, make([]int, 0, m), func(slots []int) {
				y := make([]int, len(slots))
				for i, s := range slots {
					y[i] = sub[s]
				}
				add(y)
			})
		})
	}
	for i := range law {
		law[i].Quo(law[i], total)
	}
	return law, distinct.Quo(distinct, total)
}

func TestMultiplicityByEnumeration(t *testing.T) {
	// must.md §7.2, and the same cases listed here.
	for _, c := range []struct {
		k        kind
		n, b, m  int
		want     []string
		distinct string
	}{
		{withoutReplacement, 4, 0, 2, []string{"1/2", "1/2", "0"}, "2"},
		{withoutReplacement, 5, 0, 3, []string{"2/5", "3/5", "0", "0"}, "3"},
		{withReplacement, 3, 0, 3, []string{"8/27", "4/9", "2/9", "1/27"}, "19/9"},
		{withReplacement, 4, 0, 3, []string{"27/64", "27/64", "9/64", "1/64"}, "37/16"},
		{mustOW, 4, 3, 2, []string{"7/12", "1/3", "1/12"}, "5/3"},
		{mustOW, 4, 2, 3, []string{"9/16", "3/16", "3/16", "1/16"}, "7/4"},
		{mustOW, 5, 3, 4, []string{"14/27", "32/135", "8/45", "8/135", "1/135"}, "65/27"},
		{mustWW, 3, 2, 3, []string{"1/2", "1/6", "1/6", "1/6"}, "3/2"},
		{mustWW, 4, 3, 3, []string{"53/96", "7/32", "5/32", "7/96"}, "43/24"},
		{mustWW, 3, 4, 3, []string{"29/72", "7/24", "5/24", "7/72"}, "43/24"},
		{mustWO, 3, 4, 2, []string{"4/9", "4/9", "1/9"}, "5/3"},
		{mustWO, 3, 4, 3, []string{"8/27", "4/9", "2/9", "1/27"}, "19/9"},
		{mustWO, 4, 3, 3, []string{"27/64", "27/64", "9/64", "1/64"}, "37/16"},
	} {
		law, distinct := enumerate(c.k, c.n, c.b, c.m)
		s := fixedSize{c.k, int64(c.n), int64(c.b), int64(c.m)}
		got := s.Multiplicity()
		for u := range law {
			want, _ := new(big.Rat).SetString(c.want[u])
			if law[u].Cmp(want) != 0 {
				t.Errorf("%s(%d,%d,%d): enumeration gives Pr[U=%d] = %v, the table %v", s.Name(), c.n, c.b, c.m, u, law[u], want)
			}
			w, _ := want.Float64()
			g := 0.0
			if u < len(got.LogP) {
				g = math.Exp(got.LogP[u])
			}
			if math.Abs(g-w) > 1e-15 {
				t.Errorf("%s(%d,%d,%d): Pr[U=%d] = %v, want %v", s.Name(), c.n, c.b, c.m, u, g, w)
			}
		}
		want, _ := new(big.Rat).SetString(c.distinct)
		if distinct.Cmp(want) != 0 {
			t.Errorf("%s: distinct by enumeration %v, want %v", s.Name(), distinct, want)
		}
		if w, _ := want.Float64(); rel(s.ExpectedDistinct(), w) > 4e-15 {
			t.Errorf("%s: distinct %v, want %v", s.Name(), s.ExpectedDistinct(), w)
		}
	}
}

func TestMultiplicityGolden(t *testing.T) {
	type row struct {
		s    FixedSize
		u0   int
		p    []float64
		eta  float64
		rest float64 // Pr[U ≥ u0+len(p)], 0 if not given
	}
	for _, c := range []row{
		// must.md §7.1: n=1000, m=400, b=500.
		{must(NewWithoutReplacement(1000, 400)), 1, nil, 0.4, 0},
		{must(NewWithReplacement(1000, 400)), 1, []float64{0.268342705107804, 0.0535879576266335, 0.00711645216396401, 0.000707014892165594}, 0.32981409399325963902, 0},
		{must(NewMustOW(1000, 500, 400)), 1, []float64{0.179947561151367, 0.0719429628250455, 0.0191271203769994, 0.00380434207899237}, 0.27551541746366980461, 0},
		{must(NewMustWW(1000, 500, 400)), 1, []float64{0.136684392609867, 0.0669510610371932, 0.0250942589303823, 0.00837426233563041}, 0.24090759197819500172, 0},
		// must.md §7.6: n=10000, m=200, b=118.
		{must(NewWithReplacement(10000, 200)), 0, []float64{0.9801976930432207, 0.01960591445230964, 0.0001950983586363446, 1.287777944794354e-6, 6.34294067217941e-9,
			2.486681411635492e-11, 8.08252284009936e-14, 2.240237496577195e-16, 5.405113471839666e-19, 1.153206194611923e-21, 2.202844116120386e-24, 3.80529309351729e-27, 5.993936015891322e-30}, 0.0198023069567793196, 8.680615396e-33},
		{must(NewMustOW(10000, 118, 200)), 0, []float64{0.9903510618369857, 0.003677028781172091, 0.003127045843817291, 0.0017639745785636, 0.0007425277606346777, 0.0002487785317681997,
			6.910514771338881e-5, 1.636922912869039e-5, 3.37527908315945e-6, 6.154355023424638e-7, 1.004685307242826e-7, 1.483218402300986e-8, 1.996640156943635e-9}, 0.00964893816301432701, 2.78275983e-10},
		{must(NewMustWW(10000, 118, 200)), 0, []float64{0.9903970397879308, 0.003641969552433066, 0.003103910367572545, 0.001758533153909262, 0.0007467091148985941, 0.0002545642766031689,
			7.317840814056263e-5, 1.851905869251487e-5, 4.31561490075431e-6, 9.720365102224131e-7, 2.208141460930851e-7, 5.162817404800412e-8, 1.233527345618551e-8}, 0.00960296021206923645, 3.850814949e-9},
	} {
		l := c.s.Multiplicity()
		for i, w := range c.p {
			if r := rel(math.Exp(l.LogP[c.u0+i]), w); r > 2e-14 { // the table has 15-16 digits
				t.Errorf("%s: Pr[U=%d] off by %.1e", c.s.Name(), c.u0+i, r)
			}
		}
		if r := rel(l.Eta, c.eta); r > 4e-15 {
			t.Errorf("%s: eta %v, want %v", c.s.Name(), l.Eta, c.eta)
		}
		if c.rest > 0 {
			if r := rel(math.Exp(l.LogAbove[c.u0+len(c.p)]), c.rest); r > 2e-9 {
				t.Errorf("%s: tail %v, want %v", c.s.Name(), math.Exp(l.LogAbove[c.u0+len(c.p)]), c.rest)
			}
		}
	}
	// must.md §7.6 and §7.7: expected distinct records.
	for _, c := range []struct {
		s    FixedSize
		want float64
	}{
		{must(NewWithoutReplacement(10000, 200)), 200}, {must(NewWithReplacement(10000, 200)), 198.023069567793},
		{must(NewMustOW(10000, 118, 200)), 96.4893816301433}, {must(NewMustWW(10000, 118, 200)), 96.0296021206924},
		{must(NewWithReplacement(300, 30)), 28.5941134629}, {must(NewMustOW(300, 50, 30)), 22.7257840309}, {must(NewMustWW(300, 50, 30)), 21.916352007},
		{must(NewWithReplacement(1000, 100)), 95.2078528863}, {must(NewMustOW(1000, 200, 100)), 78.8459127019}, {must(NewMustWW(1000, 200, 100)), 75.8490842292},
		{must(NewWithReplacement(30969, 300)), 298.556411654}, {must(NewMustOW(30969, 500, 300)), 225.758995783}, {must(NewMustWW(30969, 500, 300)), 224.941200815},
	} {
		if r := rel(c.s.ExpectedDistinct(), c.want); r > 3e-12 { // 12 digits given
			t.Errorf("%s: distinct %v, want %v", c.s.Name(), c.s.ExpectedDistinct(), c.want)
		}
	}
}

// drawScheme draws sizes with a moderate number of expected copies.
func drawScheme(t *rapid.T, k kind) FixedSize {
	n := rapid.Int64Range(1, 5000).Draw(t, "n")
	m := rapid.Int64Range(1, 120).Draw(t, "m")
	b := rapid.Int64Range(1, 120).Draw(t, "b")
	switch k {
	case withoutReplacement:
		m = min(m, n)
	case mustOW:
		b = min(b, n)
	case mustWO:
		b = max(b, m)
	}
	return fixedSize{k, n, b, m}
}

func TestMultiplicityMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := kind(rapid.IntRange(0, 4).Draw(t, "kind"))
		s := drawScheme(t, k)
		n, b, m := float64(s.Population()), float64(s.Subset()), float64(s.Batch())
		l := s.Multiplicity()
		if total := math.Exp(l.LogAbove[0]); math.Abs(total-1) > 1e-12 {
			t.Fatalf("%v: masses sum to %v", s, total)
		}
		if r := rel(l.Mean(), m/n); r > 1e-12 {
			t.Fatalf("%v: mean %v, want %v", s, l.Mean(), m/n)
		}
		var want float64 // must.md §2.2
		switch k {
		case withReplacement, mustWO:
			want = m * (m - 1) / (n * n)
		case mustOW:
			want = m * (m - 1) / (n * b)
		case mustWW:
			want = m * (m - 1) * ((1-1/n)/(b*n) + 1/(n*n))
		}
		var pairs xmath.Sum
		for u, p := range l.LogP {
			pairs.Add(float64(u) * float64(u-1) * math.Exp(p))
		}
		if got := pairs.Value(); math.Abs(got-want) > 1e-11*(want+1e-12) {
			t.Fatalf("%v: E[U(U-1)] = %v, want %v", s, got, want)
		}
		for u := range l.LogP {
			if math.IsNaN(l.LogP[u]) || !(l.Err[u] < 1e-10) {
				t.Fatalf("%v: LogP[%d] = %v ± %v", s, u, l.LogP[u], l.Err[u])
			}
		}
	})
}

// The chain η_WW ≤ η_OW ≤ η_WR = η_WO ≤ η_WOR of Proposition 7 (must.md §2.4),
// and that η grows with m and b.
func TestEtaOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(2, 1e12).Draw(t, "n")
		m := rapid.Int64Range(1, min(n, 3000)).Draw(t, "m")
		b := rapid.Int64Range(1, min(n, 3000)).Draw(t, "b")
		eta := func(k kind, b, m int64) float64 { return fixedSize{k, n, b, m}.InclusionProbability() }
		le := func(a, b float64, what string) {
			if a > b*(1+2e-14) {
				t.Fatalf("n=%d: %s: %v > %v", n, what, a, b)
			}
		}
		ww, ow, wr, wor := eta(mustWW, b, m), eta(mustOW, b, m), eta(withReplacement, 0, m), eta(withoutReplacement, 0, m)
		le(ww, ow, "WW ≤ OW")
		le(ow, wr, "OW ≤ WR")
		le(wr, wor, "WR ≤ WOR")
		if wo := eta(mustWO, m, m); wo != wr {
			t.Fatalf("WO %v, WR %v", wo, wr)
		}
		le(ww, eta(mustWW, b, m+1), "WW grows in m")
		le(ww, eta(mustWW, b+1, m), "WW grows in b")
		le(ow, eta(mustOW, b, m+1), "OW grows in m")
		le(ow, eta(mustOW, min(b+1, n), m), "OW grows in b")
	})
}

func TestMultiplicityLimits(t *testing.T) {
	// must.md §8, checks 3 and 5.
	for _, b := range []int64{40, 41, 80, 400} {
		if wo, wr := must(NewMustWO(1000, b, 40)).Multiplicity(), must(NewWithReplacement(1000, 40)).Multiplicity(); rel(wo.Eta, wr.Eta) != 0 || len(wo.LogP) != len(wr.LogP) {
			t.Errorf("b=%d: MUST.WO differs from WR", b)
		}
	}
	ow, wr := must(NewMustOW(50, 50, 20)).Multiplicity(), must(NewWithReplacement(50, 20)).Multiplicity()
	for u := range wr.LogP {
		if math.Abs(math.Exp(ow.LogP[u])-math.Exp(wr.LogP[u])) > 1e-15 {
			t.Errorf("OW with b = n: Pr[U=%d] = %v, want %v", u, math.Exp(ow.LogP[u]), math.Exp(wr.LogP[u]))
		}
	}
	for _, s := range []FixedSize{must(NewMustOW(7, 1, 5)), must(NewMustWW(7, 1, 5))} {
		l := s.Multiplicity()
		if rel(math.Exp(l.LogP[5]), 1./7) > 1e-15 || rel(math.Exp(l.LogP[0]), 6./7) > 1e-15 {
			t.Errorf("%s with b = 1: %v", s.Name(), l.LogP)
		}
	}
	for _, s := range []FixedSize{
		must(NewWithoutReplacement(1, 1)), must(NewWithReplacement(1, 1)), must(NewMustOW(1, 1, 1)), must(NewMustWO(1, 1, 1)), must(NewMustWW(1, 1, 1)),
		must(NewWithReplacement(1e12, 1e6)), must(NewMustOW(1e12, 1e6, 1e6)), must(NewMustWW(1e12, 1e6, 1e6)),
		must(NewMustOW(1e9, 1e4, 1e5)), must(NewMustWW(1e9, 1e4, 1e5)), must(NewWithReplacement(100, 1e5)), must(NewMustWW(1e6, 3, 1e4)),
	} {
		l := s.Multiplicity()
		if m := float64(s.Batch()) / float64(s.Population()); rel(l.Mean(), m) > 1e-11 {
			t.Errorf("%v: mean %v, want %v", s, l.Mean(), m)
		}
		if last := l.LogAbove[len(l.LogP)]; !(last < -780) {
			t.Errorf("%v: the table leaves out e^%v", s, last)
		}
	}
}

func TestSizesAreChecked(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(NewWithoutReplacement(10, 11)), "without-replacement: batch: 11 is not in [1, 10]"},
		{second(NewWithReplacement(0, 1)), "with-replacement: population: 0 is not in [1, 1000000000000]"},
		{second(NewMustOW(10, 11, 3)), "must-ow: subset: 11 is not in [1, 10]"},
		{second(NewMustWO(100, 11, 12)), "must-wo: batch: 12 is not in [1, 11]"},
		{second(NewMustWW(100, 0, 12)), "must-ww: subset: 0 is not in [1, 1000000]"},
		{second(NewMustWW(1, 5, 2000)), "must-ww: batch: 2000 is not in [1, 1000]"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }
