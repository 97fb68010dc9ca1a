package service

import (
	"context"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/pate"
)

// This file sanitizes the cost of votes, so that it may be published, as an estimate.
// It assumes that order, β, σ and δ were fixed without a look at the votes.

// PateSmoothRequest asks for a sanitized ε.
type PateSmoothRequest struct {
	PateVotes
	Order    float64  `json:"order"`
	Beta     float64  `json:"beta"`
	Sigma    *float64 `json:"sigma-ss,omitempty"`
	Optimise bool     `json:"optimise,omitempty"`
	GNSS     string   `json:"gnss,omitempty"` // exact or paper
	// Seed is for tests: a known seed gives no privacy.
	Seed *uint64 `json:"seed,omitempty"`
	// Private asks for what must not be published, too; Optimise needs it.
	Private bool `json:"private,omitempty"`
}

// PateSmoothAnswer is a sanitized ε, or why there is none. All but Private, which is nil unless
// it was asked for, and a σ that was optimised may be published.
type PateSmoothAnswer struct {
	Delta   float64       `json:"delta"`
	Order   float64       `json:"order"`
	Beta    float64       `json:"beta"`
	Sigma   float64       `json:"sigma-ss"`
	GNSS    string        `json:"gnss"`
	Report  string        `json:"report"`
	Epsilon *float64      `json:"sanitized-epsilon"`
	Why     string        `json:"why-none,omitempty"`
	Private *PatePrivates `json:"not-safe-to-publish,omitempty"`
	IsBound bool          `json:"sanitized-epsilon-is-a-bound"` // never: the noise is symmetric

	Run *PateRun `json:"-"`
}

// PatePrivates depend on the private votes.
type PatePrivates struct {
	Cost     float64 `json:"rdp"`
	GNSSCost float64 `json:"gnss-rdp"`
	Bound    bool    `json:"bound"`
	Fixed    float64 `json:"fixed-epsilon"`
	Smooth   float64 `json:"smooth-sensitivity"`
	Distance int     `json:"distance"`
	StdDev   float64 `json:"noise-standard-deviation"`
}

// Check reports what is wrong with all but the votes and what goes with them.
func (q PateSmoothRequest) Check() error {
	if err := q.CheckNoise(); err != nil {
		return err
	}
	return q.PateVotes.Check()
}

// CheckNoise reports what is wrong with the noise that sanitizes.
func (q PateSmoothRequest) CheckNoise() error {
	switch {
	case q.Sigma != nil && q.Optimise:
		return shape("%s excludes %s", "optimise", "sigma-ss")
	case q.Sigma == nil && !q.Optimise:
		return shape("missing %s (or %s)", "sigma-ss", "optimise")
	case q.Optimise && !q.Private:
		return shape("%s needs %s: what it finds depends on the private votes", "optimise", "private")
	}
	switch q.GNSS {
	case "", "exact", "paper":
	default:
		return oneOf("gnss", q.GNSS, "exact", "paper")
	}
	return nil
}

// PateSmooth sanitizes the cost of votes. Every call publishes anew.
func (s *Service) PateSmooth(ctx context.Context, q PateSmoothRequest) (*PateSmoothAnswer, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	own := map[string]string{"orders[0]": "order", "rounds[0]": ""}
	if q.Price != "" && q.Price != pate.Theorem6.String() {
		return nil, oneOf("price", q.Price, pate.Theorem6.String())
	}
	q.Price = pate.Theorem6.String()
	r, err := q.run(ctx, []float64{q.Order})
	if err != nil {
		return nil, fieldFault(err, "", own)
	}
	sens, err := r.Ledger.NewSensitivity(ctx, q.Order, r.Report, r.transcript(r.Report))
	if err != nil {
		return nil, fieldFault(err, "", own)
	}
	out, err := q.answer(r, sens)
	return out, fieldFault(err, "rounds[0]", own)
}

func (q PateSmoothRequest) answer(r *PateRun, s *pate.Sensitivity) (*PateSmoothAnswer, error) {
	gnss := q.GNSS
	if gnss == "" {
		gnss = "exact"
	}
	ss, distance, err := s.Smooth(q.Beta)
	if err != nil {
		return nil, err
	}
	out := &PateSmoothAnswer{Delta: q.Delta, Order: q.Order, Beta: q.Beta, GNSS: gnss, Report: r.Report.String(), Run: r}
	if q.Sigma != nil {
		out.Sigma = *q.Sigma
	}
	p, noise := new(PatePrivates), pate.GNSS{Order: q.Order, Beta: q.Beta}
	if q.Private {
		out.Private = p
	}
	p.Cost, p.Smooth, p.Distance = s.Cost, ss, distance
	if q.Optimise {
		choose := noise.OptimalSigma
		if gnss == "paper" {
			choose = noise.PrintedSigma
		}
		if ss == 0 {
			return nil, fault.New("optimise", "the smooth sensitivity is 0, so that no noise is needed: publish the data-independent ε")
		}
		if out.Sigma, err = choose(ss); err != nil {
			return nil, err
		}
	}
	p.StdDev = ss * out.Sigma
	if gnss == "paper" {
		var proved bool
		if p.GNSSCost, proved, err = noise.PrintedNotABound(out.Sigma); err != nil {
			return nil, err
		}
		p.Bound = proved && s.Bound
		out.Why = "the cost of the noise is Theorem 23 as printed"
	} else {
		if p.GNSSCost, err = noise.RDP(out.Sigma); err != nil {
			return nil, err
		}
		p.Bound = s.Bound
	}
	if p.Fixed, err = r.conversion.EpsilonAt(q.Order, p.Cost+p.GNSSCost, q.Delta); err != nil {
		return nil, err
	}
	switch {
	case out.Why != "":
	case q.Optimise:
		out.Why = "the noise scale was chosen by looking at the votes"
	case !s.Bound && r.Report == pate.Realised:
		out.Why = "which queries were answered is random, so that their cost is no bound: leave answered out"
	case !s.Bound:
		out.Why = "the expected cost is not a bound"
	default:
		var src rand.Source // the operating system's
		if q.Seed != nil {
			src = rand.NewPCG(*q.Seed, 0)
		}
		z, err := pate.Sanitize(q.Delta, r.conversion, src, pate.Round{Sensitivity: s, Beta: q.Beta, Sigma: out.Sigma})
		if err != nil {
			return nil, err
		}
		out.Epsilon = &z.Epsilon
	}
	return out, nil
}
