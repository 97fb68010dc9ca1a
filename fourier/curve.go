package fourier

import (
	"context"

	"github.com/dpaccountant/accountant/profiles"
)

// Curve returns upper ends of δ of so many runs of p at points of ε from 0 to where it is at most rare. They lie densest
// near 0, where chords between them cost most.
func Curve(ctx context.Context, p profiles.Profile, runs int64, rare float64, points int) (x, up []float64, err error) {
	o := DefaultOptions()
	o.Laws = true // points so close together are what lattices are quick at
	sum := New(o)
	if err := sum.Add(p, runs); err != nil {
		return nil, nil, err
	}
	end, err := sum.Epsilon(ctx, min(rare, 0.5))
	if err != nil {
		return nil, nil, err
	}
	for i := range points + 1 {
		share := float64(i) / float64(points)
		at := end.Upper * share * (0.1 + 0.9*share*share)
		d, err := sum.Delta(ctx, at)
		if err != nil {
			return nil, nil, err
		}
		x, up = append(x, at), append(up, d.Upper)
		if end.Upper == 0 {
			break
		}
	}
	return x, up, nil
}
