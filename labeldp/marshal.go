// Randomizers as JSON, for programs that design on one machine and draw on others.

package labeldp

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/strictjson"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// written is a randomizer in JSON. Its numbers are those of the randomizer: Go writes a
// float64 with as many digits as it takes to read it back.
type written struct {
	Name    string    `json:"name"`
	Epsilon float64   `json:"epsilon"`
	Labels  []float64 `json:"labels"`
	Atoms   []Atom    `json:"atoms"`
}

// MarshalJSON implements json.Marshaler: what the randomizer is made of.
func (r *Randomizer) MarshalJSON() ([]byte, error) {
	return json.Marshal(written{r.name, r.eps, r.labels, r.atoms})
}

// rowTolerance is how far the probabilities of a label may be from 1 in a randomizer that is
// read. Privacy does not depend on it (see [sampler]): what is missing goes to the pad.
const rowTolerance = 1e-6

// UnmarshalJSON implements json.Unmarshaler. The randomizer draws as the one that was
// written. It is ε-DP by its form, whatever the weights; weights that are no probabilities
// are refused.
func (r *Randomizer) UnmarshalJSON(text []byte) error {
	var w written
	if err := strictjson.Decode(text, &w); err != nil {
		return err
	}
	if err := checkEpsilon("epsilon", w.Epsilon); err != nil {
		return err
	}
	labels, _, err := normalizeLabels(w.Labels)
	if err != nil {
		return err
	}
	for i := range w.Labels {
		if len(labels) != len(w.Labels) || labels[i] != w.Labels[i] {
			return fault.New(fmt.Sprintf("labels[%d]", i), "%v is not above the one before", w.Labels[i])
		}
	}
	for i, a := range w.Atoms {
		field := fmt.Sprintf("atoms[%d]", i)
		switch {
		case math.IsNaN(a.Output) || math.IsInf(a.Output, 0):
			return fault.In(field, fault.New("output", "%v is not finite", a.Output))
		case !(a.Weight >= 0 && a.Weight <= 1):
			return fault.In(field, fault.New("weight", "%v is not in [0, 1]", a.Weight))
		case a.Up != nil && len(a.Up) != len(labels):
			return fault.In(field, fault.New("up", "has %d entries, must have as many as labels (%d)", len(a.Up), len(labels)))
		}
	}
	e := xmath.Down(math.Exp(w.Epsilon), 2)
	for i := range labels {
		var sum xmath.Sum
		for _, a := range w.Atoms {
			if a.Up != nil && a.Up[i] {
				sum.Add(a.Weight * e)
			} else {
				sum.Add(a.Weight)
			}
		}
		if !(math.Abs(sum.Value()-1) <= rowTolerance) {
			return fault.New("atoms", "have probability %v of label %v, must have 1", sum.Value(), labels[i])
		}
	}
	*r = *newRandomizer(w.Name, labels, w.Epsilon, w.Atoms)
	return nil
}
