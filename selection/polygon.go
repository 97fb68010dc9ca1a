// A bound as a profile: the convex polygon above it, whose pair of discrete laws
// composes with everything else.

package selection

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Discretize turns b into a privacy profile: a pair of discrete distributions
// whose δ(ε) is at least that of every mechanism that b bounds, for every ε.
// It is its own reverse, and composes with any other profile.
//
// b is evaluated at points chosen so that going from one to the next by a chord
// costs about accuracy in ε, from 0 to where log δ falls below logFloor or stops
// falling; beyond, δ stays as it is. 0 stands for an accuracy of 1e-4 and a floor
// of −740. The number of points grows with 1/√accuracy and with the floor: a few
// hundred for a floor of −60, a few thousand for −740.
//
// A bound is not the profile of any pair. The true profile, as a function of
// α = e^ε, is convex, so it lies below the lower convex envelope of b's values on
// the grid, extended to α < 1 by δ(α) = 1 − α + αδ(1/α). That polygon is the
// profile of a pair of discrete distributions: where its slope rises by q at α,
// Q has mass q and P mass αq at the loss log α, and its limit for α → ∞ is P's
// mass at +∞ (Doroshenko et al., PETS 2022, Section 4, "connect the dots").
//
// Once ctx is done, the error is that of ctx.
func (b Bound) Discretize(ctx context.Context, accuracy, logFloor float64) (*profiles.Discrete, error) {
	if accuracy == 0 {
		accuracy = 1e-4
	}
	if logFloor == 0 {
		logFloor = -740
	}
	if err := checkChords(accuracy, logFloor); err != nil {
		return nil, err
	}
	pts, err := b.until(ctx).grid(fineness{accuracy: accuracy, floor: logFloor, deep: logFloor}, nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return hullProfile(pts, pts)
}

func checkChords(accuracy, logFloor float64) error {
	if !(accuracy >= 1e-9 && accuracy <= 1) {
		return fault.New("accuracy", "%v is not in [1e-9, 1]", accuracy)
	}
	if !(logFloor >= -1e5 && logFloor < 0) {
		return fault.New("floor", "%v is not in [-1e5, 0)", logFloor)
	}
	return nil
}

const maxGrid = 1 << 17

// A gridPoint is a point of the polygon: log α, and δ.
type gridPoint struct{ eps, val float64 }

// maxGridEps is how far a bound is followed.
const maxGridEps = 1e4

// deepChord is how many times longer the way to a chord may be where log δ is below what a question is about.
const deepChord = 64

// grid walks from ε = 0 in steps h such that the chord is no more than accuracy
// to the right of the curve, which for a fall d of the logarithm is about h·d/8; where log δ is below deep,
// deepChord times as much. Where the bound
// has not fallen for 4 units it is looked for further falls in growing steps; if there are
// none, or it has no more values, it ends there. Where it is 1 everywhere, an infinite loss is certain as far as is known: 1 at ε = 0 is all.
func (b Bound) grid(f fineness, stretch func(eps float64) float64) ([]gridPoint, error) {
	at := func(eps, last float64) (float64, error) {
		d := b(eps)
		if math.IsNaN(d) || d > 0 {
			return 0, fault.New("candidate", "log δ(%v) = %v is not in [-Inf, 0]", eps, d)
		}
		return min(d, last), nil // a profile never rises
	}
	eps, h := 0.0, 1.0/64
	val, err := at(0, 0)
	if err != nil {
		return nil, err
	}
	pts := []gridPoint{newGridPoint(0, val)}
	fellAt, flat := 0.0, 0 // flat is how many points there were when it had not fallen for long; 0: it falls
	for val >= f.floor && eps < maxGridEps {
		if len(pts) > maxGrid {
			return nil, fault.New("accuracy", "%v takes more than %d points", f.accuracy, maxGrid)
		}
		next, err := at(eps+h, val)
		if err != nil && flat > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		off, most := h*(val-next)/8, f.accuracy
		if val < f.deep {
			most *= deepChord
		}
		if stretch != nil {
			most *= stretch(eps + h)
		}
		if off > most && h > most {
			h /= 2
			continue
		}
		eps += h
		if val-next > 1e-9 {
			fellAt, flat = eps, 0
		}
		val = next
		pts = append(pts, newGridPoint(eps, val))
		if eps-fellAt > 4 && flat == 0 {
			flat = len(pts)
		}
		if off < most/3 && (h < 1 || flat > 0) {
			h *= 1.5
		}
	}
	if val == 0 {
		return pts[:1], nil
	}
	if flat > 0 {
		pts = pts[:flat]
	}
	return pts, nil
}

// leastValue is where values end: chords of smaller ones would have no digits.
const leastValue = 1e-300

// newGridPoint returns the point (e^eps, e^logVal), with the value rounded up.
func newGridPoint(eps, logVal float64) gridPoint {
	if math.IsInf(logVal, -1) {
		return gridPoint{eps, 0}
	}
	return gridPoint{eps, min(1, max(leastValue, xmath.ExpUp(logVal)))}
}
