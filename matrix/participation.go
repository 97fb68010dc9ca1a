package matrix

import (
	"fmt"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/subsample"
)

// A Participation is the schema: at which of the n steps one record may take part. The
// zero value is none.
type Participation struct {
	kind       participationKind
	separation int // steps from one participation to the next, at least
	times      int // participations, at most
	rate       float64
	delta      float64 // what is given up with Poisson sampling of every step
}

type participationKind int

const (
	noParticipation participationKind = iota
	single
	epochs
	minSeparation
	cyclicPoisson
	ballsInBins
	poisson
)

// Single is one participation at most, at any step.
func Single() Participation { return Participation{kind: single, times: 1} }

// Epochs is a fixed order that is run through k times: with n = k·b steps, a record takes
// part in steps j, j+b, j+2b, …, or some of them, for one j.
func Epochs(k int) (Participation, error) {
	if k < 1 {
		return Participation{}, fault.New("epochs", "%d is not an integer of at least 1", k)
	}
	return Participation{kind: epochs, times: k}, nil
}

// MinSeparation is any pattern of at most k participations, of which two are at least b
// steps apart.
func MinSeparation(b, k int) (Participation, error) {
	if b < 1 {
		return Participation{}, fault.New("min-separation", "%d is not an integer of at least 1", b)
	}
	if k < 1 {
		return Participation{}, fault.New("at-most", "%d is not an integer of at least 1", k)
	}
	return Participation{kind: minSeparation, separation: b, times: k}, nil
}

// CyclicPoisson is secret sampling: a record belongs to one of so many groups, as a
// function of the record alone; the groups take turns, and the record takes part in each
// turn of its group by a coin of its own with the given rate. C must be banded.
func CyclicPoisson(cycle int, rate float64) (Participation, error) {
	if cycle < 1 {
		return Participation{}, fault.New("cycle", "%d is not an integer of at least 1", cycle)
	}
	if err := subsample.CheckRate(rate); err != nil {
		return Participation{}, err
	}
	return Participation{kind: cyclicPoisson, separation: cycle, rate: rate}, nil
}

// BallsInBins is secret sampling: a record draws one of so many bins, uniformly and
// independently of all else, and takes part in steps j, j+bins, j+2·bins, … for its bin j.
// C must have no negative entries.
func BallsInBins(bins int) (Participation, error) {
	if bins < 1 {
		return Participation{}, fault.New("bins", "%d is not an integer of at least 1", bins)
	}
	return Participation{kind: ballsInBins, separation: bins}, nil
}

// Poisson is secret sampling: a record takes part in every step by a coin of its own with the
// given rate. C must be Toeplitz without negative coefficients. The bound is loose (Theorem M5
// of docs/matrix.md) and gives up the probability delta once for each run.
func Poisson(rate, delta float64) (Participation, error) {
	if err := subsample.CheckRate(rate); err != nil {
		return Participation{}, err
	}
	if !(delta >= 1e-200 && delta <= 0.5) {
		return Participation{}, fault.New("delta", "%v is not in [1e-200, 0.5]", delta)
	}
	return Participation{kind: poisson, rate: rate, delta: delta}, nil
}

// Secret reports whether the participations of a record must stay secret.
func (p Participation) Secret() bool {
	return p.kind == cyclicPoisson || p.kind == ballsInBins || p.kind == poisson
}

// String describes the schema.
func (p Participation) String() string {
	switch p.kind {
	case single:
		return "single"
	case epochs:
		return fmt.Sprintf("epochs: %d", p.times)
	case minSeparation:
		return fmt.Sprintf("min-separation: %d, at-most: %d", p.separation, p.times)
	case cyclicPoisson:
		return fmt.Sprintf("cyclic-poisson: cycle %d, rate %v", p.separation, p.rate)
	case ballsInBins:
		return fmt.Sprintf("balls-in-bins: %d", p.separation)
	case poisson:
		return fmt.Sprintf("poisson: rate %v, delta %v", p.rate, p.delta)
	}
	return "none"
}

// over returns the separation b and the number of participations k within n steps.
func (p Participation) over(n int) (b, k int) {
	switch p.kind {
	case epochs:
		return n / p.times, p.times
	case minSeparation:
		b = min(p.separation, n)
		return b, min(p.times, (n-1)/b+1)
	}
	return n, 1
}
