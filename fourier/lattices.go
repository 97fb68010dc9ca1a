// Questions to the lattice engine.

package fourier

import (
	"github.com/dpaccountant/accountant/fourier/internal/lattice"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// latticeEpsilon asks the lattices for ε(δ), to a relative width or the absolute one of the options.
func (s *Sum) latticeEpsilon(m *meter.Meter, relative, logDelta, logInf, floor, top float64) (Result, error) {
	a, err := s.lattices.Epsilon(m, lattice.Accuracy{Relative: relative, Absolute: s.opts.Absolute}, logDelta, logInf, floor, top)
	return ofLattices(a, err)
}

// latticeDelta asks the lattices for δ(ε).
func (s *Sum) latticeDelta(m *meter.Meter, eps, logInf float64) (Result, error) {
	a, err := s.lattices.Delta(m, lattice.Accuracy{Relative: s.opts.Relative}, eps, logInf)
	return ofLattices(a, err)
}

func ofLattices(a lattice.Answer, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	b := Budget{Discretization: a.Budget.Discretization, Truncation: a.Budget.Truncation, Aliasing: a.Budget.Aliasing, RoundOff: a.Budget.RoundOff}
	return Result{Lower: a.Lower, Estimate: a.Estimate, Upper: a.Upper, Budget: b, Engine: Lattice, Points: a.Points, Step: a.Step, Warnings: a.Warnings}, nil
}
