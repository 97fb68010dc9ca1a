// Two compositions that differ in a few factors, such as those with laws above and below
// some profiles, share the columns of the others.
//
// It assumes that both have their factors in one order. It returns what the new columns took; nothing
// that is proved depends on whose columns they were.

package contour

import (
	"context"
	"errors"
	"reflect"
)

// Borrow gives c a table like the one that from used last: columns of equal transforms at
// the same places are shared, and the others are computed. It returns the terms that this
// took, at most work. Without such a table, or where it would take more, it does nothing.
// The certificate of c is made of its own columns alone, so that any table is sound.
func (c *Composition) Borrow(ctx context.Context, from *Composition, work int64) (int64, error) {
	if len(from.tables) == 0 || len(from.factors) != len(c.factors) {
		return 0, nil
	}
	old := from.tables[len(from.tables)-1]
	if len(old.columns) != len(c.factors) {
		return 0, nil
	}
	t := &table{plan: old.plan, lastGuess: old.lastGuess, columns: append([]column(nil), old.columns...)}
	var spent int64
	for i := range c.factors {
		f := c.factors[i].Transform
		if a, b := f, from.factors[i].Transform; !reflect.TypeOf(a).Comparable() || !reflect.TypeOf(b).Comparable() || a != b {
			// The transforms are alike: so is what they take.
			if spent += int64(old.columns[i].terms); spent > work {
				return 0, nil
			}
			line, err := t.line(ctx, f, nil, t.plan.last())
			var not *NotServed
			if errors.As(err, &not) {
				return spent, nil
			}
			if err != nil {
				return spent, err
			}
			t.columns[i] = newColumn(ctx, f, t.plan, line)
			if err := ctx.Err(); err != nil {
				return spent, err
			}
		}
		t.terms += t.columns[i].terms
	}
	t.sum(c)
	if len(c.tables) == keptTables {
		c.tables = append(c.tables[:0], c.tables[1:]...)
	}
	c.tables = append(c.tables, t)
	return spent, nil
}
