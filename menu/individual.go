package menu

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// An Individual keeps a budget of a menu for each record by itself: a record takes part in a step only if what it has spent and the cost
// of its own type are within the budget, and leaves when it is not. The type of a record is that of the pair "with and without it" of the step, for every set
// of other records and every α > 0; it may depend on the outputs so far and on the record, such as on its clipped norm.
//
// Then the transcript costs each record what the menu says, in both directions (docs/theory/adaptive.md, Theorem 4), if
//   - a record that is out is treated as the neighbour treats it: under add-remove neither summed nor drawn; under zero-out
//     as an empty place, which goes on being drawn where places are drawn, and contributes nothing;
//   - sums are divided by public constants, and the end of the run is a function of the transcript;
//   - which records are in, their number, and all that is spent, which depends on the records, stay secret.
//
// It is not safe for use by several goroutines.
type Individual struct {
	menu  *Menu
	short []uint16 // what is spent, where the budget fits
	long  []uint32
}

// Individual returns budgets of so many records of which none has spent anything: 2 bytes each for a menu of up to 65,535 units,
// else 4. Substitution is refused, as two records leave at different times; so are samplers that draw places under zero-out unless
// emptyPlaces says that a record that is out keeps its place.
func (m *Menu) Individual(records int, r profiles.Relation, drawsPlaces, emptyPlaces bool) (*Individual, error) {
	switch {
	case records < 1 || records > 1<<34:
		return nil, fault.New("records", "%d is not in [1, 2^34]", records)
	case r != profiles.AddRemove && r != profiles.ZeroOut:
		return nil, fault.New("neighbors", "%v is not one of add-remove, zero-out: two records that are substituted would leave at different times", r)
	case r == profiles.ZeroOut && drawsPlaces && !emptyPlaces:
		return nil, fault.New("sampling", "draws places, so that under zero-out a record that is out must keep its place, and contribute nothing")
	}
	x := &Individual{menu: m}
	if m.opts.Units <= math.MaxUint16 {
		x.short = make([]uint16, records)
	} else {
		x.long = make([]uint32, records)
	}
	return x, nil
}

// Records returns how many records there are.
func (x *Individual) Records() int { return len(x.short) + len(x.long) }

// None is the type of a record that does not take part in a step, of which nothing is spent.
const None = -1

// Spend charges a step: types[i] is the index of the type of record records[i], in the order of Menu.Types, or None. takes[i] is set to whether that record
// takes part. A record may be named once a step; nil records stand for all, in their order. Nothing is spent on an error.
func (x *Individual) Spend(records []int, types []int8, takes []bool) error {
	if records == nil && len(types) != x.Records() {
		return fault.New("types", "has %d entries, must have one for each of %d records", len(types), x.Records())
	}
	if records != nil && len(types) != len(records) || len(takes) != len(types) {
		return fault.New("types", "has %d entries for %d records and %d places for answers", len(types), len(records), len(takes))
	}
	costs := make([]uint32, len(x.menu.types)+1) // that of None is 0
	for i, t := range x.menu.types {
		costs[i+1] = uint32(t.Cost)
	}
	for i, t := range types {
		if t < None || int(t) >= len(x.menu.types) {
			return fault.New(fmt.Sprintf("types[%d]", i), "%d is not in [-1, %d]", t, len(x.menu.types)-1)
		}
		if records != nil && (records[i] < 0 || records[i] >= x.Records()) {
			return fault.New(fmt.Sprintf("records[%d]", i), "%d is not in [0, %d]", records[i], x.Records()-1)
		}
	}
	budget := uint32(x.menu.opts.Units)
	for i, t := range types {
		r := i
		if records != nil {
			r = records[i]
		}
		cost := costs[t+1]
		spent := x.spent(r)
		// spent is at most the budget, so that the difference does not wrap, and neither does the sum.
		if takes[i] = t != None && cost <= budget-spent; takes[i] {
			x.set(r, spent+cost)
		}
	}
	return nil
}

func (x *Individual) spent(r int) uint32 {
	if x.short != nil {
		return uint32(x.short[r])
	}
	return x.long[r]
}

func (x *Individual) set(r int, spent uint32) {
	if x.short != nil {
		x.short[r] = uint16(min(spent, math.MaxUint16))
	} else {
		x.long[r] = spent
	}
}

// Spent returns the units that a record has spent. It depends on the record, and may be shown to nobody but whom the record is about.
func (x *Individual) Spent(record int) (int, error) {
	if record < 0 || record >= x.Records() {
		return 0, fault.New("record", "%d is not in [0, %d]", record, x.Records()-1)
	}
	return int(x.spent(record)), nil
}

// Proof (docs/theory/adaptive.md §2): Theorem 4.
//
// Given a history, the others' spends are functions of it and of themselves, alike on both sides. While x takes part,
// the step is one of its type. A record that is out is treated as the neighbour treats it from the start: under
// add-remove as absent, neither summed nor in any pool; under zero-out as an empty place that keeps its place, which
// goes on being drawn and contributes nothing. Then all later outputs have equal laws. So x's types are those of an
// analyst. ∎
