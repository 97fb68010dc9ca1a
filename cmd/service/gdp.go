package service

import "context"

// This file answers how much Gaussian differential privacy a plan has.

// GDPRequest asks for μ at a tolerance, 1e-10 if left out.
type GDPRequest struct {
	Plan      PlanText `json:"plan"`
	Tolerance Decimal  `json:"tolerance,omitempty"`
	Limits
}

// GDPAnswer has the least μ for which no test has more power than under μ-GDP, plus the
// tolerance.
type GDPAnswer struct {
	Neighbors string `json:"neighbors"`
	// RecordsPerPerson is that of the unit; left out where it is one record.
	RecordsPerPerson int64  `json:"records-per-person,omitempty"`
	Tolerance        Number `json:"tolerance"`
	Mu               Bounds `json:"mu"`
	// Regret is the most by which μ-GDP overstates δ.
	Regret   Upper    `json:"regret"`
	Warnings []string `json:"warnings,omitempty"`
}

var toleranceSpan = span{lo: 0, hi: 1, openHi: true}

// Check reports what is wrong with all but the plan.
func (q GDPRequest) Check() error {
	if _, err := q.Tolerance.or(1e-10, "tolerance", toleranceSpan); err != nil {
		return err
	}
	_, err := q.options(context.Background())
	return err
}

// GDP returns μ at a tolerance.
func (s *Service) GDP(ctx context.Context, q GDPRequest) (GDPAnswer, error) {
	if err := q.Check(); err != nil {
		return GDPAnswer{}, err
	}
	tolerance, err := q.Tolerance.or(1e-10, "tolerance", toleranceSpan)
	if err != nil {
		return GDPAnswer{}, err
	}
	opts, err := q.options(ctx)
	if err != nil {
		return GDPAnswer{}, err
	}
	p, err := q.Plan.parse(ctx)
	if err != nil {
		return GDPAnswer{}, err
	}
	acct, err := newAccountant(ctx, p, opts)
	if err != nil {
		return GDPAnswer{}, err
	}
	g, err := acct.GDP(ctx, tolerance)
	return GDPAnswer{p.Neighbors.String(), severalRecords(p.Records()), Number(tolerance), rangeOf(g.Mu), Upper{Number(g.Regret)}, g.Warnings}, err
}
