package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
)

// This file answers for ε at some δ, and for δ at some ε: by the Fourier accountant,
// with what was found before kept for the latest plans, or by Rényi accounting.

// The accountants that a question may name.
const (
	FourierAccountant = "fourier"
	RDPAccountant     = "rdp"
)

// Method names the accountant that answers: fourier, the default, or rdp for a looser
// upper bound by Rényi accounting. Transform, if given, lets lattices alone answer, with
// the Fourier transform of that library: a second opinion on the first.
type Method struct {
	Accountant string `json:"accountant,omitempty"`
	Transform  string `json:"transform,omitempty"`
}

// The libraries of Method.Transform.
const (
	GonumTransform = "gonum"
	GoDSPTransform = "go-dsp"
)

func (m Method) check() error {
	switch m.Accountant {
	case "", FourierAccountant, RDPAccountant:
	default:
		return oneOf("accountant", m.Accountant, FourierAccountant, RDPAccountant)
	}
	if m.Transform != "" && m.Accountant == RDPAccountant {
		return fault.New("transform", "%q is for the fourier accountant; rdp has none", m.Transform)
	}
	switch m.Transform {
	case "", GonumTransform, GoDSPTransform:
		return nil
	}
	return oneOf("transform", m.Transform, GonumTransform, GoDSPTransform)
}

// EpsilonRequest asks for ε at one or several δ.
type EpsilonRequest struct {
	Plan  PlanText  `json:"plan"`
	Delta OneOrMany `json:"delta"`
	// GroupBlackBox asks for an upper bound that knows the plan by the curve of one record alone.
	GroupBlackBox bool `json:"group-black-box,omitempty"`
	Narrowing
	Limits
	Method
	// Certificate asks for the certificate of the answer, at one δ.
	Certificate bool `json:"certificate,omitempty"`
}

// DeltaRequest asks for δ at one or several ε.
type DeltaRequest struct {
	Plan    PlanText  `json:"plan"`
	Epsilon OneOrMany `json:"epsilon"`
	Narrowing
	Limits
	Method
}

// EpsilonAnswer has ε at each δ.
type EpsilonAnswer struct {
	Neighbors string      `json:"neighbors"`
	Results   []EpsilonAt `json:"results"`
	// RecordsPerPerson is that of the unit; left out where it is one record.
	RecordsPerPerson int64       `json:"records-per-person,omitempty"`
	Matrix           []MatrixRun `json:"matrix,omitempty"`
}

// DeltaAnswer has δ at each ε.
type DeltaAnswer struct {
	Neighbors string    `json:"neighbors"`
	Results   []DeltaAt `json:"results"`
	// RecordsPerPerson is that of the unit; left out where it is one record.
	RecordsPerPerson int64       `json:"records-per-person,omitempty"`
	Matrix           []MatrixRun `json:"matrix,omitempty"`
}

// Check reports what is wrong with all but the plan.
func (q EpsilonRequest) Check() error {
	if q.GroupBlackBox {
		if err := q.checkGroup(); err != nil {
			return err
		}
	}
	at, err := settings(context.Background(), "delta", q.Delta, deltaSpan, q.Method, q.Limits, q.Narrowing)
	if err == nil && q.Certificate {
		err = q.checkCertificate(at)
	}
	return err
}

// Check reports what is wrong with all but the plan.
func (q DeltaRequest) Check() error {
	_, err := settings(context.Background(), "epsilon", q.Epsilon, epsilonSpan, q.Method, q.Limits, q.Narrowing)
	return err
}

// settings checks all of a question but its plan, and returns where it is asked.
func settings(ctx context.Context, key string, at OneOrMany, r span, m Method, l Limits, rec Narrowing) ([]float64, error) {
	xs, err := at.in(key, r)
	if err == nil {
		err = m.check()
	}
	if err == nil {
		_, err = accountantOptions(ctx, l, rec)
	}
	return xs, err
}

// accountantOptions are those of limits and recursion together.
func accountantOptions(ctx context.Context, l Limits, rec Narrowing) ([]accountant.Option, error) {
	opts, err := l.options(ctx)
	if err != nil {
		return nil, err
	}
	return rec.add(opts)
}

// Epsilon returns certified intervals of ε, by the Fourier accountant.
func (s *Service) Epsilon(ctx context.Context, q EpsilonRequest) (EpsilonAnswer, error) {
	at, err := settings(ctx, "delta", q.Delta, deltaSpan, q.Method, q.Limits, q.Narrowing)
	if err != nil {
		return EpsilonAnswer{}, err
	}
	if q.Certificate {
		if err := q.checkCertificate(at); err != nil {
			return EpsilonAnswer{}, err
		}
	}
	var out EpsilonAnswer
	q.Limits.transform = q.Transform
	err = s.asked(ctx, q.Plan, q.Limits, q.Narrowing, q.Delta.One, func(acct *accountant.Accountant) error {
		out.Neighbors, out.RecordsPerPerson = acct.Relation().String(), severalRecords(acct.Records())
		out.Results, err = epsilons(ctx, acct, at)
		return err
	})
	if err == nil {
		out.Matrix, err = matrixRuns(ctx, q.Plan)
	}
	if err == nil && q.Certificate {
		err = s.certify(ctx, q.Plan, &out)
	}
	return out, err
}

// asked calls f with an accountant that holds the plan: for one number the one that is
// kept, for a list one of its own, so that nothing is kept of lists and the answer to
// one does not depend on what was asked before.
func (s *Service) asked(ctx context.Context, text PlanText, l Limits, n Narrowing, one bool, f func(*accountant.Accountant) error) error {
	if one {
		sv, err := s.served(ctx, text, l, n)
		if err != nil {
			return err
		}
		return sv.ask(ctx, f)
	}
	opts, err := accountantOptions(ctx, l, n)
	if err != nil {
		return err
	}
	plan, err := text.parse(ctx)
	if err != nil {
		return err
	}
	acct, err := newAccountant(ctx, plan, opts)
	if err != nil {
		return err
	}
	return f(acct)
}

// epsilons asks an accountant for ε at each δ.
func epsilons(ctx context.Context, acct *accountant.Accountant, deltas []float64) ([]EpsilonAt, error) {
	points, err := acct.EpsilonCurve(ctx, deltas)
	if err != nil {
		return nil, err
	}
	var found []EpsilonAt
	for _, p := range points {
		found = append(found, epsilonAt(p.At, p.Interval))
	}
	return found, nil
}

// Delta returns certified intervals of δ, by the Fourier accountant.
func (s *Service) Delta(ctx context.Context, q DeltaRequest) (DeltaAnswer, error) {
	at, err := settings(ctx, "epsilon", q.Epsilon, epsilonSpan, q.Method, q.Limits, q.Narrowing)
	if err != nil {
		return DeltaAnswer{}, err
	}
	var out DeltaAnswer
	q.Limits.transform = q.Transform
	err = s.asked(ctx, q.Plan, q.Limits, q.Narrowing, q.Epsilon.One, func(acct *accountant.Accountant) error {
		out.Neighbors, out.RecordsPerPerson = acct.Relation().String(), severalRecords(acct.Records())
		points, err := acct.DeltaCurve(ctx, at)
		for _, p := range points {
			out.Results = append(out.Results, deltaAt(p.At, p.Interval))
		}
		return err
	})
	if err == nil {
		out.Matrix, err = matrixRuns(ctx, q.Plan)
	}
	return out, err
}

// epsilon is the operation: one δ has one result, which is remembered.
func (s *Service) epsilon(ctx context.Context, q EpsilonRequest) (any, error) {
	switch {
	case q.GroupBlackBox:
		if q.Certificate {
			return nil, q.checkCertificate(nil)
		}
		a, err := s.EpsilonGroup(ctx, q)
		if err == nil && q.Delta.One {
			return a.Results[0], nil
		}
		return a, err
	case q.Accountant == RDPAccountant:
		if q.Certificate {
			return nil, q.checkCertificate(nil)
		}
		a, err := s.EpsilonRDP(ctx, q)
		if err == nil && q.Delta.One {
			return a.Results[0], nil
		}
		return a, err
	case !q.Delta.One && q.Certificate:
		return nil, fault.New("certificate", "is set beside a list of δ, must be asked for one number")
	case !q.Delta.One:
		return s.Epsilon(ctx, q)
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	if q.Certificate {
		a, err := s.Epsilon(ctx, q)
		if err != nil {
			return nil, err
		}
		return certified{a.Results[0], a.Results[0].Certificate}, nil
	}
	return s.remember(ctx, q.Plan, q.Limits, q.Narrowing, "epsilon", q.Delta, func() (any, error) {
		a, err := s.Epsilon(ctx, q)
		if err != nil {
			return nil, err
		}
		return a.Results[0], nil
	})
}

// delta is the operation: one ε has one result, which is remembered.
func (s *Service) delta(ctx context.Context, q DeltaRequest) (any, error) {
	switch {
	case q.Accountant == RDPAccountant:
		a, err := s.DeltaRDP(ctx, q)
		if err == nil && q.Epsilon.One {
			return a.Results[0], nil
		}
		return a, err
	case !q.Epsilon.One:
		return s.Delta(ctx, q)
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	return s.remember(ctx, q.Plan, q.Limits, q.Narrowing, "delta", q.Epsilon, func() (any, error) {
		a, err := s.Delta(ctx, q)
		if err != nil {
			return nil, err
		}
		return a.Results[0], nil
	})
}

// A served plan keeps its accountant, made when it is first asked, and the latest
// answers.
type served struct {
	key     string
	plan    *accountant.Plan
	limits  Limits
	runs    Narrowing
	turn    chan struct{} // holds something while the accountant is at work
	shared  bool          // of a door with many users, none of whom waits for another one's turn
	acct    *accountant.Accountant
	watcher context.Context            // of the question under way, which is told how far it is
	answers map[string]json.RawMessage // under the lock of the Service
	size    int                        // of all answers and what they answer, in bytes
}

const (
	maxServed = 8
	// maxAnswers bounds the answers kept for a plan, in bytes: some two thousand.
	maxAnswers = 1 << 20
)

// served returns what is kept of a plan and its limits, and keeps it.
func (s *Service) served(ctx context.Context, text PlanText, l Limits, rec Narrowing) (*served, error) {
	key := string(rec.Recursion) + " " + string(l.Accuracy) + " " + string(l.Memory) + " " + string(l.Work) + " " + string(l.TimeLimit) + " " + l.transform + " " + string(text)
	known := func() *served {
		i := slices.IndexFunc(s.recent, func(r *served) bool { return r.key == key })
		if text == nil || i < 0 {
			return nil
		}
		r := s.recent[i]
		s.recent = append(slices.Delete(s.recent, i, i+1), r)
		return r
	}
	s.mu.Lock()
	r := known()
	s.mu.Unlock()
	if r != nil {
		return r, nil
	}
	// A long plan takes a second to read, in which others are not to wait.
	plan, err := text.parse(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := known(); r != nil { // since then
		return r, nil
	}
	sv := &served{key: key, plan: plan, limits: l, runs: rec, turn: make(chan struct{}, 1), shared: s.shared}
	if s.recent = append(s.recent, sv); len(s.recent) > maxServed {
		s.recent = s.recent[1:]
	}
	return sv, nil
}

// ask calls f with the accountant that holds the plan, one call at a time. Where others are asking at a shared door, f has
// an accountant of its own: waiting for a turn would keep a place at work from requests for other plans.
func (sv *served) ask(ctx context.Context, f func(*accountant.Accountant) error) error {
	select {
	case sv.turn <- struct{}{}:
		defer func() { <-sv.turn }()
	default:
		if sv.shared {
			acct, err := sv.account(ctx, func() context.Context { return ctx })
			if err != nil {
				return err
			}
			return f(acct)
		}
		select {
		case sv.turn <- struct{}{}:
			defer func() { <-sv.turn }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	sv.watcher = ctx
	if sv.acct == nil {
		acct, err := sv.account(ctx, func() context.Context { return sv.watcher })
		if err != nil {
			return err
		}
		sv.acct = acct
	}
	return f(sv.acct)
}

// account returns a new accountant that holds the plan, which reports its progress to watcher.
func (sv *served) account(ctx context.Context, watcher func() context.Context) (*accountant.Accountant, error) {
	opts, err := accountantOptions(ctx, sv.limits, sv.runs)
	if err != nil {
		return nil, err
	}
	opts = append(opts, accountant.WithProgress(func(done, total int) { report(watcher(), Progress{Done: done, Total: total}) }))
	return newAccountant(ctx, sv.plan, opts)
}

// remember returns the answer to a question that was asked before, or finds it.
// It is for questions about one number: a list is seldom asked twice.
func (s *Service) remember(ctx context.Context, text PlanText, l Limits, rec Narrowing, op string, at OneOrMany, find func() (any, error)) (any, error) {
	sv, err := s.served(ctx, text, l, rec)
	if err != nil {
		return nil, err
	}
	x, err := at.List[0].in(op, span{hi: 1e308})
	if err != nil {
		return nil, err
	}
	key := op + " " + Number(x).String()
	s.mu.Lock()
	a, ok := sv.answers[key]
	s.mu.Unlock()
	if ok {
		return a, nil
	}
	found, err := find()
	if err != nil {
		return nil, err
	}
	if a, err = Marshal(found); err != nil || l.TimeLimit != "" {
		return a, err // what ended by the clock may be better another time
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	size := len(key) + len(a)
	if sv.answers == nil || sv.size+size > maxAnswers {
		sv.answers, sv.size = map[string]json.RawMessage{}, 0
	}
	if _, twice := sv.answers[key]; !twice && size <= maxAnswers {
		sv.answers[key] = a
		sv.size += size
	}
	return a, nil
}

// RDPEpsilons are upper bounds of ε by Rényi accounting.
type RDPEpsilons struct {
	Neighbors  string         `json:"neighbors"`
	Accountant string         `json:"accountant"`
	Results    []RDPEpsilonAt `json:"results"`
}

// RDPDeltas are upper bounds of δ by Rényi accounting.
type RDPDeltas struct {
	Neighbors  string       `json:"neighbors"`
	Accountant string       `json:"accountant"`
	Results    []RDPDeltaAt `json:"results"`
}

// RDPEpsilonAt is an upper bound of ε at a δ, and the order that it comes from.
type RDPEpsilonAt struct {
	Delta   Number `json:"delta"`
	Epsilon Upper  `json:"epsilon"`
	Order   Number `json:"order"`
}

// RDPDeltaAt is an upper bound of δ at an ε, and the order that it comes from.
type RDPDeltaAt struct {
	Epsilon Number `json:"epsilon"`
	Delta   Upper  `json:"delta"`
	Order   Number `json:"order"`
}

// Upper is an upper bound alone.
type Upper struct {
	Upper Number `json:"upper"`
}

// EpsilonRDP returns upper bounds of ε by Rényi accounting.
func (s *Service) EpsilonRDP(ctx context.Context, q EpsilonRequest) (RDPEpsilons, error) {
	out := RDPEpsilons{Accountant: RDPAccountant}
	at, err := settings(ctx, "delta", q.Delta, deltaSpan, q.Method, q.Limits, q.Narrowing)
	if err != nil {
		return out, err
	}
	r, err := bounded(ctx, q.Plan, at, rdp.Epsilon, func(at, bound, order float64) {
		out.Results = append(out.Results, RDPEpsilonAt{Number(at), Upper{Number(bound)}, Number(order)})
	})
	out.Neighbors = r.String()
	return out, err
}

// DeltaRDP returns upper bounds of δ by Rényi accounting.
func (s *Service) DeltaRDP(ctx context.Context, q DeltaRequest) (RDPDeltas, error) {
	out := RDPDeltas{Accountant: RDPAccountant}
	at, err := settings(ctx, "epsilon", q.Epsilon, epsilonSpan, q.Method, q.Limits, q.Narrowing)
	if err != nil {
		return out, err
	}
	r, err := bounded(ctx, q.Plan, at, rdp.Delta, func(at, bound, order float64) {
		out.Results = append(out.Results, RDPDeltaAt{Number(at), Upper{Number(bound)}, Number(order)})
	})
	out.Neighbors = r.String()
	return out, err
}

// bounded asks the Rényi curve of a plan for a bound at each place.
func bounded(ctx context.Context, text PlanText, at []float64, ask func(rdp.Curve, float64) (float64, float64, error), found func(at, bound, order float64)) (profiles.Relation, error) {
	plan, err := text.parse(ctx)
	if err != nil {
		return 0, err
	}
	curve, err := plan.RDP()
	if err != nil {
		return plan.Neighbors, err
	}
	for _, x := range at {
		if err := ctx.Err(); err != nil {
			return plan.Neighbors, err
		}
		bound, order, err := ask(curve, x)
		if err != nil {
			return plan.Neighbors, err
		}
		found(x, bound, order)
	}
	return plan.Neighbors, nil
}

// oneOf returns the error for a word that is none of the words that a key may have.
func oneOf(key, word string, words ...string) error {
	last := len(words) - 1
	list := words[last]
	if last > 0 {
		list = strings.Join(words[:last], ", ") + " or " + list
	}
	more := ""
	if best := nearest.Word(word, words); best != "" {
		more = fmt.Sprintf("; did you mean %q?", best)
	}
	return fault.NotOneOf(key, decimal.Show(word), list, more)
}

// What follows answers for the ε of persons with several records from the curve of one record alone.

// GroupMethod is the name of the bound.
const GroupMethod = "group privacy of one record's curve"

// GroupEpsilons are upper bounds of ε by the iterate of the curve of one record.
type GroupEpsilons struct {
	Neighbors        string           `json:"neighbors"`
	RecordsPerPerson int64            `json:"records-per-person"`
	Method           string           `json:"method"`
	Results          []GroupEpsilonAt `json:"results"`
}

// GroupEpsilonAt is an upper bound of ε at a δ.
type GroupEpsilonAt struct {
	Delta   Number `json:"delta"`
	Epsilon Upper  `json:"epsilon"`
}

// checkGroup refuses what is for other answers.
func (q EpsilonRequest) checkGroup() error {
	if q.Accountant == RDPAccountant {
		return fault.New("group-black-box", "true is for the fourier accountant, not for %q", q.Accountant)
	}
	if q.Certificate {
		return fault.New("group-black-box", "true has no certificate: its bound is no integral")
	}
	if q.Transform != "" {
		return fault.New("group-black-box", "true goes with no transform of lattices")
	}
	return nil
}

// EpsilonGroup returns upper bounds of ε for persons, from the curve of one record of a plan.
func (s *Service) EpsilonGroup(ctx context.Context, q EpsilonRequest) (GroupEpsilons, error) {
	out := GroupEpsilons{Method: GroupMethod}
	if err := q.Check(); err != nil {
		return out, err
	}
	at, err := q.Delta.in("delta", openUnit)
	if err != nil {
		return out, err
	}
	opts, err := accountantOptions(ctx, q.Limits, q.Narrowing)
	if err != nil {
		return out, err
	}
	plan, err := q.Plan.parse(ctx)
	if err != nil {
		return out, err
	}
	out.Neighbors, out.RecordsPerPerson = plan.Neighbors.String(), plan.Records()
	for _, delta := range at {
		eps, err := plan.GroupEpsilon(ctx, delta, opts...)
		if err != nil {
			return out, err
		}
		out.Results = append(out.Results, GroupEpsilonAt{Number(delta), Upper{Number(eps)}})
	}
	return out, nil
}

// Certificates: a text with which another program can prove an interval of ε anew. Its form is
// docs/certificates.md; verify/ has a program that reads it. It assumes an answer of the Fourier
// accountant at one δ.

// certified is the answer of the operation epsilon with its certificate.
type certified struct {
	EpsilonAt
	Certificate string `json:"certificate"`
}

// checkCertificate reports why a question can have no certificate.
func (q EpsilonRequest) checkCertificate(deltas []float64) error {
	if q.GroupBlackBox {
		return fault.New("certificate", "is set, not allowed with group-black-box, which proves no interval")
	}
	if q.Accountant == RDPAccountant {
		return fault.New("certificate", "is set, not allowed with the accountant rdp, which proves no interval")
	}
	if len(deltas) != 1 {
		return fault.New("certificate", "is set beside %d δ, must be asked for one", len(deltas))
	}
	return nil
}

// certify puts the certificate into an answer at one δ.
func (s *Service) certify(ctx context.Context, text PlanText, a *EpsilonAnswer) error {
	head, runs, err := plan.Runs(text)
	if err != nil {
		return err
	}
	v, err := s.Version(ctx, VersionRequest{})
	if err != nil {
		return err
	}
	r := &a.Results[0]
	hex := func(x Number) string { return plan.Hex(float64(x)) }
	part := func(x Number) string { return hex(max(0, x)) } // of the width; a difference of ends that cross is nothing
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("accountant certificate 1")
	line("version %s", printable(strings.Join(strings.Fields(v.Version+" "+v.Revision), " ")))
	line("neighbors %s", head.Neighbors)
	line("records-per-person %d", head.RecordsPerPerson)
	for _, run := range runs {
		line("step %s", run)
	}
	line("delta %s", hex(r.Delta))
	line("lower %s", hex(r.Epsilon.Lower))
	line("upper %s", hex(r.Epsilon.Upper))
	line("direction %s", r.lowerDirection)
	line("engine %s", strings.ReplaceAll(r.Engine, " ", "-"))
	line("contour theta %s period %s frequencies %d", plan.Hex(r.theta), plan.Hex(r.period), r.frequencies)
	e := r.ErrorBudget
	line("budget discretization %s quadrature %s truncation %s aliasing %s round-off %s theory-gap %s",
		part(e.Discretization), part(e.Quadrature), part(e.Truncation), part(e.Aliasing), part(e.RoundOff), part(e.TheoryGap))
	line("sha256 %x", sha256.Sum256([]byte(b.String())))
	r.Certificate = b.String()
	return nil
}

// printable replaces what is not printable ASCII, which a certificate has no other character of, by question marks.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}

// What follows has what is known of the matrix mechanisms of a plan: what their prices are
// made of. It assumes a plan that can be read, and returns nothing for one without them.

// A MatrixRun is a matrix mechanism of a plan.
type MatrixRun struct {
	Step string `json:"step"` // its place
	Name string `json:"name,omitempty"`
	// Sensitivity holds that of the matrix under the schema, and EffectiveNoise is the
	// noise multiplier over its upper end, rounded; without secret sampling.
	Sensitivity    *Ends   `json:"sensitivity,omitempty"`
	EffectiveNoise *Number `json:"effective-noise-multiplier,omitempty"`
	// Blocks are those of the group that costs most, with cyclic Poisson sampling.
	Blocks     []MatrixBlock `json:"blocks,omitempty"`
	WorstGroup *int          `json:"worst-group,omitempty"`
}

// A MatrixBlock is a number of columns of the same norm.
type MatrixBlock struct {
	Norm           Ends   `json:"norm"`
	EffectiveNoise Number `json:"effective-noise-multiplier"`
	Count          int64  `json:"count"`
}

func matrixRuns(ctx context.Context, text PlanText) ([]MatrixRun, error) {
	if !bytes.Contains(text, []byte("matrix")) {
		return nil, nil
	}
	p, err := text.parse(ctx)
	if err != nil {
		return nil, err
	}
	return appendMatrixRuns(ctx, nil, "steps", p.Steps)
}

func appendMatrixRuns(ctx context.Context, found []MatrixRun, path string, steps []accountant.Step) ([]MatrixRun, error) {
	for i, s := range steps {
		at := fmt.Sprintf("%s[%d]", path, i)
		if r, ok := s.Mechanism.(*matrix.Run); ok {
			m := MatrixRun{Step: at, Name: s.Name}
			if err := m.describe(ctx, r); err != nil {
				return nil, err
			}
			found = append(found, m)
		}
		var err error
		if found, err = appendMatrixRuns(ctx, found, at+".steps", s.Steps); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (m *MatrixRun) describe(ctx context.Context, r *matrix.Run) error {
	bounds := func(s matrix.Sensitivity) (Ends, Number) {
		return Ends{Lower: Number(s.Lower), Upper: Number(s.Upper)}, Number(r.NoiseMultiplier() / s.Upper)
	}
	if !r.Config().Participation.Secret() {
		s, err := r.Sensitivity(ctx)
		if err != nil {
			return err
		}
		b, noise := bounds(s)
		m.Sensitivity, m.EffectiveNoise = &b, &noise
		return nil
	}
	blocks, group, err := r.Blocks(ctx)
	if err != nil || blocks == nil {
		return err
	}
	m.WorstGroup = &group
	for _, x := range blocks {
		b, noise := bounds(x.Norm)
		m.Blocks = append(m.Blocks, MatrixBlock{Norm: b, EffectiveNoise: noise, Count: x.Count})
	}
	return nil
}
