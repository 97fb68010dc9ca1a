package accountant

import (
	"fmt"

	"github.com/dpaccountant/accountant/rdp"
)

// RDP returns the Rényi curve of the whole plan, an upper bound at every order
// under the plan's relation: the sum of the curves of its steps (rdp.Of). It is
// an error if a step has no Rényi bound.
//
// Rényi accounting is looser than Epsilon and Delta; it is for comparison, and
// for plans that go on adaptively through an rdp.Filter.
func (p *Plan) RDP() (rdp.Curve, error) {
	var curves []rdp.Curve
	var walk func(path string, steps []Step, count int64) error
	walk = func(path string, steps []Step, count int64) error {
		for i, s := range steps {
			at := fmt.Sprintf("%s[%d]", path, i)
			n := max(s.Count, 1)
			if err := checkCount(n); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			if n > maxRuns/count {
				return fmt.Errorf("%s.count: %d times %d is above 2^53", at, n, count)
			}
			n *= count
			if s.Mechanism == nil {
				if err := walk(at+".steps", s.Steps, n); err != nil {
					return err
				}
				continue
			}
			c, err := rdp.Of(s.Mechanism, s.Sampling, p.Neighbors)
			if err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			curves = append(curves, rdp.Repeat(c, n))
		}
		return nil
	}
	if err := walk("steps", p.Steps, 1); err != nil {
		return nil, err
	}
	return rdp.Compose(curves...), nil
}
