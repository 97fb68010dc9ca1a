package service

import (
	"context"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/pate"
)

// This file publishes an upper bound on the cost of votes. It assumes that order, β, the noise,
// the confidence and δ were fixed without a look at the votes.

// PatePublishRequest asks for a bound on ε that may be published.
type PatePublishRequest struct {
	PateVotes
	Order      float64  `json:"order"`
	Beta       float64  `json:"beta"`
	Noise      float64  `json:"noise"`                // standard deviation, on the logarithm of the cost
	Confidence *float64 `json:"confidence,omitempty"` // 0.95
	// Seed is for tests: a known seed gives no privacy.
	Seed *uint64 `json:"seed,omitempty"`
	// Private asks for what must not be published, too.
	Private bool `json:"private,omitempty"`
}

// PatePublishAnswer is an upper bound on ε, wrong with a probability that was fixed in advance.
// All but Private, which is nil unless it was asked for, may be published.
type PatePublishAnswer struct {
	Epsilon    float64               `json:"published-epsilon"`
	Delta      float64               `json:"delta"`
	Confidence float64               `json:"confidence"`
	Order      float64               `json:"order"`
	Beta       float64               `json:"beta"`
	Noise      float64               `json:"noise"`
	RDP        float64               `json:"published-rdp"`
	NoiseCost  float64               `json:"noise-rdp"`
	Statement  string                `json:"statement"`
	Private    *PatePublishedPrivate `json:"not-safe-to-publish,omitempty"`

	Run *PateRun `json:"-"`
}

// PatePublishedPrivate depends on the private votes.
type PatePublishedPrivate struct {
	Cost     float64 `json:"rdp"`
	Smooth   float64 `json:"smooth-bound"`
	Distance int     `json:"distance"`
	Median   float64 `json:"median-epsilon"`
}

// What a published bound promises, and what it does not when its noise can be known.
const (
	pateStatement = "except with probability 1 − confidence over the noise, the labels and this number together are (published-epsilon, delta)-private at the data set that voted; all parameters were fixed before the votes were looked at"
	pateSeeded    = "not to be published: the noise is that of a known seed"
)

// PatePublish returns an upper bound on the cost of votes that may be published. Every call
// publishes anew.
func (s *Service) PatePublish(ctx context.Context, q PatePublishRequest) (*PatePublishAnswer, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	for _, x := range []struct {
		name string
		bad  bool
	}{{"answered", q.Answered != nil}, {"report", q.Report != ""}, {"price", q.Price != ""}, {"conversion", q.Conversion == "classic"}} {
		if x.bad {
			return nil, shape("%s is of no use to a bound that may be published", x.name)
		}
	}
	own := map[string]string{"orders[0]": "order"}
	r, err := q.run(ctx, []float64{q.Order})
	if err != nil {
		return nil, fieldFault(err, "", own)
	}
	p := pate.Publication{Order: q.Order, Beta: q.Beta, Noise: q.Noise, Confidence: 0.95}
	if q.Confidence != nil {
		p.Confidence = *q.Confidence
	}
	var src rand.Source // the operating system's
	if q.Seed != nil {
		src = rand.NewPCG(*q.Seed, 0)
	}
	x, err := r.Ledger.Publish(ctx, p, q.Delta, src)
	if err != nil {
		return nil, fieldFault(err, "", own)
	}
	out := &PatePublishAnswer{Epsilon: x.Epsilon, Delta: q.Delta, Confidence: p.Confidence, Order: p.Order, Beta: p.Beta, Noise: p.Noise, RDP: x.RDP,
		NoiseCost: x.NoiseCost, Statement: pateStatement, Run: r}
	if q.Seed != nil {
		out.Statement = pateSeeded
	}
	if y := x.Private; q.Private {
		out.Private = &PatePublishedPrivate{y.Cost, y.Smooth, y.Distance, y.Median}
	}
	return out, nil
}
