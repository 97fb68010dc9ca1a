//go:build !training

package accountant

// What the best of a random number of runs costs, by package selection. The page's first module, which
// asks of training runs only, is built without it (best_training.go).

import (
	"context"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
)

// selectionAccuracy and selectionFloor say how finely the price of a selection
// is turned into a profile: chords cost at most this much ε, and log δ is
// followed down to this; what is left counts as +∞.
const (
	selectionAccuracy = 1e-3
	selectionFloor    = -60
)

func boundsOfBest(ctx context.Context, law selection.Law, r profiles.Relation, one *selection.Candidate) (profiles.Bounds, error) {
	return selection.PriceOfBest(law).Bounds(ctx, "selection", r, one, selectionAccuracy, selectionFloor)
}

func curveOfBest(law selection.Law, one rdp.Curve) (rdp.Curve, error) {
	return selection.PriceOfBest(law).Curve(context.Background(), one, nil)
}
