package subsample

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// sampleOf returns the law of a sample through all stages, by the sorted records, by enumerating every draw of every stage.
func sampleOf(population int, stages []Stage) map[string]float64 {
	law := map[string]float64{}
	var draw func(held []int, stages []Stage, p float64)
	draw = func(held []int, stages []Stage, p float64) {
		if len(stages) == 0 {
			slices.Sort(held)
			law[fmt.Sprint(held)] += p
			return
		}
		var pick func(left, got []int, size int64, p float64)
		pick = func(left, got []int, size int64, p float64) {
			if size == 0 {
				draw(slices.Clone(got), stages[1:], p)
				return
			}
			for i := range left {
				rest := left
				if stages[0].Distinct {
					rest = slices.Delete(slices.Clone(left), i, i+1)
				}
				pick(rest, append(slices.Clone(got), left[i]), size-1, p/float64(len(left)))
			}
		}
		pick(held, nil, stages[0].Size, p)
	}
	all := make([]int, population)
	for i := range all {
		all[i] = i
	}
	draw(all, stages, 1)
	return law
}

// Every list of up to four stages of a population of three has the law of what it collapses to, or is refused; those that
// are refused have the law of no scheme of one or two stages of the same last size.
func TestStagesByEnumeration(t *testing.T) {
	const n = 3
	law := func(s FixedSize) map[string]float64 {
		var stages []Stage
		switch s.(fixedSize).kind {
		case mustOW, mustWW:
			stages = append(stages, Stage{Size: s.Subset(), Distinct: s.(fixedSize).kind == mustOW})
		}
		return sampleOf(n, append(stages, Stage{Size: s.Batch(), Distinct: s.(fixedSize).kind == withoutReplacement}))
	}
	same := func(a, b map[string]float64) bool {
		for _, x := range []map[string]float64{a, b} {
			for k := range x {
				if math.Abs(a[k]-b[k]) > 1e-12 {
					return false
				}
			}
		}
		return true
	}
	kept, refused := 0, 0
	var try func(stages []Stage)
	try = func(stages []Stage) {
		if len(stages) > 0 {
			got, err := NewStages(n, stages)
			switch {
			case err == nil:
				if kept++; !same(law(got), sampleOf(n, stages)) {
					t.Errorf("%v: %+v has another law", stages, got)
				}
			case len(stages) > 2:
				if refused++; stages[0] == (Stage{Size: 2, Distinct: true}) && stages[1].Size == 3 {
					return // a coincidence of these small numbers: the two have the law of must-ww with a subset of 2
				}
				truth, last := sampleOf(n, stages), stages[len(stages)-1].Size
				for b := int64(1); b <= 3; b++ {
					if s := must(NewMustWW(n, b, last)); same(law(s), truth) {
						t.Errorf("%v is refused, and is %+v", stages, s)
					}
					if s := must(NewMustOW(n, b, last)); same(law(s), truth) {
						t.Errorf("%v is refused, and is %+v", stages, s)
					}
				}
				return // and so is what begins with it
			}
		}
		if len(stages) == 3 {
			return
		}
		held := int64(n)
		if len(stages) > 0 {
			held = stages[len(stages)-1].Size
		}
		for size := int64(1); size <= 3; size++ {
			for _, distinct := range []bool{true, false} {
				if !distinct || size <= held {
					try(append(slices.Clone(stages), Stage{Size: size, Distinct: distinct}))
				}
			}
		}
	}
	try(nil)
	if kept < 60 || refused < 10 {
		t.Errorf("%d lists have a scheme, %d are refused", kept, refused)
	}
}

func TestStagesRefuse(t *testing.T) {
	for _, c := range []struct {
		population int64
		stages     []Stage
		want       string
	}{
		{0, nil, "stages: population: 0 is not in [1, 1000000000000]"},
		{9, nil, "stages: stages: is an empty list, must have a stage"},
		{9, []Stage{{Size: 4}, {Size: 0}}, "stages: stages[1]: 0 is not in [1, 1000000000000]"},
		{9, []Stage{{Size: 4}, {Size: 5, Distinct: true}}, "stages: stages[1]: 5 distinct of 4 cannot be drawn"},
		{9, []Stage{{Size: 4, Distinct: true}, {Size: 5}, {Size: 6}}, "stages: stages[2]: draws with replacement after two stages that do not collapse: nothing is proved about three"},
	} {
		if _, err := NewStages(c.population, c.stages); err == nil || err.Error() != c.want {
			t.Errorf("%v: got %v, want %s", c.stages, err, c.want)
		}
	}
}
