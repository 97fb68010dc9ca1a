package pate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

// The golden totals are from pate.md §7.3 and §7.4; those of GNMax, of the
// threshold and of the expected cost were computed there also with the code of
// the paper's authors.

func s1(t testing.TB, teachers int64, classes, queries int) *ballots.Votes {
	t.Helper()
	v, err := ballots.SynthS1(teachers, classes, queries)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSynthS1(t *testing.T) {
	for _, c := range []struct {
		teachers         int64
		classes, queries int
		checksum, maxima int64
		least            int64
	}{
		{250, 10, 640, 282936019, 136317, 101},
		{5000, 150, 1000, 188552511302, 4251979, 2009},
		{250, 2, 1500, 421910269, 321412, 0},
	} {
		v := s1(t, c.teachers, c.classes, c.queries)
		var checksum, maxima int64
		least := int64(math.MaxInt64)
		for k := range v.Queries() {
			for j, n := range v.Row(k) {
				checksum += int64(k+1) * int64(j+1) * n
			}
			top := slices.Max(v.Row(k))
			maxima += top
			least = min(least, top)
		}
		if checksum != c.checksum || maxima != c.maxima {
			t.Errorf("S1(%d,%d,%d): checksum %d, maxima %d; want %d, %d", c.teachers, c.classes, c.queries, checksum, maxima, c.checksum, c.maxima)
		}
		if c.least > 0 && least != c.least {
			t.Errorf("S1(%d,%d,%d): least maximum %d, want %d", c.teachers, c.classes, c.queries, least, c.least)
		}
	}
	v := s1(t, 250, 10, 4)
	for k, want := range [][]int64{
		{0, 0, 0, 250, 0, 0, 0, 0, 0, 0},
		{127, 62, 31, 15, 8, 4, 2, 1, 0, 0},
		{12, 6, 3, 1, 1, 0, 0, 157, 47, 23},
		{1, 1, 0, 0, 181, 35, 17, 9, 4, 2},
	} {
		if !slices.Equal(v.Row(k), want) {
			t.Errorf("row %d = %v, want %v", k, v.Row(k), want)
		}
	}
}

// noiseFree is the transcript of a check without noise.
func noiseFree(v *ballots.Votes, threshold int64) (answered []bool, n int) {
	answered = make([]bool, v.Queries())
	for i := range answered {
		if answered[i] = slices.Max(v.Row(i)) >= threshold; answered[i] {
			n++
		}
	}
	return answered, n
}

func at(t *testing.T, g rdp.Grid, order float64) float64 {
	t.Helper()
	i, ok := slices.BinarySearch(g.Orders, order)
	if !ok {
		t.Fatalf("order %v is not on the grid", order)
	}
	return g.Values[i]
}

func checkCurve(t *testing.T, name string, g rdp.Grid, orders, want []float64, rel float64) {
	t.Helper()
	for i, w := range want {
		near(t, fmt.Sprintf("%s λ=%v", name, orders[i]), at(t, g, orders[i]), w, rel)
	}
}

// checkEpsilons compares both conversions and their orders.
func checkEpsilons(t *testing.T, name string, g rdp.Grid, delta, classic, classicOrder, improved, improvedOrder float64) {
	t.Helper()
	e, o, err := Classic.Epsilon(g, delta)
	if err != nil {
		t.Fatal(err)
	}
	near(t, name+" classic ε", e, classic, 1e-12)
	if o != classicOrder {
		t.Errorf("%s: classic order %v, want %v", name, o, classicOrder)
	}
	e, o, err = Improved.Epsilon(g, delta)
	if err != nil {
		t.Fatal(err)
	}
	near(t, name+" improved ε", e, improved, 1e-12)
	if o != improvedOrder {
		t.Errorf("%s: improved order %v, want %v", name, o, improvedOrder)
	}
	if e > classic {
		t.Errorf("%s: improved %v is above classic %v", name, e, classic)
	}
}

func ledger(t testing.TB, v *ballots.Votes, a Aggregator, s *ballots.Scores) *Ledger {
	t.Helper()
	l, err := Account(context.Background(), v, a, Options{Scores: s, Price: Theorem6})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func cost(t testing.TB, l *Ledger, r Report, answered []bool) Cost {
	t.Helper()
	c, err := l.Cost(context.Background(), r, answered)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func sumQ(l *Ledger) (s float64) {
	for i := range l.q.logQ {
		s += math.Exp(l.LogQ(i))
	}
	return s
}

func TestTotalsA(t *testing.T) {
	v := s1(t, 250, 10, 640)
	answered, n := noiseFree(v, 200)
	if n != 446 {
		t.Fatalf("answered %d, want 446", n)
	}
	orders := []float64{2, 3.5, 8, 14, 20.5, 32, 50, 100}
	g := ledger(t, v, gnMax{40}, nil)
	near(t, "Σq", sumQ(g), 28.985330061230291, 1e-13)
	near(t, "min log q", slices.Min(g.q.logQ), -10.019228294289, 1e-13)
	// Rounded up by the error of nine tails: (8 + 10·(0.253 + log 9))·u = 3.6e-15, 1.4e-14 of the value, and 4u of the sum itself.
	near(t, "max log q", slices.Max(g.q.logQ), -0.253009318929572, 1.6e-14)
	gn := cost(t, g, Worst, nil)
	checkCurve(t, "GNMax", gn.Total, orders, []float64{0.2804788610628913, 0.4386350088058056, 0.8550833073014138, 1.373132484880996, 1.962542527984131, 3.287930774736268, 7.383936357561047, 38.64234749260345}, 1e-13)
	l := ledger(t, v, confident{200, 150, 40}, nil)
	realised := cost(t, l, Realised, answered)
	if realised.Answered != 446 {
		t.Errorf("answered %v", realised.Answered)
	}
	checkCurve(t, "threshold", realised.Threshold, orders, []float64{0.02844444444444444, 0.04977777777777778, 0.1137777777777778, 0.1991111111111111, 0.2915555555555556, 0.4551111111111111, 0.7111111111111111, 1.422222222222222}, 1e-13)
	checkCurve(t, "realised", realised.Total, orders, []float64{0.07087486824464637, 0.09454961521530318, 0.1679057578189887, 0.2741579359351799, 0.4096078005848719, 0.7812280959967694, 2.753704693500136, 27.93956971482567}, 1e-13)
	expected := cost(t, l, ExpectedNotABound, nil)
	near(t, "E[answered]", expected.Answered, 342.20293162840394, 1e-13)
	checkCurve(t, "expected", expected.Total, orders, []float64{0.1432632943678216, 0.2236602810910842, 0.4385939485978592, 0.710424275683682, 1.020826644236476, 1.712907469590267, 3.886402881991291, 21.9688063925788}, 1e-13)
	worst := cost(t, l, Worst, nil)
	checkCurve(t, "worst", worst.Total, orders, []float64{0.3089233055073358, 0.4884127865835834, 0.9688610850791916, 1.572243595992107, 2.254098083539686, 3.74304188584738, 8.095047468672158, 40.06456971482567}, 1e-13)
	checkEpsilons(t, "GNMax", gn.Total, 1e-5, 2.244711388486804, 12.5, 1.930700686179478, 11.5)
	checkEpsilons(t, "GNMax independent", cost(t, g, DataIndependent, nil).Total, 1e-5, 4.693259175449132, 6.5, 4.16191164235448, 6)
	checkEpsilons(t, "threshold", realised.Threshold, 1e-5, 0.8235178525720548, 29.5, 0.6603189627062182, 25)
	checkEpsilons(t, "realised", realised.Total, 1e-5, 0.9938799844332244, 22.5, 0.7950324846864006, 20)
	checkEpsilons(t, "expected", expected.Total, 1e-5, 1.568968209141574, 16.5, 1.316240710628681, 15)
	checkEpsilons(t, "worst", worst.Total, 1e-5, 2.417832499499732, 11.5, 2.085720226739883, 10.5)

	ln := ledger(t, v, lnMax{1. / 20}, nil)
	near(t, "LNMax Σq", sumQ(ln), 11.38051136437004, 1e-13)
	lc := cost(t, ln, Worst, nil)
	checkCurve(t, "LNMax", lc.Total, orders, []float64{0.9814247110155562, 1.388144605895515, 2.200690723782471, 2.823380185432374, 3.227324796553398, 4.159986331455756, 6.424314339782303, 19.58658889848228}, 1e-13)
	checkEpsilons(t, "LNMax", lc.Total, 1e-5, 3.705236998577133, 12.5, 3.371452190766744, 10)

	// The parts add up, and prefixes end in the total.
	running, err := l.Running(context.Background(), Realised, answered, []int{100, 640})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "last prefix", at(t, running[1].Total, 14), at(t, realised.Total, 14), 0)
	var sum float64
	for i := range 100 {
		th, a, err := l.Query(i, 14)
		if err != nil {
			t.Fatal(err)
		}
		sum += th
		if answered[i] {
			sum += a
		}
	}
	near(t, "first 100", at(t, running[0].Total, 14), sum, 1e-13)
}

func TestTotalsA2(t *testing.T) {
	v := s1(t, 250, 10, 640)
	answered, n := noiseFree(v, 170)
	if n != 522 {
		t.Fatalf("answered %d, want 522", n)
	}
	l := ledger(t, v, confident{170, 20, 40}, nil)
	realised, expected, worst := cost(t, l, Realised, answered), cost(t, l, ExpectedNotABound, nil), cost(t, l, Worst, nil)
	near(t, "E[answered]", expected.Answered, 516.50515731854362, 1e-13)
	orders := []float64{2, 3.5, 8, 14, 20.5, 32, 50, 100}
	checkCurve(t, "threshold", realised.Threshold, orders, []float64{0.6879329214352746, 1.103412749165667, 2.232533867618121, 3.720841523170827, 5.580079734083795, 10.58441719889619, 28.8127394360208, 80}, 1e-12)
	checkCurve(t, "realised", realised.Total, orders, []float64{0.820911782498166, 1.283922757971473, 2.497617174919535, 4.065779038939872, 6.057372707861943, 11.56710631700298, 32.53036434975979}, 1e-12)
	checkEpsilons(t, "threshold", realised.Threshold, 1e-5, 3.877237505471011, 8, 3.428792976025286, 7.5)
	checkEpsilons(t, "realised", realised.Total, 1e-5, 4.139786712995661, 7.5, 3.679327200138829, 7)
	checkEpsilons(t, "expected", expected.Total, 1e-5, 4.146382519729309, 7.5, 3.683626948030453, 7)
	checkEpsilons(t, "worst", worst.Total, 1e-5, 4.674046238141973, 7, 4.173057701518172, 6.5)
}

func TestTotalsB(t *testing.T) {
	v := s1(t, 5000, 150, 1000)
	answered, n := noiseFree(v, 3500)
	if n != 794 {
		t.Fatalf("answered %d, want 794", n)
	}
	l := ledger(t, v, confident{3500, 1500, 100}, nil)
	near(t, "Σq", sumQ(l), 4.4003096860255261e-4, 1e-12)
	near(t, "min log q", slices.Min(l.q.logQ), -624.481240048686, 3e-15)
	worst, realised, expected := cost(t, l, Worst, nil), cost(t, l, Realised, answered), cost(t, l, ExpectedNotABound, nil)
	near(t, "E[answered]", expected.Answered, 675.66862376692899, 1e-13)
	orders := []float64{2, 8, 20.5, 50, 100}
	checkCurve(t, "GNMax", worst.Answer, orders, []float64{5.630896369518862e-5, 6.23651459657111e-5, 8.142960109034214e-5, 2.095352130159506e-4, 0.002182990385080447}, 1e-12)
	checkCurve(t, "worst", worst.Total, orders, []float64{5.007534081396331e-4, 0.001840142923743489, 0.004636985156645898, 0.01132064632412706, 0.02440521260730267}, 1e-12)
	// log q̃ ≈ −190, rounded up by 10u·190 = 2e-13 and as much again in the cost.
	checkCurve(t, "realised GNMax", realised.Answer, []float64{14, 50}, []float64{3.08217074317380439e-84, 1.7289813223340902e-80}, 2e-12)
	checkEpsilons(t, "worst", worst.Total, 1e-8, 0.2104726948694478, 100, 0.1539054884504101, 100)
}

func TestTotalsB2(t *testing.T) {
	v := s1(t, 5000, 150, 1000)
	answered, n := noiseFree(v, 3000)
	if n != 874 {
		t.Fatalf("answered %d, want 874", n)
	}
	l := ledger(t, v, confident{3000, 200, 500}, nil)
	near(t, "Σq", sumQ(l), 17.225323053530058, 1e-13)
	worst, realised, expected := cost(t, l, Worst, nil), cost(t, l, Realised, answered), cost(t, l, ExpectedNotABound, nil)
	near(t, "E[answered]", expected.Answered, 873.17122156165914, 1e-13)
	orders := []float64{2, 8, 20.5, 50, 100}
	checkCurve(t, "GNMax", worst.Answer, orders, []float64{0.00163209265981587, 0.005498322000824852, 0.01232113826160878, 0.02608046582546552, 0.04652577060525624}, 1e-12)
	checkCurve(t, "threshold", worst.Threshold, orders, []float64{0.005224614170507893, 0.01834779947354009, 0.04231016163809946, 0.09234808686328097, 0.1708747575191677}, 1e-12)
	checkCurve(t, "expected", expected.Total, orders, []float64{0.005843612402690507, 0.01984312488441485, 0.04468721486876134, 0.09566583646032418, 0.1751251009300778}, 1e-12)
	checkEpsilons(t, "GNMax", worst.Answer, 1e-8, 0.2325932528674013, 100, 0.1760260464483636, 100)
	checkEpsilons(t, "threshold", worst.Threshold, 1e-8, 0.3569422397813128, 100, 0.3000139268103671, 95.5)
	checkEpsilons(t, "realised", realised.Total, 1e-8, 0.3595150014239609, 100, 0.3025394875209822, 95)
	checkEpsilons(t, "expected", expected.Total, 1e-8, 0.3611925831922229, 100, 0.304176868613424, 95)
	checkEpsilons(t, "worst", worst.Total, 1e-8, 0.4033986304395191, 98, 0.3426736481138968, 85.5)
}

// studentC are the student's scores of golden C.
func studentC(queries int) [][]float64 {
	p := make([][]float64, queries)
	for k := range p {
		p[k] = make([]float64, 150)
		c := (7*k + 3) % 150
		if k%3 == 0 {
			c++
		}
		a := float64(16 + 5*k%48)
		p[k][c%150] = a / 64
		p[k][(c+1)%150] = (64 - a) / 64
	}
	return p
}

func TestTotalsC(t *testing.T) {
	v := s1(t, 5000, 150, 1000)
	p := studentC(1000)
	scores, err := ballots.NewScores(p, 5000, false)
	if err != nil {
		t.Fatal(err)
	}
	exact := ledger(t, v, must(NewInteractive(1500, .7, 300, 200, false)), scores)
	for k, want := range []float64{5000, 899.375, 1093.75, 3609, 1189.5, 1109.875} {
		near(t, fmt.Sprintf("v[%d]", k), exact.q.statistic[k], want, 0)
	}
	var total, rounded float64
	for _, x := range exact.q.statistic {
		total += x
		rounded += math.Floor(x + 0.5)
	}
	near(t, "Σv", total, 2356828.125, 0)
	near(t, "Σ⌊v+½⌋", rounded, 2356870, 0)
	a := interactive{confident{1500, 300, 200}, .7, true}
	l := ledger(t, v, a, scores)
	orders := []float64{8, 20.5, 50}
	checkCurve(t, "rounded", cost(t, l, Worst, nil).Threshold, orders, []float64{0.01751914941096745, 0.0387721238303722, 0.08086002488237092}, 1e-12)
	checkCurve(t, "unrounded", cost(t, exact, Worst, nil).Threshold, orders, []float64{0.01751857088968525, 0.03877060996360934, 0.08086840952048637}, 1e-12)
	near(t, "E[answered]", cost(t, l, ExpectedNotABound, nil).Answered, 607.2159446685433, 1e-13)
	answered := make([]bool, 1000)
	n, reinforced, none := 0, 0, 0
	for i := range answered {
		switch answered[i] = l.q.statistic[i] >= 1500; {
		case answered[i]:
			n++
		case slices.Max(p[i]) > a.confidence:
			reinforced++
		default:
			none++
		}
	}
	if n != 609 || reinforced != 275 || none != 116 {
		t.Errorf("answered %d, reinforced %d, none %d; want 609, 275, 116", n, reinforced, none)
	}
	near(t, "answers at 20.5", at(t, cost(t, l, Realised, answered).Answer, 20.5), 0.003409817206685947, 1e-12)

	high := ledger(t, v, must(NewInteractive(3500, .7, 2000, 200, true)), scores)
	c := cost(t, high, ExpectedNotABound, nil)
	checkCurve(t, "T=3500", c.Threshold, orders, []float64{.001, .0025625, .00625}, 1e-13)
	near(t, "E[answered]", c.Answered, 330.5726797826139, 1e-13)
	n = 0
	for _, x := range high.q.statistic {
		if x >= 3500 {
			n++
		}
	}
	if n != 279 {
		t.Errorf("answered %d, want 279", n)
	}

	// Scores in units of votes are the same thing.
	for _, row := range p {
		for j := range row {
			row[j] *= 5000
		}
	}
	vs, err := ballots.NewScores(p, 5000, true)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "vote scores", at(t, cost(t, ledger(t, v, a, vs), Worst, nil).Total, 8), at(t, cost(t, l, Worst, nil).Total, 8), 0)
}

// §6.1 E19: the expected cost is not a bound, the sum is.
func TestExpectedIsNoBound(t *testing.T) {
	v := must(ballots.NewVotes([][]int64{{5, 3, 2}}, 0))
	l, err := Account(context.Background(), v, confident{6, 3, 1}, Options{Orders: []float64{4}, Price: Theorem6})
	if err != nil {
		t.Fatal(err)
	}
	expected, worst := cost(t, l, ExpectedNotABound, nil), cost(t, l, Worst, nil)
	near(t, "p", math.Exp(l.LogPass(0)), 0.369441, 1e-6)
	near(t, "R1", worst.Threshold.Values[0], 2./9, 1e-14)
	near(t, "R2", worst.Answer.Values[0], 4, 1e-14)
	near(t, "expected", expected.Total.Values[0], 1.69998758295, digits(12))
	near(t, "worst", worst.Total.Values[0], 4.2222, 1e-5)
	if expected.Bound() || !worst.Bound() {
		t.Error("the expected cost calls itself a bound")
	}
	// The exact divergence of the composite, (5,3,2) against (6,3,1).
	outcomes := func(n []int64) []float64 {
		pass, fail := thresholdLogs(6, 3, float64(slices.Max(n)))
		p := []float64{fail}
		for _, x := range newQuadrature(1).logProbabilities(n) {
			p = append(p, pass+x)
		}
		return p
	}
	p, q := outcomes([]int64{5, 3, 2}), outcomes([]int64{6, 3, 1})
	var s float64
	for i := range p {
		s += math.Exp(4*p[i] - 3*q[i])
	}
	d := math.Log(s) / 3
	near(t, "exact", d, 2.35027691106, digits(12))
	if d > worst.Total.Values[0] || d < expected.Total.Values[0] {
		t.Errorf("exact %v is not between expected %v and worst %v", d, expected.Total.Values[0], worst.Total.Values[0])
	}
}

// §7.8 item 11.
func TestRowOrderDoesNotMatter(t *testing.T) {
	v := s1(t, 250, 10, 640)
	var rows [][]int64
	for i := range 640 {
		r := slices.Clone(v.Row((i*7 + 13) % 640))
		slices.Reverse(r)
		rows = append(rows, r)
	}
	w := must(ballots.NewVotes(rows, 0))
	a, b := cost(t, ledger(t, v, confident{170, 20, 40}, nil), Worst, nil), cost(t, ledger(t, w, confident{170, 20, 40}, nil), Worst, nil)
	for i := range a.Total.Values {
		near(t, fmt.Sprint(a.Total.Orders[i]), b.Total.Values[i], a.Total.Values[i], 3e-15)
	}
}

// LogQ returns a bound on the log of the probability that query i, if answered,
// is not answered with its plurality.
func (l *Ledger) LogQ(i int) float64 { return l.q.logQ[i] }

// LogPass returns the log of the probability that query i passes the check; 0
// for an aggregator without one.
func (l *Ledger) LogPass(i int) float64 {
	if l.q.check == nil {
		return 0
	}
	return l.q.logPass[i]
}

// Query returns the costs of query i at one order, the larger of both directions: that of its
// check (0 without one) and that of an answer.
func (l *Ledger) Query(i int, order float64) (threshold, answer float64, err error) {
	if i < 0 || i >= l.votes.Queries() {
		return 0, 0, fault.New("query", "%d is not in [0, %d]", i, l.votes.Queries()-1)
	}
	if err := checkOrder("order", order); err != nil {
		return 0, 0, err
	}
	out := []rate{{}}
	switch orders := []float64{order}; l.price {
	case Theorem6:
		a, c := l.pricers(order, false)
		if c != nil {
			threshold = c(i)
		}
		return threshold, a(i), nil
	case Exact:
		l.exactRates(l.kindOf[i], orders, out)
	default:
		l.bestRates(l.kindOf[i], orders, out)
	}
	return max(out[0].check[0], out[0].check[1]), max(out[0].answer[0], out[0].answer[1]), nil
}
