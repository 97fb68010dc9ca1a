package shuffler

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

var ctx = context.Background()

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// gameOf is one round of the first blanket, or of the first attack.
func gameOf(s shufflerScheme, r randomizer, rel profiles.Relation, attack bool) game {
	b, a, err := s.parts(r, rel)
	if attack {
		b = a
	}
	return must(s.game(must(b, err)[0], rel))
}

func pure(epsilon float64) randomizer { return randomizer{name: "pure", epsilon: epsilon} }

func near(t *testing.T, name string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s: %.15g, want %.15g", name, got, want)
	}
}

func deltaAt(p profiles.Profile, eps float64) float64 {
	log, _ := profiles.LogDelta(p, eps)
	return math.Exp(log)
}

// TestGoldens has values of exact sums in mpmath (40 digits).
func TestGoldens(t *testing.T) {
	ten, hundred := must(New(10)), must(New(100))
	five, half := must(ten.WithCohort(5)), must(ten.WithCohortRate(0.5))
	two, three := must(NewKRR(1, 2)), must(NewKRR(1, 3))
	four := must(NewKRR(2, 4))
	oue, subset := must(NewOptimizedUnary(1.5, 0)), must(NewSubsetSelection(1.5, 4, 2))
	sub, rem, zero := profiles.Substitute, profiles.AddRemove, profiles.ZeroOut
	for _, c := range []struct {
		name   string
		s      shufflerScheme
		r      randomizer
		rel    profiles.Relation
		attack bool
		back   bool
		eps    float64
		want   float64
	}{
		{"clones", ten.(shufflerScheme), pure(1), sub, false, false, 0, 0.157298142996775},
		{"clones", ten.(shufflerScheme), pure(1), sub, false, false, 0.3, 0.0615797899304108},
		{"clones", hundred.(shufflerScheme), pure(2), sub, false, false, 0.5, 0.0103686382639189},
		{"clones", hundred.(shufflerScheme), pure(2), sub, false, false, 1.5, 4.68567370551166e-6},
		{"3-RR", ten.(shufflerScheme), three.(randomizer), sub, false, false, 0.3, 0.04576594617813},
		{"3-RR attack", ten.(shufflerScheme), three.(randomizer), sub, true, false, 0.3, 0.0454467820162944},
		{"4-RR", must(New(20)).(shufflerScheme), four.(randomizer), sub, false, false, 0.5, 0.10065272402637},
		{"4-RR attack", must(New(20)).(shufflerScheme), four.(randomizer), sub, true, false, 0.5, 0.100608495310273},
		{"fixed cohort", five.(shufflerScheme), pure(1), sub, false, false, 0, 0.110072155457188},
		{"fixed cohort", five.(shufflerScheme), pure(1), sub, false, false, 0.1, 0.0751170159290364},
		{"fixed cohort", five.(shufflerScheme), pure(1), sub, false, false, 0.3, 0.0227968712737342},
		{"Poisson substitute", half.(shufflerScheme), pure(1), sub, false, false, 0, 0.108395887560779},
		{"Poisson substitute", half.(shufflerScheme), pure(1), sub, false, false, 0.1, 0.0738451642593502},
		// TestPoissonSubstituteUsesCount: with q in place of c/n it would be 1.39459e-4 at 0.6, below the truth of 2-RR, 4.95073e-4.
		{"Poisson substitute", half.(shufflerScheme), pure(1), sub, false, false, 0.6, 1.29001667305907e-3},
		{"Poisson substitute", half.(shufflerScheme), pure(1), sub, false, false, 0.3, 0.0227529599475031},
		{"remove", half.(shufflerScheme), two.(randomizer), rem, false, false, 0, 0.161977331642733},
		{"remove", half.(shufflerScheme), two.(randomizer), rem, false, false, 0.1, 0.127107504415858},
		{"add", half.(shufflerScheme), two.(randomizer), rem, false, true, 0, 0.161977331642733},
		{"add", half.(shufflerScheme), two.(randomizer), rem, false, true, 0.1, 0.118589964874485},
		{"remove, any randomizer", half.(shufflerScheme), pure(1), rem, false, false, 0, 0.173312101924352},
		{"remove, any randomizer", half.(shufflerScheme), pure(1), rem, false, false, 0.1, 0.1382166676471},
		{"add, any randomizer", half.(shufflerScheme), pure(1), rem, false, true, 0.1, 0.131693759537926},
		{"unary", must(New(3)).(shufflerScheme), oue.(randomizer), sub, false, false, 0.3, 0.209303294331},
		{"unary", must(New(3)).(shufflerScheme), oue.(randomizer), sub, false, false, 0.75, 0.100041376547},
		{"unary, two categories", must(New(4)).(shufflerScheme), must(NewOptimizedUnary(1.5, 2)).(randomizer), sub, false, false, 0.75, 0.0591597},
		{"unary, two categories", must(New(4)).(shufflerScheme), must(NewOptimizedUnary(1.5, 2)).(randomizer), sub, false, false, 1.2, 0.0076915},
		{"unary, any categories", must(New(4)).(shufflerScheme), oue.(randomizer), sub, false, false, 0.75, 0.0685874},
		{"subset", must(New(4)).(shufflerScheme), subset.(randomizer), sub, false, false, 0, 0.302711626802},
		{"subset", must(New(4)).(shufflerScheme), subset.(randomizer), sub, false, false, 0.75, 0.143195420933},
		{"zero-out 3-RR", ten.(shufflerScheme), three.(randomizer), zero, false, false, 0.3, 0.00504792648623247},
		{"zero-out 3-RR", ten.(shufflerScheme), three.(randomizer), zero, false, true, 0.3, 0.0110760658790744},
		{"zero-out 2-RR", ten.(shufflerScheme), two.(randomizer), zero, false, false, 0.3, 0.003353420228642},
		{"zero-out 2-RR", ten.(shufflerScheme), two.(randomizer), zero, false, true, 0.3, 0.0121169915140101},
	} {
		g := gameOf(c.s, c.r, c.rel, c.attack)
		if c.back {
			g = g.reverse()
		}
		rel := 5e-12
		if c.want == 0.0591597 || c.want == 0.0076915 || c.want == 0.0685874 {
			rel = 1e-5
		}
		name := fmt.Sprintf("%s(%v)", c.name, c.eps)
		near(t, name, deltaAt(must(g.exact()), c.eps), c.want, rel)
		// The sum over frequencies, which is for many users, is around it.
		v := must(g.sum(ctx, math.Exp(c.eps), 0.01))
		if !(v.below <= c.want*(1+rel) && v.above >= c.want*(1-rel)) {
			t.Errorf("%s: %v is not in [%v, %v]", name, c.want, v.below, v.above)
		}
	}
}

// TestTwoTypeTerm: one message that hides nothing, at ε₀ = 1 and α = e^0.3, is worth 0.368025632271708.
func TestTwoTypeTerm(t *testing.T) {
	b := must(must(NewKRR(1, 2)).(randomizer).blankets(profiles.Substitute))[0]
	g := game{n: 1, slots: []slot{{0.5, b.kinds[0].a, b.kinds[0].b}, {0.5, b.kinds[1].a, b.kinds[1].b}}}
	near(t, "one message", deltaAt(must(g.exact()), 0.3), 0.368025632271708, 1e-13)
	g.n = 7
	for i := range g.slots { // the mean of seven
		g.slots[i].a, g.slots[i].b = g.slots[i].a/7, g.slots[i].b/7
	}
	near(t, "seven", 7*deltaAt(must(g.exact()), 0.3), 0.335931403395393, 1e-13)
}

// TestBitGoldens has 2-RR over all values of the others.
func TestBitGoldens(t *testing.T) {
	for _, c := range []struct {
		others       int64
		epsilon, eps float64
		ones         int64
		want         float64
	}{
		{9, 1, 0.3, 9, 0.0518096677998032},
		{9, 1, 0.3, 0, 0.0278458573921},
		{99, 2, 0.5, 99, 0.00511536224468527},
		{11, 0.3, 0.2337, 9, 1.00814e-4},
		{19, 3, 0, 9, 0.443434},
		{9999, 2, 0.087015631, 9996, 1.00067e-6},
	} {
		v := newBinary(c.epsilon, c.ones, c.others-c.ones, 9).price(math.Exp(c.eps))
		rel := 1e-12
		if c.others == 11 || c.others == 19 || c.others == 9999 {
			rel = 1e-5
		}
		if c.others == 11 {
			rel = 3e-3 // ε has four digits
		}
		near(t, fmt.Sprintf("%+v above", c), v.above, c.want, rel)
		near(t, fmt.Sprintf("%+v below", c), v.below, c.want, rel)
	}
}

// TestSymmetricAttack: the profile below of a symmetric attack is its own reverse to the last bit, so that only one direction is asked.
func TestSymmetricAttack(t *testing.T) {
	for _, categories := range []int{4, 6, 13, 20} {
		r := must(NewKRR(0.4769510834590547, categories))
		made := must(must(New(200000)).Laws(r, profiles.Substitute))
		c := must(made.For(t.Context(), profiles.Question{Runs: 28, Total: 28, Alone: true, Delta: 7.8e-5, Width: 1e-3}))
		if p := c.Lower[0][0].Profile; !profiles.Equal(p, profiles.Reverse(p)) {
			t.Errorf("%d categories: the reverse differs", categories)
		}
	}
}

// TestCoverNotEnds: equal others are not the worst ones.
func TestCoverNotEnds(t *testing.T) {
	for _, c := range []struct {
		others       int64
		epsilon, eps float64
		more         float64
	}{{11, 0.3, 0.2337, 1.21}, {19, 3, 0, 1.23}} {
		alpha := math.Exp(c.eps)
		ends := max(newBinary(c.epsilon, c.others, 0, 9).price(alpha).above, newBinary(c.epsilon, 0, c.others, 9).price(alpha).above)
		cov := must(newCover(ctx, c.epsilon, c.others, []float64{alpha}, []float64{1e-4}, 9))
		if got := must(cov.price(ctx, alpha)) / ends; got < c.more {
			t.Errorf("%+v: %v times the ends, less than %v", c, got, c.more)
		}
	}
}

// TestCoverCovers: the price of every number of ones is below that of its interval, and intervals one wider would not do.
func TestCoverCovers(t *testing.T) {
	violated := 0
	for _, n := range []int64{3, 7, 12, 30} {
		for _, eps0 := range []float64{0.3, 1, 3} {
			for _, f := range []float64{0, 0.1, 0.4, 0.8} {
				alpha := math.Exp(f * eps0)
				truth := func(ones int64) value { return newBinary(eps0, ones, n-ones, 9).price(alpha) }
				for d := int64(0); d <= 4 && d <= n; d++ {
					for m := int64(0); m+d <= n; m++ {
						b := newBinary(eps0, m, n-d-m, 9).price(alpha).above
						for k := m; k <= m+d; k++ {
							if v := truth(k).below; v > b {
								t.Fatalf("n %d, ε₀ %v, α %v: %d ones cost %v, more than %v of [%d, %d]", n, eps0, alpha, k, v, b, m, m+d)
							}
						}
						if m+d < n && truth(m+d+1).below > b {
							violated++
						}
					}
				}
				cov := must(newCover(ctx, eps0, n, []float64{alpha}, []float64{0.05}, 9))
				top := must(cov.price(ctx, alpha))
				for k := range n + 1 {
					if v := truth(k).below; v > top {
						t.Fatalf("n %d, ε₀ %v, α %v: %d ones cost %v, more than %v of the cover", n, eps0, alpha, k, v, top)
					}
				}
			}
		}
	}
	if violated == 0 {
		t.Error("an interval one wider than what is left out was never too cheap: this test notices nothing")
	}
}

// TestReportCountIsPublic: to forget that the number of reports is public would be below what one bit really has, 0.157663.
func TestReportCountIsPublic(t *testing.T) {
	half := must(must(New(10)).WithCohortRate(0.5))
	two := must(NewKRR(1, 2))
	b := must(two.(randomizer).blankets(profiles.AddRemove))[0]
	// M of Bin(n, qγ) alone: messages that are not hidden, and who does not report, are one.
	g := game{n: 10, ka: 1, kb: 1}
	var mass float64
	for _, k := range b.kinds {
		w := 0.5 * b.gamma * k.w
		g.slots = append(g.slots, slot{w, k.a / (10 * b.gamma), 0})
		mass += w
	}
	g.slots = append(g.slots, slot{1 - mass, 0, 0})
	r := 0.5 * b.gamma
	for i := range g.slots[:len(g.slots)-1] { // victim out: (1 − m/(nqγ)·q…) as a sum over users
		g.slots[i].a -= 0.5 / (10 * r)
		g.slots[i].b -= 1 / (10 * 1.0)
	}
	_ = r
	truth := brute{rows: rowsOf(two.(randomizer)), n: 10}.worst(profiles.AddRemove, 0, 0.5, []float64{1}, nil)[0]
	near(t, "truth", truth, 0.157663433085437, 1e-12)
	if up := deltaAt(must(gameOf(half.(shufflerScheme), two.(randomizer), profiles.AddRemove, false).exact()), 0); up < truth {
		t.Errorf("%v, less than %v", up, truth)
	}
}

// rowsOf are the probabilities of the messages of a randomizer for each value; of local hashing without collisions, those of randomized response.
func rowsOf(r randomizer) [][]float64 {
	e := math.Exp(r.epsilon)
	var rows [][]float64
	switch r.name {
	case "finite":
		return r.matrix.rows
	case "k-rr", "local-hash":
		for v := range r.k {
			row := make([]float64, r.k)
			for y := range row {
				row[y] = 1 / (e + float64(r.k) - 1)
				if y == v {
					row[y] *= e
				}
			}
			rows = append(rows, row)
		}
	case "unary":
		for v := range r.k {
			row := make([]float64, 1<<r.k)
			for y := range row {
				row[y] = 1
				for i := range r.k {
					p := r.lie
					if i == v {
						p = r.keep
					}
					if y>>i&1 == 0 {
						p = 1 - p
					}
					row[y] *= p
				}
			}
			rows = append(rows, row)
		}
	case "subset-selection":
		for v := range r.k {
			var row []float64
			sum := 0.0
			for set := range 1 << r.k {
				size := 0
				for i := range r.k {
					size += set >> i & 1
				}
				if size != r.s {
					continue
				}
				p := 1.0
				if set>>v&1 == 1 {
					p = e
				}
				row, sum = append(row, p), sum+p
			}
			for i := range row {
				row[i] /= sum
			}
			rows = append(rows, row)
		}
	case "hadamard": // four rows, columns 1, 2, 3
		for v := 1; v <= 3; v++ {
			var row []float64
			for i := range 4 {
				sign := 0
				for b := range 2 {
					sign ^= (i >> b) & (v >> b) & 1
				}
				for bit := range 2 {
					p := 1 / (4 * (1 + e))
					if bit == sign {
						p *= e
					}
					row = append(row, p)
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// brute enumerates all multisets of messages.
type brute struct {
	rows [][]float64
	n    int
}

// law is the polynomial Π(1 + Σ_y R(x_j, y)·t_y), a coefficient for each multiset of messages.
func (b brute) law(values []int) map[string]float64 {
	law := map[string]float64{string(make([]byte, len(b.rows[0]))): 1}
	for _, v := range values {
		next := map[string]float64{}
		for k, p := range law {
			next[k] += p
			for y, q := range b.rows[v] {
				c := []byte(k)
				c[y]++
				next[string(c)] += p * q
			}
		}
		law = next
	}
	return law
}

func size(k string) (c int) {
	for _, x := range []byte(k) {
		c += int(x)
	}
	return c
}

// weight is the probability of a set of reporting users of a size, each of all n.
func weight(n, c, cohort int, rate float64) float64 {
	if rate > 0 {
		return math.Pow(rate, float64(c)) * math.Pow(1-rate, float64(n-c))
	}
	if c != cohort {
		return 0
	}
	w := 1.0
	for i := range c {
		w *= float64(i+1) / float64(n-i)
	}
	return w
}

// worst returns the largest δ over all values of the others and of the victim, at each α, of both orders (under add-remove: of remove, then of add).
// empty is the message law of an absent user.
func (b brute) worst(rel profiles.Relation, cohort int, rate float64, alphas []float64, empty []float64) []float64 {
	most := make([]float64, 2*len(alphas))
	rows := b.rows
	if rel == profiles.ZeroOut {
		rows = append(append([][]float64{}, rows...), empty)
	}
	b.rows = rows
	values := make([]int, b.n)
	var walk func(i, least int)
	walk = func(i, least int) {
		if i == b.n {
			rest := b.law(values[1:])
			with := func(v int, absent bool) map[string]float64 {
				law := map[string]float64{}
				for k, p := range rest {
					n := b.n
					if absent {
						n--
					}
					law[k] += p * weight(n, size(k), cohort, rate)
					if absent {
						continue
					}
					for y, q := range b.rows[v] {
						c := []byte(k)
						c[y]++
						law[string(c)] += p * q * weight(n, size(k)+1, cohort, rate)
					}
				}
				return law
			}
			others := len(b.rows)
			last := others
			if rel == profiles.ZeroOut {
				others--
			}
			for x := range others {
				p := with(x, false)
				from, to := 0, last
				switch rel {
				case profiles.AddRemove:
					to = 1
				case profiles.ZeroOut:
					from = last - 1
				}
				for y := from; y < to; y++ {
					if rel == profiles.Substitute && x == y {
						continue
					}
					q := with(y, rel == profiles.AddRemove)
					for i, alpha := range alphas {
						var up, back float64
						for k, m := range p {
							up += max(0, m-alpha*q[k])
						}
						for k, m := range q {
							back += max(0, m-alpha*p[k])
						}
						most[i], most[len(alphas)+i] = max(most[i], up), max(most[len(alphas)+i], back)
					}
				}
			}
			return
		}
		for v := least; v < len(b.rows); v++ {
			values[i] = v
			walk(i+1, v)
		}
	}
	walk(1, 0)
	return most
}

// randomMatrix is a random ε₀-private matrix.
func randomMatrix(rng *rand.Rand, values, outputs int, epsilon float64) [][]float64 {
	rows := make([][]float64, values)
	for {
		for v := range rows {
			rows[v] = make([]float64, outputs)
			sum := 0.0
			for y := range rows[v] {
				rows[v][y] = math.Exp(epsilon * float64(rng.IntN(3)) / 2 * rng.Float64())
				if rng.IntN(2) == 0 {
					rows[v][y] = math.Exp(epsilon / 2 * float64(rng.IntN(2)))
				}
				sum += rows[v][y]
			}
			for y := range rows[v] {
				rows[v][y] /= sum
			}
		}
		if r := must(NewMatrix(rows)); r.Epsilon() <= epsilon {
			return rows
		}
	}
}

// TestEnumeration: for up to eight users, all values of all users, cohorts fixed and Poisson, all relations: what is above is above the truth, what is
// below is below it, for the profiles of laws and for those by sums over frequencies.
func TestEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 1))
	type trial struct {
		name  string
		r     randomizer
		rows  [][]float64
		most  int // users
		empty []float64
	}
	uniform := func(k int) []float64 {
		row := make([]float64, k)
		for i := range row {
			row[i] = 1 / float64(k)
		}
		return row
	}
	var trials []trial
	add := func(r randomizer, most int, empty []float64) {
		trials = append(trials, trial{fmt.Sprint(r.name, r.k, " ", r.epsilon), r, rowsOf(r), most, empty})
	}
	most := 5
	if os.Getenv("SLOW") != "" {
		most = 8
	}
	for _, e := range []float64{0.5, 1, 2} {
		add(must(NewKRR(e, 2)).(randomizer), 8, uniform(2))
		add(must(NewKRR(e, 3)).(randomizer), most, uniform(3))
		add(must(NewLocalHash(e, 3, false)).(randomizer), 4, uniform(3))
		add(must(NewSubsetSelection(e, 3, 2)).(randomizer), 4, uniform(3))
	}
	add(must(NewKRR(1, 4)).(randomizer), 3, uniform(4))
	add(must(NewSubsetSelection(1.5, 4, 2)).(randomizer), 3, uniform(6))
	add(must(NewHadamard(1.2, 3)).(randomizer), 3, uniform(8))
	zeros := func(q float64, d int) []float64 {
		return rowsOf(randomizer{name: "unary", k: d, keep: q, lie: q})[0]
	}
	for _, d := range []int{2, 3} {
		r := must(NewOptimizedUnary(1.5, d))
		add(r.(randomizer), 3, zeros(r.(randomizer).lie, d))
		r = must(NewUnary(0.75, 0.25, d))
		add(r.(randomizer), 3, zeros(r.(randomizer).lie, d))
	}
	any := must(NewOptimizedUnary(1.5, 3))
	trials = append(trials, trial{"unary, any number", must(NewOptimizedUnary(1.5, 0)).(randomizer), rowsOf(any.(randomizer)), 3, nil})
	for i := range 4 {
		e := []float64{0.5, 1, 2}[i%3]
		rows := randomMatrix(rng, 3, 2+i%2, e)
		trials = append(trials, trial{fmt.Sprint("pure ", i), pure(e), rows, 3, nil})
		trials = append(trials, trial{fmt.Sprint("finite ", i), must(NewMatrix(rows)).(randomizer), rows, 3, nil})
	}
	trials = append(trials, trial{"zeros", must(NewMatrix([][]float64{{0.5, 0.5, 0}, {0.25, 0.5, 0.25}, {0.6, 0.3, 0.1}})).(randomizer), [][]float64{{0.5, 0.5, 0}, {0.25, 0.5, 0.25}, {0.6, 0.3, 0.1}}, 4, nil})
	cases := 0
	for _, c := range trials {
		for n := 2; n <= c.most; n++ {
			all := must(New(int64(n)))
			schemes := []shufflerScheme{all.(shufflerScheme), must(all.WithCohortRate(0.3)).(shufflerScheme), must(all.WithCohortRate(0.7)).(shufflerScheme)}
			for k := 1; k < n; k++ {
				schemes = append(schemes, must(all.WithCohort(int64(k))).(shufflerScheme))
			}
			for _, s := range schemes {
				for _, rel := range profiles.Relations() {
					if rel == profiles.AddRemove && s.rate == 0 || rel == profiles.ZeroOut && c.empty == nil {
						continue
					}
					var eps, alphas []float64
					top := min(3, c.r.Epsilon())
					for _, f := range []float64{0, 0.05, 0.15, 0.3, 0.6, 0.9} {
						eps, alphas = append(eps, f*top), append(alphas, math.Exp(f*top))
					}
					truth := brute{c.rows, n}.worst(rel, int(s.cohort), s.rate, alphas, c.empty)
					b, err := s.Apply(c.r, rel)
					if err != nil {
						t.Fatalf("%s, %+v, %v: %v", c.name, s, rel, err)
					}
					blankets, attacks, _ := s.parts(c.r, rel)
					for d, dir := range b.Directions {
						for i := range eps {
							cases++
							want := truth[d*len(eps)+i]
							name := fmt.Sprintf("%s, %+v, %v, direction %d, ε %v", c.name, s, rel, d, eps[i])
							if up := deltaAt(dir.Upper, eps[i]-dir.Upper.Support().LossErr); up < want*(1-1e-11)-1e-15 {
								t.Fatalf("%s: at most %v, truth %v", name, up, want)
							}
							if low := deltaAt(dir.Lower, eps[i]+dir.Lower.Support().LossErr); c.r.name != "pure" && low > want*(1+1e-11)+1e-15 {
								t.Fatalf("%s: at least %v, truth %v", name, low, want)
							}
							if n > 4 {
								continue
							}
							up := 0.0
							for _, p := range blankets {
								g := must(s.game(p, rel))
								if d == 1 {
									g = g.reverse()
								}
								up = max(up, must(g.sum(ctx, alphas[i], 0.2)).above)
							}
							if up < want*(1-1e-11) {
								t.Fatalf("%s: by frequencies at most %v, truth %v", name, up, want)
							}
							g := must(s.game(attacks[0], rel))
							if d == 1 {
								g = g.reverse()
							}
							if low := must(g.sum(ctx, alphas[i], 0.2)).below; c.r.name != "pure" && low > want*(1+1e-11) {
								t.Fatalf("%s: by frequencies at least %v, truth %v", name, low, want)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d cases", cases)
	if cases < 10000 {
		t.Errorf("%d cases, fewer than 10,000", cases)
	}
}

// TestSmallDensities: densities far below the largest ones are sums of terms of one sign. As differences of numbers near 1 they were
// rounded to 0: an outcome of e^-31 became an infinite loss, or the mass of one data set was lost.
func TestSmallDensities(t *testing.T) {
	for _, c := range []struct {
		epsilon  float64
		users    int64
		rate     float64
		relation profiles.Relation
	}{{31, 3, 0.5, profiles.Substitute}, {40, 3, 0.999, profiles.Substitute}, {5, 4, 1 - 1e-13, profiles.AddRemove}, {17, 2, 0.999999, profiles.AddRemove}} {
		r, err := NewKRR(c.epsilon, 2)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(c.users)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = s.WithCohortRate(c.rate); err != nil {
			t.Fatal(err)
		}
		n, q := float64(c.users), c.rate
		blankets, attacks, err := s.(shufflerScheme).parts(r.(randomizer), c.relation)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range append(blankets, attacks...) {
			g, err := s.(shufflerScheme).game(p, c.relation)
			if err != nil {
				t.Fatal(err)
			}
			all, massErr := g.list()
			var sumP, sumQ float64
			for _, o := range all {
				sumP, sumQ = sumP+o.p, sumQ+o.q
				if c.relation == profiles.Substitute && (o.p == 0) != (o.q == 0) {
					t.Errorf("%+v: an outcome of %v and %v, and each message has both", c, o.p, o.q)
				}
			}
			if math.Abs(sumP+g.outA-1) > massErr || math.Abs(sumQ+g.outB-1) > massErr {
				t.Errorf("%+v (%v users at %v): masses %v and %v", c, n, q, sumP, sumQ)
			}
		}
	}
}

// TestEpsilonNextToTheEnd: where ε is within the tolerance of the largest loss, points beyond that loss are left out of the curve,
// which ends there.
func TestEpsilonNextToTheEnd(t *testing.T) {
	for _, n := range []int64{2, 20, 1000} {
		l := must(must(New(n)).Laws(must(NewKRR(1, 2)), profiles.Substitute))
		c, err := l.For(ctx, profiles.Question{Runs: 1, Total: 1, Alone: true, Delta: 1e-280, Width: 1e-3})
		if err != nil {
			t.Errorf("%d users: %v", n, err)
			continue
		}
		up, low := c.Upper[0][0].Profile, c.Lower[0][0].Profile
		if most := up.Support().Max; !(most >= 1 && most < 1+2e-9) {
			t.Errorf("%d users: the largest loss is %v, want 1", n, most)
		}
		if above, below := deltaAt(up, 0.9), deltaAt(low, 0.9); !(below <= above) {
			t.Errorf("%d users: δ(0.9) is in [%v, %v]", n, below, above)
		}
	}
}
