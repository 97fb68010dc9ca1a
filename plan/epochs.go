package plan

import (
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

// The schemes with a schedule for each epoch, of which a count is of epochs: random
// allocation and shuffled batches. Where the draw is kept for several epochs, the plan
// has to say for how many: a count would be of draws.

func randomAllocation(v *values) (subsample.Scheme, error) {
	s, err := allocation.NewRandom(int64(v.whole("steps")))
	if err == nil && v.has("uses") {
		s, err = s.WithUses(int64(v.whole("uses")))
	}
	if err == nil && v.has("first") {
		s, err = s.First(int64(v.whole("first")))
	}
	if err == nil {
		s, err = withEpochs(v, s, "each-epoch")
	}
	return s, err
}

// ballsInBins is random allocation under the name that libraries of matrix factorization
// give to the kind that is drawn once. As others mean the other kind, the plan says which.
func ballsInBins(v *values) (subsample.Scheme, error) {
	s, err := allocation.NewRandom(int64(v.whole("bins")))
	if err != nil {
		return s, fault.Rename(err, func(field string) string {
			if field == "steps" {
				return "bins"
			}
			return field
		})
	}
	return withEpochs(v, s, "")
}

func shuffle(v *values) (subsample.Scheme, error) {
	s, err := allocation.NewShuffle(int64(v.whole("batches")))
	if err == nil && v.has("unused") {
		s, err = s.WithUnused(v.number("unused"))
	}
	if err == nil {
		s, err = withEpochs(v, s, "each-epoch")
	}
	return s, err
}

// withEpochs reads redraw, which has a preset or must be there, and epochs, which must be
// there if the draw is kept.
func withEpochs[S interface {
	WithEpochs(int64, allocation.Redraw) (S, error)
}](v *values, s S, preset string) (S, error) {
	word := preset
	if v.has("redraw") {
		word = v.word("redraw")
	}
	redraw := allocation.EachEpoch
	switch {
	case v.err != nil:
		return s, nil
	case word == "once":
		redraw = allocation.Once
	case word == "":
		return s, fault.New("redraw", "is missing; must be each-epoch, where every record draws a bin anew for each epoch, or once, where it keeps it: that costs far more")
	case word != "each-epoch":
		return s, fault.New("redraw", "%s is not a way to redraw; %s", nearest.Quote(word), nearest.Hint(word, []string{"each-epoch", "once"}))
	}
	epochs := int64(1)
	switch {
	case v.has("epochs"):
		epochs = int64(v.whole("epochs"))
	case redraw == allocation.Once:
		return s, fault.New("epochs", "is missing; must be how many epochs one draw is kept for, and count that of draws, often 1")
	}
	if v.err != nil {
		return s, nil
	}
	return s.WithEpochs(epochs, redraw)
}
