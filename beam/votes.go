package beam

// This file counts the votes of teachers, labels queries by them (PATE), and accounts for
// the labels.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/ballot"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[voteFieldFn]())
	beam.RegisterDoFn(reflect.TypeFor[tallyFn]())
	beam.RegisterDoFn(reflect.TypeFor[voteFn]())
	beam.RegisterDoFn(reflect.TypeFor[voteCostFn]())
	beam.RegisterDoFn(voteByQuery)
	register.Emitter1[VoteRow]()
	register.Emitter1[Tally]()
	register.Iter1[VoteRow]()
	register.Iter1[Tally]()
	beam.RegisterType(reflect.TypeFor[VoteRow]())
	beam.RegisterType(reflect.TypeFor[Tally]())
}

// A VoteRow is the prediction of one teacher for one query. Queries are public.
type VoteRow struct {
	Query, Teacher string
	Class          int
	Line           Line
}

// A Tally is the histogram of a query, as private as the votes.
type Tally struct {
	Query string
	Votes []int64
}

// VoteOptions say how queries are labelled and what is asked about the cost.
type VoteOptions struct {
	Classes  int
	Teachers int64 // the number of teachers; queries may have fewer votes
	// Request is that of `accountant pate analyze`, without votes. The mechanism is gnmax,
	// confident or lnmax.
	Request service.PateRequest
	Key     Key
}

// maxClasses and maxVoteCells bound what is held in memory: the votes of a query, and the
// table of all queries.
const (
	maxClasses   = 1 << 16
	maxVoteCells = 1 << 27
)

// Check reports what is wrong with the options, but for the key.
func (o VoteOptions) Check() error {
	if err := ballot.CheckTeachers(o.Teachers); err != nil {
		return err
	}
	if o.Classes < 2 || o.Classes > maxClasses {
		return fault.New("classes", "%d is not in [2, %d]", o.Classes, maxClasses)
	}
	if err := service.Check(&o.Request); err != nil {
		return err
	}
	_, err := o.aggregator()
	return err
}

// aggregator returns what labels a query.
func (o VoteOptions) aggregator() (pate.Aggregator, error) {
	q := o.Request
	switch q.Mechanism {
	case "gnmax":
		return pate.NewGNMax(*q.Sigma2)
	case "lnmax":
		return pate.NewLNMax(*q.Gamma)
	case "confident":
		return pate.NewConfident(*q.Threshold, *q.Sigma1, *q.Sigma2)
	}
	return nil, fault.New("mechanism", "%q is not gnmax, confident or lnmax", q.Mechanism)
}

// Voted are what Votes returns: one line for each query with its label, one line with the
// cost of all, and rows that were refused.
type Voted struct{ Answers, Cost, Dead beam.PCollection }

// Votes labels every query by the noisy votes of its teachers, and accounts for all labels
// as `accountant pate analyze` does. Both are for WriteLines. The cost depends on the votes:
// of it only the data-independent ε may be published. The table of votes is held in memory
// on one worker.
//
// A teacher has one vote on a query: of several the first in a fixed order counts, and the
// others are refused.
//
// Relation: one training example changed, so that one teacher's votes move. Condition:
// every row of a teacher depends on that teacher's examples alone.
func Votes(s beam.Scope, o VoteOptions, rows beam.PCollection) Voted {
	s = s.Scope("Votes")
	tallies, dead := beam.ParDo2(s, &tallyFn{o}, beam.GroupByKey(s, beam.ParDo(s, voteByQuery, rows)))
	answers := beam.ParDo(s, &voteFn{Options: o}, tallies)
	cost := beam.ParDo(s, &voteCostFn{o}, beam.Impulse(s), beam.SideInput{Input: tallies})
	return Voted{answers, cost, dead}
}

func voteByQuery(r VoteRow) (string, VoteRow) { return r.Query, r }

type tallyFn struct{ Options VoteOptions }

// ProcessElement counts the votes on one query. Which rows count depends on classes only
// where one teacher has several, all of which are that teacher's.
func (fn *tallyFn) ProcessElement(query string, rows func(*VoteRow) bool, emit func(Tally), refuse func(Dead)) {
	o := fn.Options
	var all []VoteRow
	for r := (VoteRow{}); rows(&r); {
		if r.Class < 0 || r.Class >= o.Classes {
			refuse(r.Line.dead(fault.New("class", "%d is not in [0, %d]", r.Class, o.Classes-1).Error()))
			continue
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b VoteRow) int {
		return cmp.Or(cmp.Compare(a.Teacher, b.Teacher), cmp.Compare(a.Line.File, b.Line.File), cmp.Compare(a.Line.Offset, b.Line.Offset), cmp.Compare(a.Class, b.Class))
	})
	votes, teachers := make([]int64, o.Classes), int64(0)
	for i, r := range all {
		switch {
		case i > 0 && all[i-1].Teacher == r.Teacher:
			refuse(r.Line.dead("teacher: has voted on this query before"))
		case teachers == o.Teachers:
			refuse(r.Line.dead(fmt.Sprintf("teacher: %d others have voted on this query, which are all", teachers)))
		default:
			votes[r.Class]++
			teachers++
		}
	}
	if teachers > 0 {
		emit(Tally{query, votes})
	}
}

type voteFn struct {
	Options    VoteOptions
	draws      *draws
	aggregator pate.Aggregator
	mark       string
}

// Setup reads the key.
func (fn *voteFn) Setup(ctx context.Context) (err error) {
	if fn.draws, err = fn.Options.Key.draws(ctx); err != nil {
		return err
	}
	q := fn.Options.Request
	mark, err := json.Marshal([]any{q.Mechanism, q.Sigma1, q.Sigma2, q.Threshold, q.Gamma})
	if err != nil {
		return err
	}
	fn.mark = string(mark)
	fn.aggregator, err = fn.Options.aggregator()
	return err
}

// ProcessElement labels one query, by noise that is drawn for this query with these votes.
func (fn *voteFn) ProcessElement(t Tally, emit func(string)) error {
	a, err := fn.aggregator.Label(t.Votes, 0, nil, fn.draws.of("votes", fn.mark, t.Query, fmt.Sprint(t.Votes)))
	if err != nil {
		return fmt.Errorf("query %q: %w", t.Query, err)
	}
	line, err := service.Marshal(struct {
		Query    string `json:"query"`
		Answered bool   `json:"answered"`
		Class    int    `json:"class"`
	}{t.Query, a.Answered, a.Class})
	emit(sortable(t.Query, string(line)))
	return err
}

type voteCostFn struct{ Options VoteOptions }

// ProcessElement accounts for all queries, in the order of their names.
func (fn *voteCostFn) ProcessElement(ctx context.Context, _ []byte, tallies func(*Tally) bool, emit func(string)) error {
	var all []Tally
	for t := (Tally{}); tallies(&t); t = (Tally{}) {
		if all = append(all, t); len(all) > maxVoteCells/fn.Options.Classes {
			return fault.New("queries", "more than %d of %d classes: their table is larger than %d numbers", len(all)-1, fn.Options.Classes, maxVoteCells)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b Tally) int { return cmp.Compare(a.Query, b.Query) })
	rows := make([][]int64, len(all))
	for i, t := range all {
		rows[i] = t.Votes
	}
	q := fn.Options.Request
	var err error
	if q.Table, err = ballots.NewVotes(rows, fn.Options.Teachers); err != nil {
		return err
	}
	a, err := service.Ask[service.Answers[service.PateAnswer]](ctx, service.New(nil), q)
	if err != nil {
		return err
	}
	text, err := service.Marshal(a.Results[0])
	emit(sortable("", string(text)))
	return err
}

// VoteFields say where the fields of a vote are.
type VoteFields struct {
	Layout                Layout
	Query, Teacher, Class string
}

func (f VoteFields) layout() Layout { return f.Layout }

// Check reports whether the layout has the fields.
func (f VoteFields) Check() error {
	if f.Layout.Format == Text {
		return fault.New("format", "text has one field; votes have three")
	}
	return f.Layout.Check(f.Query, f.Teacher, f.Class)
}

// VoteRows reads rows from lines.
func VoteRows(s beam.Scope, f VoteFields, lines beam.PCollection) (rows, dead beam.PCollection) {
	return beam.ParDo2(s.Scope("VoteRows"), &voteFieldFn{fieldFn[VoteFields]{Fields: f}}, lines)
}

type voteFieldFn struct{ fieldFn[VoteFields] }

// ProcessElement reads one row.
func (fn *voteFieldFn) ProcessElement(_ context.Context, l Line, emit func(VoteRow), refuse func(Dead)) error {
	row := VoteRow{Line: l}
	rec, err := fn.reader.read(l.Text)
	if err == nil {
		row.Query, err = rec.name(fn.Fields.Query)
	}
	if err == nil {
		row.Teacher, err = rec.name(fn.Fields.Teacher)
	}
	var class string
	if err == nil {
		class, err = rec.get(fn.Fields.Class)
	}
	if err == nil {
		if row.Class, err = strconv.Atoi(class); err != nil || row.Class > math.MaxInt32 {
			err = fault.New("class", "%q is not a whole number", class)
		}
	}
	if err != nil {
		refuse(l.dead(fault.Line(err.Error())))
		return nil
	}
	emit(row)
	return nil
}
