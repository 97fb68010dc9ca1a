package beam

// This file keeps the keys that enough persons have, and hides the others.

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[partitionFieldFn]())
	beam.RegisterDoFn(reflect.TypeFor[boundFn]())
	beam.RegisterDoFn(reflect.TypeFor[keepFn]())
	beam.RegisterDoFn(partitionOf)
	register.Emitter1[PartitionRow]()
	register.Emitter2[string, int64]()
	beam.RegisterType(reflect.TypeFor[PartitionRow]())
}

// A PartitionRow says that a person is in a partition.
type PartitionRow struct{ Person, Partition string }

// PartitionOptions say how partitions are selected: each by truncated geometric selection,
// (Epsilon, Delta)-DP for a person who is in one of them.
type PartitionOptions struct {
	Epsilon, Delta float64
	// PerPerson is in how many partitions a person counts; it is as many runs.
	PerPerson int
	Key       Key
}

// Check reports what is wrong with the options, but for the key.
func (o PartitionOptions) Check() error {
	if o.PerPerson < 1 || o.PerPerson > choice.MaxPartitions {
		return fault.New("per-person", "%d is not in [1, %d]", o.PerPerson, choice.MaxPartitions)
	}
	_, err := choice.NewSelectPartitions(o.Epsilon, o.Delta, 1)
	return err
}

// Charge is what an accountant should compose.
func (o PartitionOptions) Charge() Charge {
	return Charge{"select-partitions", o.Epsilon, o.Delta, int64(o.PerPerson)}
}

// SelectPartitions returns the partitions that are kept, a JSON line each for WriteLines.
// How many persons they have is not shown.
//
// A person in more than PerPerson partitions counts in so many of them, chosen by that
// person's name and partitions, and the key, alone; a partition that a person is in twice
// counts once.
//
// Theorem: choice/keys.go (Theorem 5), PerPerson runs. Relation: one
// person added or removed.
func SelectPartitions(s beam.Scope, o PartitionOptions, rows beam.PCollection) beam.PCollection {
	s = s.Scope("SelectPartitions")
	byPerson := beam.GroupByKey(s, beam.ParDo(s, partitionOf, rows))
	counts := beam.CombinePerKey(s, addCounts, beam.ParDo(s, &boundFn{Options: o}, byPerson))
	return beam.ParDo(s, &keepFn{Options: o}, counts)
}

func partitionOf(r PartitionRow) (person, partition string) { return r.Person, r.Partition }

type boundFn struct {
	Options PartitionOptions
	draws   *draws
}

// Setup reads the key.
func (fn *boundFn) Setup(ctx context.Context) (err error) {
	fn.draws, err = fn.Options.Key.draws(ctx)
	return err
}

// ProcessElement keeps the partitions of a person whose draws are the smallest: a uniform
// sample, the same in every retry. A person's partitions are held in memory.
func (fn *boundFn) ProcessElement(person string, partitions func(*string) bool, emit func(string, int64)) {
	type drawn struct {
		at   [32]byte
		name string
	}
	var all []drawn
	met := map[string]bool{}
	for name := ""; partitions(&name); {
		if !met[name] {
			met[name] = true
			all = append(all, drawn{fn.draws.seed("bound", person, name), name})
		}
	}
	slices.SortFunc(all, func(a, b drawn) int { return cmp.Or(slices.Compare(a.at[:], b.at[:]), cmp.Compare(a.name, b.name)) })
	for _, d := range all[:min(len(all), fn.Options.PerPerson)] {
		emit(d.name, 1)
	}
}

type keepFn struct {
	Options PartitionOptions
	draws   *draws
	keep    choice.SelectPartitions
	mark    string
}

// Setup reads the key and makes the table of probabilities.
func (fn *keepFn) Setup(ctx context.Context) (err error) {
	if fn.draws, err = fn.Options.Key.draws(ctx); err != nil {
		return err
	}
	fn.mark = bits(fn.Options.Epsilon) + " " + bits(fn.Options.Delta)
	fn.keep, err = choice.NewSelectPartitions(fn.Options.Epsilon, fn.Options.Delta, 1)
	return err
}

// ProcessElement tosses the coin of one partition with its count.
func (fn *keepFn) ProcessElement(name string, n int64, emit func(string)) error {
	kept, err := fn.keep.Keep(n, fn.draws.of("keep", fn.mark, name, fmt.Sprint(n)))
	if err != nil || !kept {
		return err
	}
	text, err := service.Marshal(struct {
		Partition string `json:"partition"`
	}{name})
	emit(sortable(name, string(text)))
	return err
}

// PartitionFields say where the fields of a row are.
type PartitionFields struct {
	Layout            Layout
	Person, Partition string
}

func (f PartitionFields) layout() Layout { return f.Layout }

// Check reports whether the layout has the fields.
func (f PartitionFields) Check() error {
	if f.Layout.Format == Text {
		return fault.New("format", "text has one field; a person and a partition are two")
	}
	return f.Layout.Check(f.Person, f.Partition)
}

// PartitionRows reads rows from lines.
func PartitionRows(s beam.Scope, f PartitionFields, lines beam.PCollection) (rows, dead beam.PCollection) {
	return beam.ParDo2(s.Scope("PartitionRows"), &partitionFieldFn{fieldFn[PartitionFields]{Fields: f}}, lines)
}

type partitionFieldFn struct{ fieldFn[PartitionFields] }

// ProcessElement reads one row.
func (fn *partitionFieldFn) ProcessElement(_ context.Context, l Line, emit func(PartitionRow), refuse func(Dead)) error {
	var row PartitionRow
	rec, err := fn.reader.read(l.Text)
	if err == nil {
		row.Person, err = rec.name(fn.Fields.Person)
	}
	if err == nil {
		row.Partition, err = rec.get(fn.Fields.Partition)
	}
	if err != nil {
		refuse(l.dead(fault.Line(err.Error())))
		return nil
	}
	emit(row)
	return nil
}
