package campaign

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	textplan "github.com/dpaccountant/accountant/plan"
)

var totals = flag.Int("totals", 12, "totals that are asked in between")

// A sequence is one accountant, its plan so far and what holds its answers against the truth.
type sequence struct {
	t     *testing.T
	r     *rand.Rand
	x     *examiner
	acct  *accountant.Accountant
	sofar plan
}

// ask asks one question or a curve, and checks each answer.
func (s *sequence) ask() {
	questions := make([]question, 1+s.r.IntN(3)*s.r.IntN(2))
	at := make([]float64, len(questions))
	ofEpsilon := s.r.IntN(2) == 0
	for i := range questions {
		q := &questions[i]
		if q.ofEpsilon = ofEpsilon; ofEpsilon {
			q.epsilon = logUniform(s.r, 1e-6, 500)
			if s.r.IntN(4) == 0 {
				q.epsilon = -q.epsilon
			}
			at[i] = q.epsilon
			continue
		}
		q.delta = logUniform(s.r, []float64{1e-300, 1e-12, 0.1}[s.r.IntN(3)], 0.999)
		at[i] = q.delta
	}
	curve, one := s.acct.EpsilonCurve, s.acct.Epsilon
	if ofEpsilon {
		curve, one = s.acct.DeltaCurve, s.acct.Delta
	}
	var answers []accountant.Point
	var err error
	if len(at) > 1 {
		answers, err = curve(s.t.Context(), at)
	} else {
		answers = make([]accountant.Point, 1)
		answers[0].Interval, err = one(s.t.Context(), at[0])
	}
	if err != nil {
		s.t.Errorf("%v: %v\n%s", questions[0], err, s.sofar.text())
		return
	}
	for i, a := range answers {
		if !(a.Lower <= a.Estimate && a.Estimate <= a.Upper) {
			s.t.Errorf("%v: %v ≤ %v ≤ %v does not hold\n%s", questions[i], a.Lower, a.Estimate, a.Upper, s.sofar.text())
		}
		if err := s.x.againstTruth(s.t.Context(), s.sofar, questions[i], a.Interval); err != nil {
			s.t.Errorf("%v\n%s", err, s.sofar.text())
		}
	}
}

// TestAnswersWhileATotalGrows: what an accountant keeps of earlier questions, of whatever kind and order, between steps that are
// added, proves nothing false. A fresh accountant for each question, as the campaign has, does not show that.
func TestAnswersWhileATotalGrows(t *testing.T) {
	asked := int64(0)
	for i := range *totals {
		r := rand.New(rand.NewPCG(20261123, uint64(i)))
		p := plan{neighbors: []string{"add-remove", "substitute", "zero-out"}[r.IntN(3)]}
		p.steps = drawClosed(r, p.neighbors)
		whole, err := textplan.Parse(t.Context(), []byte(p.text()))
		if err != nil {
			continue
		}
		opts := []accountant.Options{{Memory: memory, WorkLimit: 2e5, Accuracy: []float64{0.1, 1e-3, 1e-6}[r.IntN(3)]}}
		switch r.IntN(5) {
		case 0, 1:
			opts = append(opts, accountant.Options{Transform: fourier.Gonum})
		case 3:
			opts = append(opts, accountant.Options{ManyQuestions: true})
		}
		s := &sequence{t, r, newExaminer(nil, 1, 0), accountant.New(whole.Neighbors, opts...), plan{neighbors: p.neighbors}}
		for j, step := range whole.Steps {
			if err := s.acct.Add(t.Context(), step, 1); err != nil {
				break
			}
			s.sofar.steps = append(s.sofar.steps, p.steps[j])
			for range 1 + r.IntN(3) {
				s.ask()
			}
		}
		asked += s.x.Checks["the truth to hundreds of bits"]
	}
	if asked < int64(*totals) {
		t.Errorf("only %d answers were held against the truth", asked)
	}
}
