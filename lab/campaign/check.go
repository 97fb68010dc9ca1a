package campaign

// One case: the plan and the question of a number, the answer, and the checks. A check fails with a violation; a
// plan that the accountant refuses is not checked further.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	textplan "github.com/dpaccountant/accountant/plan"
)

// A violation is a check that failed.
type violation struct {
	check, text string
	plan        plan
	question    question
}

func (v *violation) Error() string { return v.check + ": " + v.text }

func violated(check string, p plan, q question, format string, args ...any) error {
	return &violation{check, fmt.Sprintf(format, args...), p, q}
}

// errRefused: the accountant has nothing to say about a plan, and says so.
var errRefused = errors.New("refused")

// deadline is for one question. It is far above what any work limit allows, also on a machine
// that does other things.
const deadline = 4 * time.Minute

// An examiner checks one plan.
type examiner struct {
	ask     answerer
	seed    uint64 // of the random choices of checks
	lawsOf  int    // how many laws are tried
	brief   bool   // nothing beside the answer is tried
	rand    *rand.Rand
	*result // what was found
	base    accountant.Interval
}

func newExaminer(ask answerer, seed uint64, lawsOf int) *examiner {
	return &examiner{ask: ask, seed: seed, lawsOf: lawsOf, result: newResult()}
}

// The kinds of plans that can be asked for alone.
const anyPlan, schedules, ordinary, extreme = "any", "schedule", "ordinary", "extreme"

// caseOf returns the plan and the question of a number. If no kind is asked for, of each twenty one is a noise schedule, one a
// plan that people run, and one at the ends of all ranges.
func caseOf(seed, number uint64, kind string) (plan, question) {
	r := rand.New(rand.NewPCG(seed, number))
	if kind == "" {
		kind = map[uint64]string{9: ordinary, 14: extreme, 19: schedules}[number%20]
	}
	switch kind {
	case schedules:
		p, delta := drawSchedule(r)
		return p, question{delta: delta, accuracy: 1e-3}
	case ordinary:
		return drawOrdinary(r)
	case extreme:
		return drawExtreme(r)
	}
	return drawPlan(r)
}

// get asks, and checks the answer by itself.
func (x *examiner) get(ctx context.Context, p plan, q question) (accountant.Interval, error) {
	const check = "an answer by itself"
	limited, stop := context.WithTimeout(ctx, deadline)
	defer stop()
	iv, err := recovered(x.ask)(limited, p, q)
	x.Checks[check]++
	if err != nil {
		var field *accountant.FieldError
		var line *textplan.Error
		switch {
		case q.ordinary && q.work == 0 && limited.Err() == nil && strings.Contains(err.Error(), limitReached):
			return iv, violated(ordinaryCheck, p, q, "%v", err)
		case errors.As(err, &field), errors.As(err, &line):
			return iv, errRefused
		case ctx.Err() != nil: // the whole campaign ends
			return iv, err
		case limited.Err() != nil:
			return iv, violated(check, p, q, "no answer after %v: %v", deadline, err)
		}
		return iv, violated(check, p, q, "%v", err)
	}
	x.Answers++
	switch {
	case math.IsNaN(iv.Lower) || math.IsNaN(iv.Upper) || math.IsNaN(iv.Estimate):
		return iv, violated(check, p, q, "[%v, %v, %v] has a NaN", iv.Lower, iv.Estimate, iv.Upper)
	case !(iv.Lower <= iv.Estimate && iv.Estimate <= iv.Upper):
		return iv, violated(check, p, q, "%v ≤ %v ≤ %v does not hold", iv.Lower, iv.Estimate, iv.Upper)
	case q.ofEpsilon && !(iv.Lower >= 0 && iv.Upper <= 1):
		return iv, violated(check, p, q, "δ in [%v, %v] is not in [0, 1]", iv.Lower, iv.Upper)
	}
	width, asked := iv.Upper-iv.Lower, q.width(iv.Upper)
	if iv.Lower == iv.Upper { // both may be infinite
		width = 0
	}
	switch {
	case len(iv.Warnings) > 0:
		x.Warned++
	case iv.Gap != nil: // theory, which no accuracy narrows
	case width == 0:
	case width > asked*(1+1e-9):
		return iv, violated(check, p, q, "[%v, %v] is %.3g wide, asked were %.3g, and there is no warning", iv.Lower, iv.Upper, width, asked)
	case width/asked > x.Share:
		x.Share = width / asked
		x.Widest = fmt.Sprintf("%v: [%v, %v]\n%s", q, iv.Lower, iv.Upper, p.text())
	}
	return iv, nil
}

// recovered makes a panic an error.
func recovered(ask answerer) answerer {
	return func(ctx context.Context, p plan, q question) (iv accountant.Interval, err error) {
		defer func() {
			if e := recover(); e != nil {
				err = fmt.Errorf("panic: %v\n%s", e, debug.Stack())
			}
		}()
		return ask(ctx, p, q)
	}
}

// examine asks and checks; the error is a *violation, or that of a cancelled context.
func (x *examiner) examine(ctx context.Context, p plan, q question) error {
	base, err := x.get(ctx, p, q)
	if errors.Is(err, errRefused) {
		x.Refused = 1
		return nil
	}
	if err != nil {
		return err
	}
	x.base, x.rand = base, rand.New(rand.NewPCG(x.seed, 1))
	checks := []func(context.Context, plan, question, accountant.Interval) error{x.withinWork, x.againstTruth, x.againstTiny, x.thereAndBack, x.inTwoParts, x.againstLaws}
	if x.brief {
		checks = checks[:1]
	}
	for _, check := range checks {
		if err := check(ctx, p, q, base); err != nil {
			return err
		}
	}
	return nil
}

const (
	ordinaryCheck = "ordinary plans are within the limits"
	limitReached  = "limit was reached" // of work or memory, in whatever the accountant says of it
)

// withinWork: the answer to an ordinary question is not wide for a limit, and has an upper end where nothing is given away.
func (x *examiner) withinWork(_ context.Context, p plan, q question, iv accountant.Interval) error {
	if !q.ordinary {
		return nil
	}
	x.Checks[ordinaryCheck]++
	given := 0.0 // away, such as by select-partitions
	each(p.steps, func(s *step) {
		if s.mechanism != nil {
			given += s.mechanism.number("delta")
		}
	})
	if math.IsInf(iv.Upper, 1) && !math.IsInf(iv.Lower, 1) && !q.ofEpsilon && given == 0 {
		return violated(ordinaryCheck, p, q, "[%v, %v]: no upper end", iv.Lower, iv.Upper)
	}
	for _, w := range iv.Warnings {
		if strings.Contains(w, limitReached) {
			return violated(ordinaryCheck, p, q, "[%v, %v]: %s", iv.Lower, iv.Upper, w)
		}
	}
	return nil
}

// againstLaws holds the answer against what some laws say of it.
func (x *examiner) againstLaws(ctx context.Context, p plan, q question, base accountant.Interval) error {
	tried := 0
	for _, i := range x.rand.Perm(len(laws)) {
		if tried >= x.lawsOf {
			break
		}
		ok, err := x.law(ctx, laws[i], p, q, base)
		if err != nil {
			return err
		}
		if ok {
			tried++
		}
	}
	return nil
}

// law holds the answer against that to another plan; false if the law says nothing.
func (x *examiner) law(ctx context.Context, l law, p plan, q question, base accountant.Interval) (bool, error) {
	other, asked := p.clone(), q
	if !l.make(rand.New(rand.NewPCG(x.seed, 2)), &other, &asked) {
		return false, nil
	}
	iv, err := x.get(ctx, other, asked)
	if errors.Is(err, errRefused) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	x.Checks[l.name]++
	below, above := iv.Lower <= base.Upper, iv.Upper >= base.Lower
	if l.rel == atMost && below || l.rel == atLeast && above || below && above {
		return true, nil
	}
	return false, violated(l.name, p, q, "%v: [%v, %v], but [%v, %v] for %v of\n%s", q, base.Lower, base.Upper, iv.Lower, iv.Upper, asked, other.text())
}

// slack is far above the errors of the truth and far below those of float64.
var slack = new(big.Float).SetMantExp(oracle.F(1), -150)

// atMostBig reports a ≤ b, up to slack.
func atMostBig(a, b *big.Float) bool {
	return a.Cmp(oracle.Add(b, oracle.Mul(b, slack))) <= 0
}

// againstTruth holds the answer against a closed form.
func (x *examiner) againstTruth(_ context.Context, p plan, q question, iv accountant.Interval) error {
	const check = "the truth to hundreds of bits"
	t, ok := truthOf(p)
	if !ok {
		return nil
	}
	x.Checks[check]++
	fail := func(what string, truth *big.Float) error {
		return violated(check, p, q, "%v: [%v, %v]: δ at the %s is %.20g", q, iv.Lower, iv.Upper, what, truth)
	}
	if q.ofEpsilon {
		d := t.at(q.epsilon)
		if !atMostBig(oracle.F(iv.Lower), d) || !atMostBig(d, oracle.F(iv.Upper)) {
			return fail("ε asked", d)
		}
		return nil
	}
	const farthest = 1e7 // e^ε still has an exponent
	delta := oracle.F(q.delta)
	if math.Abs(iv.Upper) < farthest {
		if d := t.at(iv.Upper); !atMostBig(d, delta) {
			return fail("upper end", d)
		}
	}
	if math.Abs(iv.Lower) < farthest {
		if d := t.at(iv.Lower); !atMostBig(delta, d) {
			return fail("lower end", d)
		}
	}
	return nil
}

// rounding of the enumeration: sums of some thousand masses, each right to 1e-12 of itself.
const tinyRounding = 1e-11

// againstTiny holds the answer against every data set of a tiny sampler.
func (x *examiner) againstTiny(_ context.Context, p plan, q question, iv accountant.Interval) error {
	const check = "every data set of a tiny sampler"
	if !enumerable(p) {
		return nil
	}
	x.Checks[check]++
	at, upper, lower := iv.Upper, q.delta, q.delta
	if q.ofEpsilon {
		at, upper, lower = q.epsilon, iv.Upper, iv.Lower
	}
	if at > 300 || math.IsInf(at, -1) {
		return nil
	}
	sample := p.steps[0]
	pairs := neighbours(sample.sampling, p.neighbors)
	if d, _ := worstSeen(sample, pairs, at); d > upper*(1+tinyRounding)+tinyRounding {
		return violated(check, p, q, "%v: [%v, %v]: a pair of data sets has δ ≥ %v at ε = %v", q, iv.Lower, iv.Upper, d, at)
	}
	if !q.ofEpsilon {
		at = iv.Lower
	}
	if math.IsInf(at, 0) || at > 300 {
		return nil
	}
	if _, d := worstSeen(sample, pairs, at); d < lower*(1-1e-6)-tinyRounding {
		return violated(check, p, q, "%v: [%v, %v]: no pair of data sets has δ above %v at ε = %v", q, iv.Lower, iv.Upper, d, at)
	}
	return nil
}

// thereAndBack asks for δ at the ends of ε, or for ε at those of δ, of one plan in three.
func (x *examiner) thereAndBack(ctx context.Context, p plan, q question, iv accountant.Interval) error {
	const check = "δ(ε(δ))"
	if x.rand.IntN(3) > 0 {
		return nil
	}
	for i, end := range []float64{iv.Upper, iv.Lower} {
		other, want := q, q.delta
		other.ofEpsilon = !q.ofEpsilon
		switch {
		case math.IsInf(end, 0):
			continue
		case !q.ofEpsilon:
			other.epsilon = end
		case !(end > 0 && end < 1):
			continue
		default:
			// A little below the lower end: where δ(ε) is constant, ε(δ) is its start.
			other.delta, want = end*(1-1e-12*float64(i)), q.epsilon
		}
		got, err := x.get(ctx, p, other)
		if errors.Is(err, errRefused) {
			continue
		}
		if err != nil {
			return err
		}
		x.Checks[check]++
		if i == 0 && got.Lower > want || i == 1 && got.Upper < want {
			return violated(check, p, q, "%v: [%v, %v], but %v: [%v, %v]", q, iv.Lower, iv.Upper, other, got.Lower, got.Upper)
		}
	}
	return nil
}

// inTwoParts: a plan costs at most what two parts of its steps do, with a half of δ or a part of ε each. Upper ends are compared, to
// within the accuracy asked for; an answer that a limit or rounding made wide is left out.
func (x *examiner) inTwoParts(ctx context.Context, p plan, q question, iv accountant.Interval) error {
	const check = "two parts of the steps at two parts of δ"
	r := rand.New(rand.NewPCG(x.seed, 3))
	limited := func(w string) bool { return strings.Contains(w, parallel.Wider) && !strings.HasPrefix(w, "attack") }
	if len(p.steps) < 2 || r.IntN(partsOneIn) > 0 || slices.ContainsFunc(iv.Warnings, limited) || !q.ofEpsilon && q.delta < 2*givenAway {
		return nil
	}
	parts := [2]plan{p.clone(), p.clone()}
	parts[0].steps, parts[1].steps = nil, nil
	cut := 1 + r.IntN(len(p.steps)-1)
	for i, at := range r.Perm(len(p.steps)) {
		part := &parts[min(i/cut, 1)]
		part.steps = append(part.steps, p.steps[at])
	}
	share, sum := r.Float64(), 0.0
	var found [2]accountant.Interval
	for i, part := range parts {
		asked := q
		asked.delta, asked.epsilon = q.delta/2, q.epsilon*share
		share = 1 - share
		var err error
		if found[i], err = x.get(ctx, part, asked); errors.Is(err, errRefused) {
			return nil
		} else if err != nil {
			return err
		}
		sum += found[i].Upper
	}
	x.Checks[check]++
	if iv.Upper > sum+q.width(sum) {
		return violated(check, p, q, "%v: [%v, %v], but [%v, %v] and [%v, %v] for\n%sand\n%s", q, iv.Lower, iv.Upper,
			found[0].Lower, found[0].Upper, found[1].Lower, found[1].Upper, parts[0].text(), parts[1].text())
	}
	return nil
}

const (
	partsOneIn = 4      // of so many plans one is asked about in two parts
	givenAway  = 1e-290 // of δ, by what is computed far out, such as prices of searches: alone, one may be known better
)

// A question is ε(δ), or δ(ε).
type question struct {
	ofEpsilon      bool // δ at epsilon is asked
	delta, epsilon float64
	accuracy       float64
	work           float64 // 0: the preset
	laws           bool    // alone
	ordinary       bool    // the plan is one that people run: a limit of work must not be what ends it
}

// width returns how wide an answer that ends at x may be: relative to x, of ε also absolutely, as accountant.Options.Accuracy says, and at
// least four steps of the smallest numbers.
func (q question) width(x float64) float64 {
	wide := max(q.accuracy*math.Abs(x), 4*math.SmallestNonzeroFloat64)
	if !q.ofEpsilon {
		wide = max(wide, min(1e-6, 1e-3*q.accuracy))
	}
	return wide
}

func (q question) String() string {
	s := fmt.Sprintf("ε at δ = %v", q.delta)
	if q.ofEpsilon {
		s = fmt.Sprintf("δ at ε = %v", q.epsilon)
	}
	s += fmt.Sprintf(" to %v", q.accuracy)
	if q.work > 0 {
		s += fmt.Sprintf(", work %v", q.work)
	}
	if q.laws {
		s += ", by laws alone"
	}
	return s
}

// An answerer answers; tests put a wrong one in the place of answer.
type answerer func(context.Context, plan, question) (accountant.Interval, error)

// memory is what one question may take: little, as several run at a time.
const memory = 256 << 20

// answer asks the accountant.
func answer(ctx context.Context, p plan, q question) (accountant.Interval, error) {
	parsed, err := textplan.Parse(ctx, []byte(p.text()))
	if err != nil {
		return accountant.Interval{}, err
	}
	opts := accountant.Options{Accuracy: q.accuracy, Memory: memory, WorkLimit: q.work}
	if q.laws {
		opts.Transform = fourier.Gonum
	}
	a := parsed.Accountant(opts)
	if err := a.AddPlan(ctx, parsed); err != nil {
		return accountant.Interval{}, err
	}
	if q.ofEpsilon {
		return a.Delta(ctx, q.epsilon)
	}
	return a.Epsilon(ctx, q.delta)
}
