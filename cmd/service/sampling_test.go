package service

import (
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/slow"
)

// tenThousand is a comparison whose recursions take more than the default limit together, and one of them nothing but a refusal.
var tenThousand = SamplingRequest{Population: "10000", Subset: "118", Batch: "200", NoiseMultiplier: "4", Narrowing: Narrowing{"2000"}}

func compared(t *testing.T, q SamplingRequest) (map[string]Scheme, float64) {
	ctx := parallel.WithWork(t.Context(), math.Inf(1))
	all, err := Ask[Answers[SamplingAnswer]](ctx, New(nil), q)
	if err != nil || len(all.Results) != 1 || len(all.Results[0].Schemes) != 6 {
		t.Fatalf("%+v, %v", all, err)
	}
	a := all.Results[0]
	rows := map[string]Scheme{}
	for _, row := range a.Schemes {
		if rows[row.Scheme] = row; (row.Epsilon == nil) != (row.Scheme == "must-wo") { // its batch is larger than the subset
			t.Errorf("%s: %+v", row.Scheme, row)
		}
	}
	spent, _ := parallel.Work(ctx)
	return rows, spent
}

// TestSamplingWithinDefaults: a recursion takes no work that another scheme needs for its answer, and one that is too dear is
// not begun.
func TestSamplingWithinDefaults(t *testing.T) {
	slow.Test(t)
	without, with := tenThousand, tenThousand
	without.Recursion, with.Recursion = "0", "10000" // of 1000 runs beside blocks, too
	plain, _ := compared(t, without)
	rows, spent := compared(t, with)
	if limit := fourier.DefaultWork(1e-3); spent > 2*limit {
		t.Errorf("a limit of %g took %g", limit, spent)
	}
	for name, had := range plain {
		if got := rows[name]; had.Epsilon != nil && !(got.Epsilon.Lower >= had.Epsilon.Lower && got.Epsilon.Upper <= had.Epsilon.Upper && got.Epsilon.Upper < 30) {
			t.Errorf("%s: %v, without a recursion %v", name, *got.Epsilon, *had.Epsilon)
		}
	}
	if e := rows["without-replacement"].Epsilon; !(e.Lower >= 1.3296 && e.Upper <= 1.3338) {
		t.Errorf("not narrowed: %v", *e)
	}
	if w := rows["with-replacement"].Warnings; len(w) != 1 || !strings.Contains(w[0], parallel.ErrWork.Error()) {
		t.Errorf("a recursion that was not begun: %q", w)
	}
}

// TestSamplingLittleWork: with next to no work each scheme has its answer, and one warning.
func TestSamplingLittleWork(t *testing.T) {
	q := tenThousand
	q.Work = "100"
	rows, spent := compared(t, q)
	if spent > 200+3e7 {
		t.Errorf("a limit of 100 took %g", spent)
	}
	for name, row := range rows {
		if name != "must-wo" && len(row.Warnings) != 1 {
			t.Errorf("%s: %q", name, row.Warnings)
		}
		if name == "without-replacement" && !(row.Epsilon.Upper < 30) {
			t.Errorf("%s: %v", name, *row.Epsilon)
		}
	}
}
