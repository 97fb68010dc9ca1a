package positive

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
)

// TestAnyWorkEnds: whatever is left of the work, grids are found. They have points where nothing was asked, too, so that those of
// wide laws are never as few as are always paid for.
func TestAnyWorkEnds(t *testing.T) {
	g, err := profiles.NewGaussian(0.3)
	if err != nil {
		t.Fatal(err)
	}
	for work := 1.0; work < 1e6; work *= 2 {
		p := &Program{}
		p.Power(p.Source(FromProfile{Profile: g}), 60)
		ctx := parallel.WithWork(t.Context(), work)
		if _, _, err := p.Run(ctx, Target{Delta: 1e-8, Relative: 0.1}); err != nil && err != parallel.ErrWork {
			t.Errorf("work %v: %v", work, err)
		}
	}
}
