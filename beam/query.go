package beam

// This file answers a query of a table by groups: what package query does on one machine.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpaccountant/accountant/cmd/query"
	"github.com/dpaccountant/accountant/internal/fault"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[queryFieldFn]())
	beam.RegisterDoFn(reflect.TypeFor[queryBoundFn]())
	beam.RegisterDoFn(reflect.TypeFor[queryAddFn]())
	beam.RegisterDoFn(reflect.TypeFor[queryShowFn]())
	beam.RegisterDoFn(queryPersonOf)
	beam.RegisterDoFn(queryGroupOf)
	register.Emitter1[QueryRow]()
	register.Emitter2[string, query.Group]()
	beam.RegisterType(reflect.TypeFor[QueryRow]())
	beam.RegisterType(reflect.TypeFor[query.Group]())
}

// A QueryRow is a row of the table: whose it is, its group as a JSON list, what it adds, and which row it is.
type QueryRow struct {
	Person, Group, ID string
	Values            []int32
}

// QueryOptions are a query, what was paid for it (query.Price), and the key of its noise.
type QueryOptions struct {
	Query query.Query
	Paid  query.Paid
	Key   Key
}

// Query returns the rows of the answer, a line of CSV each for WriteLines, with query.Columns as header. Of each person the rows
// count that a draw of the key, the person and the row puts first, within the limits of the query. Relation: add-remove
// of one person.
func Query(s beam.Scope, o QueryOptions, rows beam.PCollection) beam.PCollection {
	s = s.Scope("Query")
	var groups beam.PCollection
	if o.Query.Person == "" {
		groups = beam.ParDo(s, &queryAddFn{Options: o}, beam.GroupByKey(s, beam.ParDo(s, queryGroupOf, rows)))
	} else {
		groups = beam.ParDo(s, &queryBoundFn{Options: o}, beam.GroupByKey(s, beam.ParDo(s, queryPersonOf, rows)))
	}
	var public []string
	for _, k := range o.Query.Keys {
		public = append(public, groupText(k))
	}
	if len(o.Query.Group) == 0 {
		public = []string{groupText(nil)}
	}
	if public != nil { // also the groups without a row
		groups = beam.Flatten(s, groups, beam.ParDo(s, &queryAddFn{Options: o}, beam.GroupByKey(s, beam.ParDo(s, queryGroupOf, beam.CreateList(s, emptyRows(public))))))
	}
	return beam.ParDo(s, &queryShowFn{Options: o}, beam.GroupByKey(s, groups))
}

// emptyRows has a row without values for each group.
func emptyRows(groups []string) (rows []QueryRow) {
	for _, g := range groups {
		rows = append(rows, QueryRow{Group: g})
	}
	return rows
}

func groupText(key []string) string {
	text, _ := json.Marshal(append([]string{}, key...)) // strings have always JSON
	return string(text)
}

func queryPersonOf(r QueryRow) (string, QueryRow) { return r.Person, r }
func queryGroupOf(r QueryRow) (string, QueryRow)  { return r.Group, r }

// queryAddFn sums the rows of a group.
type queryAddFn struct {
	Options QueryOptions
	reader  *query.Reader
}

// Setup makes the reader.
func (fn *queryAddFn) Setup() (err error) {
	fn.reader, err = query.NewReader(&fn.Options.Query)
	return err
}

// ProcessElement sums.
func (fn *queryAddFn) ProcessElement(group string, rows func(*QueryRow) bool, emit func(string, query.Group)) {
	var g query.Group
	for r := (QueryRow{}); rows(&r); r = (QueryRow{}) {
		if r.Values != nil {
			fn.reader.Add(&g, r.Values)
		}
	}
	emit(group, g)
}

// queryBoundFn keeps the rows of a person that count, and sums them by group.
type queryBoundFn struct {
	Options QueryOptions
	reader  *query.Reader
	draws   *draws
}

// Setup reads the key.
func (fn *queryBoundFn) Setup(ctx context.Context) (err error) {
	if fn.reader, err = query.NewReader(&fn.Options.Query); err == nil {
		fn.draws, err = fn.Options.Key.draws(ctx)
	}
	return err
}

// ProcessElement takes the rows of a person in the order of their draws. A person's rows are held in memory.
func (fn *queryBoundFn) ProcessElement(person string, rows func(*QueryRow) bool, emit func(string, query.Group)) {
	type drawn struct {
		at  [32]byte
		row QueryRow
	}
	var all []drawn
	for r := (QueryRow{}); rows(&r); r = (QueryRow{}) {
		all = append(all, drawn{fn.draws.seed("query bound", person, r.ID), r})
	}
	slices.SortFunc(all, func(a, b drawn) int { return cmp.Or(slices.Compare(a.at[:], b.at[:]), cmp.Compare(a.row.ID, b.row.ID)) })
	groups := map[string]*query.Group{}
	for i, d := range all {
		if i > 0 && d.row.ID == all[i-1].row.ID {
			continue // the same row again
		}
		g := groups[d.row.Group]
		if g == nil {
			if len(groups) == fn.Options.Query.PerPerson {
				continue
			}
			g = &query.Group{Persons: 1}
			groups[d.row.Group] = g
		}
		if g.Rows < int64(fn.Options.Query.PerGroup) {
			fn.reader.Add(g, d.row.Values)
		}
	}
	for name, g := range groups {
		emit(name, *g)
	}
}

// queryShowFn adds the noise.
type queryShowFn struct {
	Options QueryOptions
	shower  *query.Shower
	draws   *draws
	mark    string
}

// Setup reads the key.
func (fn *queryShowFn) Setup(ctx context.Context) (err error) {
	if fn.shower, err = fn.Options.Query.Shower(fn.Options.Paid); err != nil {
		return err
	}
	if fn.mark, err = fn.Options.mark(); err != nil {
		return err
	}
	fn.draws, err = fn.Options.Key.draws(ctx)
	return err
}

// mark names the query among the inputs of draws.
func (o QueryOptions) mark() (string, error) {
	text, err := json.Marshal(struct {
		Query query.Query
		Paid  query.Paid
	}{o.Query, o.Paid})
	return string(text), err
}

// ProcessElement adds the parts of a group and shows it, with draws of its name and its numbers.
func (fn *queryShowFn) ProcessElement(name string, parts func(*query.Group) bool, emit func(string)) error {
	var sum query.Group
	for g := (query.Group{}); parts(&g); g = (query.Group{}) {
		sum.Merge(g)
	}
	var key []string
	if err := json.Unmarshal([]byte(name), &key); err != nil {
		return err
	}
	row, shown, err := fn.shower.Show(key, sum, fn.draws.of("query", fn.mark, name, fmt.Sprint(sum)))
	if err != nil || !shown {
		return err
	}
	emit(sortable(name, joinCSV(row)))
	return nil
}

// QueryFields say where the fields of a row are.
type QueryFields struct {
	Layout Layout
	Query  query.Query
}

func (f QueryFields) layout() Layout { return f.Layout }

// Check reports whether the layout has the fields.
func (f QueryFields) Check() error {
	if f.Layout.Format == Text {
		return fault.New("format", "text has one field; a query is of columns")
	}
	fields := slices.Clone(f.Query.Group)
	if f.Query.Person != "" {
		fields = append(fields, f.Query.Person)
	}
	for _, m := range f.Query.Measures {
		if m.Column != "" && !slices.Contains(fields, m.Column) {
			fields = append(fields, m.Column)
		}
	}
	return f.Layout.Check(fields...)
}

// QueryRows reads rows from lines. Of public groups only rows in one of them are read.
func QueryRows(s beam.Scope, f QueryFields, lines beam.PCollection) (rows, dead beam.PCollection) {
	return beam.ParDo2(s.Scope("QueryRows"), &queryFieldFn{fieldFn: fieldFn[QueryFields]{Fields: f}}, lines)
}

type queryFieldFn struct {
	fieldFn[QueryFields]
	values *query.Reader
	public map[string]bool
}

// ProcessElement reads one row.
func (fn *queryFieldFn) ProcessElement(_ context.Context, l Line, emit func(QueryRow), refuse func(Dead)) error {
	q := &fn.Fields.Query
	if fn.values == nil {
		var err error
		if fn.values, err = query.NewReader(q); err != nil {
			return err
		}
		fn.public = map[string]bool{}
		for _, k := range q.Keys {
			fn.public[groupText(k)] = true
		}
	}
	row := QueryRow{ID: fmt.Sprintf("%s:%d", l.File, l.Offset)}
	rec, err := fn.reader.read(l.Text)
	if err == nil && q.Person != "" {
		row.Person, err = rec.name(q.Person)
	}
	key := make([]string, len(q.Group))
	for i, name := range q.Group {
		if err == nil {
			key[i], err = rec.get(name)
		}
	}
	row.Group = groupText(key)
	if err == nil && (q.Keys == nil || fn.public[row.Group]) {
		if row.Values, err = fn.values.Row(rec.get); err == nil {
			emit(row)
			return nil
		}
	}
	if err != nil {
		refuse(l.dead(fault.Line(err.Error())))
	}
	return nil
}
