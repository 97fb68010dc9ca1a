package beam

// This file makes the labels of rows private: each once, however often it is drawn.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/labeldp"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[labelFieldFn]())
	beam.RegisterDoFn(reflect.TypeFor[labelCheckFn]())
	beam.RegisterDoFn(reflect.TypeFor[onceFn]())
	beam.RegisterDoFn(reflect.TypeFor[randomizeFn]())
	beam.RegisterDoFn(reflect.TypeFor[privateLineFn]())
	beam.RegisterDoFn(labelByID)
	beam.RegisterDoFn(designReport)
	beam.RegisterDoFn(priorLine)
	register.Emitter1[LabelRow]()
	register.Emitter1[PrivateRow]()
	register.Iter1[LabelRow]()
	beam.RegisterType(reflect.TypeFor[LabelRow]())
	beam.RegisterType(reflect.TypeFor[PrivateRow]())
}

// A LabelRow is an example. ID is its identity: no two rows have the same, and a row has the
// same whenever it is delivered. Group is public, and so is all of Line but the label.
type LabelRow struct {
	ID, Group string
	Label     float64
	Line      Line
}

// A PrivateRow is an example with its noisy label. Line is still that of the input: it holds
// the label, and is for those who write the row anew with the noisy one.
type PrivateRow struct {
	ID, Group string
	Label     float64
	Line      Line
}

// Labels are what RandomizeLabels returns: rows, rows that were refused, and one line that
// says how it was done and what to charge (none of no rows).
type Labels struct {
	Private, Dead, Report beam.PCollection
}

// RandomizeLabels releases one noisy version of the label of each row. What one label costs
// is the charge of the report, whatever workers do.
//
// A row whose label is not in the public set is refused. Of rows with the same ID one is
// released, the first in a fixed order, and the others are refused: which rows come out
// depends on the public IDs alone, and one label enters one release.
//
// Theorem: labeldp/pipeline.go; beam/key.go for the draws. Relation: one label replaced by
// another of the public set. Condition: IDs and groups do not depend on labels.
func RandomizeLabels(s beam.Scope, o LabelOptions, rows beam.PCollection) Labels {
	s = s.Scope("RandomizeLabels")
	good, bad := checked(s, o, rows)
	design := beam.ParDo(s, &designFn{o}, EstimatePrior(s, o, good))
	private := beam.ParDo(s, &randomizeFn{labelFn: labelFn{Options: o}}, good, beam.SideInput{Input: design})
	return Labels{private, bad, beam.ParDo(s, designReport, design)}
}

// checked returns rows with labels of the set, one for each ID, and the others.
func checked(s beam.Scope, o LabelOptions, rows beam.PCollection) (good, bad beam.PCollection) {
	good, bad = beam.ParDo2(s, &labelCheckFn{labelFn{Options: o}}, rows)
	if !o.UniqueIDs {
		var twice beam.PCollection
		good, twice = beam.ParDo2(s, &onceFn{}, beam.GroupByKey(s, beam.ParDo(s, labelByID, good)))
		bad = beam.Flatten(s, bad, twice)
	}
	return good, bad
}

// Prior is [EstimatePrior] alone, after the checks that RandomizeLabels makes: a line for
// WriteLines, and rows that were refused.
func Prior(s beam.Scope, o LabelOptions, rows beam.PCollection) (prior, dead beam.PCollection) {
	s = s.Scope("Prior")
	good, bad := checked(s, o, rows)
	return beam.ParDo(s, priorLine, EstimatePrior(s, o, good)), bad
}

func priorLine(text string) string { return sortable("", text) }

// LabelFields say where the fields of a label row are. Group and ID may be "": then there is
// one group, and rows are named by file and offset.
type LabelFields struct {
	Layout           Layout
	Label, Group, ID string
}

func (f LabelFields) layout() Layout { return f.Layout }

// Check reports whether the layout has the fields.
func (f LabelFields) Check() error {
	switch {
	case f.Layout.Format == Text && (f.Group != "" || f.ID != ""):
		return fault.New("format", "text has one field, and no group or id")
	case f.Layout.Format != Text && f.Label == "":
		return fault.New("column", "is missing; must be the field of the label")
	case f.Group != "" && f.Group == f.Label, f.ID != "" && f.ID == f.Label:
		return fault.New("column", "%q is the label, which is private; group and id must be public", f.Label)
	}
	return f.Layout.Check(f.Label, f.Group, f.ID)
}

// LabelRows reads rows from lines.
func LabelRows(s beam.Scope, f LabelFields, lines beam.PCollection) (rows, dead beam.PCollection) {
	return beam.ParDo2(s.Scope("LabelRows"), &labelFieldFn{fieldFn[LabelFields]{Fields: f}}, lines)
}

type labelFieldFn struct{ fieldFn[LabelFields] }

// ProcessElement reads one row.
func (fn *labelFieldFn) ProcessElement(_ context.Context, l Line, emit func(LabelRow), refuse func(Dead)) error {
	row := LabelRow{ID: l.id(), Line: l}
	rec, err := fn.reader.read(l.Text)
	if err == nil && fn.Fields.Group != "" {
		row.Group, err = rec.get(fn.Fields.Group)
	}
	if err == nil && fn.Fields.ID != "" {
		row.ID, err = rec.name(fn.Fields.ID)
	}
	if err == nil {
		var text string
		if text, err = rec.get(fn.Fields.Label); err == nil {
			if row.Label, err = decimal.Plain(strings.TrimSpace(text)); err != nil {
				err = fault.New("label", "%q is not a number", text)
			}
		}
	}
	if err != nil {
		refuse(l.dead(fault.Line(err.Error())))
		return nil
	}
	emit(row)
	return nil
}

// labelReader finds labels in the public set.
type labelReader struct {
	labels  []float64
	rounder labeldp.Rounded
	round   bool
	draws   *draws
}

func newLabelReader(ctx context.Context, o LabelOptions) (*labelReader, error) {
	r := &labelReader{labels: slices.Sorted(slices.Values(o.Labels)), round: o.Round}
	any, err := labeldp.RandomizedResponse(r.labels, 1) // any with these labels rounds alike
	if err != nil {
		return nil, err
	}
	r.rounder = labeldp.NewRounder(any)
	r.draws, err = o.Key.draws(ctx)
	return r, err
}

// check refuses what is not in the set, nor between two of it where that is allowed.
func (r *labelReader) check(y float64) error {
	first, last := r.labels[0], r.labels[len(r.labels)-1]
	if _, ok := slices.BinarySearch(r.labels, y); ok || r.round && y >= first && y <= last {
		return nil
	}
	if r.round {
		return fault.New("label", "%v is not in [%v, %v]", y, first, last)
	}
	return fault.New("label", "%v is not one of the %d labels in [%v, %v]", y, len(r.labels), first, last)
}

// index returns the index of the label of a row that was checked, rounded by draws for this
// purpose where it is between two.
func (r *labelReader) index(row LabelRow, purpose string) int {
	if i, ok := slices.BinarySearch(r.labels, row.Label); ok {
		return i
	}
	i, err := r.rounder.Round(row.Label, r.draws.of(purpose, row.ID, row.Group, bits(row.Label)))
	if err != nil { // the row was not checked
		panic(err)
	}
	return i
}

// bits is a number as part of what is drawn for.
func bits(x float64) string { return strconv.FormatUint(math.Float64bits(x+0), 16) }

// A labelFn is what the DoFns that look at labels have in common.
type labelFn struct {
	Options LabelOptions
	row     *labelReader
}

// Setup reads the key, in each of them, so that a run without one ends before any row.
func (fn *labelFn) Setup(ctx context.Context) (err error) {
	fn.row, err = newLabelReader(ctx, fn.Options)
	return err
}

type labelCheckFn struct{ labelFn }

// ProcessElement refuses labels outside of the public set.
func (fn *labelCheckFn) ProcessElement(r LabelRow, emit func(LabelRow), refuse func(Dead)) {
	if err := fn.row.check(r.Label); err != nil {
		refuse(r.Line.dead(err.Error()))
		return
	}
	emit(r)
}

func labelByID(r LabelRow) (string, LabelRow) { return r.ID, r }

type onceFn struct{}

// ProcessElement lets one of the rows with the same ID through. Which one is a function of
// the rows, the same in every retry.
func (fn *onceFn) ProcessElement(_ string, rows func(*LabelRow) bool, emit func(LabelRow), refuse func(Dead)) {
	var all []LabelRow
	for r := (LabelRow{}); rows(&r); {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b LabelRow) int {
		return cmp.Or(cmp.Compare(a.Line.File, b.Line.File), cmp.Compare(a.Line.Offset, b.Line.Offset),
			cmp.Compare(a.Group, b.Group), cmp.Compare(a.Label, b.Label), cmp.Compare(a.Line.Text, b.Line.Text))
	})
	for i, r := range all {
		if i == 0 {
			emit(r)
		} else {
			refuse(r.Line.dead(fmt.Sprintf("id: %d rows have the same; the first is released", len(all))))
		}
	}
}

type randomizeFn struct {
	labelFn
	text   string // the side input that design was read from
	digest string
	groups map[string]labeldp.Randomizer
}

// ProcessElement draws the noisy label of one row, as a function of the key, the design and
// the row.
func (fn *randomizeFn) ProcessElement(r LabelRow, text string, emit func(PrivateRow)) error {
	if text != fn.text || fn.text == "" {
		var d design
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			return err
		}
		seed := fn.row.draws.seed("design", text)
		fn.groups = map[string]labeldp.Randomizer{}
		for name, r := range d.Groups {
			var err error
			if fn.groups[name], err = labeldp.ReadRandomizer(r); err != nil {
				return err
			}
		}
		fn.text, fn.digest = text, string(seed[:])
	}
	m, ok := fn.groups[r.Group]
	if !ok {
		return fmt.Errorf("group: %q was not there when groups were counted", r.Group)
	}
	i := fn.row.index(r, "round")
	j := m.SampleIndex(i, fn.row.draws.of("label", fn.digest, r.ID, r.Group, bits(r.Label)))
	emit(PrivateRow{r.ID, r.Group, m.Outputs()[j], r.Line})
	return nil
}

func designReport(text string) string {
	var d design
	if err := json.Unmarshal([]byte(text), &d); err != nil { // it was written above
		panic(err)
	}
	report, err := json.Marshal(d.Report)
	if err != nil {
		panic(err)
	}
	return sortable("", string(report))
}

// PrivateLines writes the noisy label into the line of each row, for WriteLines.
func PrivateLines(s beam.Scope, f LabelFields, private beam.PCollection) beam.PCollection {
	return beam.ParDo(s.Scope("PrivateLines"), &privateLineFn{fieldFn[LabelFields]{Fields: f}}, private)
}

type privateLineFn struct{ fieldFn[LabelFields] }

// ProcessElement orders rows by file and offset, which does not depend on their labels.
func (fn *privateLineFn) ProcessElement(r PrivateRow, emit func(string)) error {
	rec, err := fn.reader.read(r.Line.Text)
	if err != nil {
		return err
	}
	emit(sortable(r.Line.id(), rec.with(fn.Fields.Label, strconv.FormatFloat(r.Label, 'g', -1, 64), true)))
	return nil
}
