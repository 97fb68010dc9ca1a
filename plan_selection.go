package accountant

import (
	"strings"

	"github.com/dpaccountant/accountant/selection"
)

var selectionKeys = []string{"law", "mean", "gamma", "shape", "max", "cap"}

// parseSelection reads {law: geometric, mean: 10}: the law of the number of
// candidates that a private selection runs.
func parseSelection(n *node) (*selection.Config, error) {
	if n.kind != mapNode {
		return nil, n.errorf("%v is not a selection such as {law: geometric, mean: 10}", n)
	}
	if err := n.checkKeys(selectionKeys); err != nil {
		return nil, err
	}
	law, err := n.need("law", "geometric, logarithmic, negative-binomial, poisson, binomial or fixed")
	if err != nil {
		return nil, err
	}
	c := &selection.Config{}
	for _, f := range []struct {
		key  string
		text *string
	}{{"law", &c.Law}, {"cap", &c.Cap}} {
		if v := n.get(f.key); v != nil {
			if *f.text, err = v.name(); err != nil {
				return nil, err
			}
		}
	}
	for _, f := range []struct {
		key string
		x   *float64
	}{{"mean", &c.Mean}, {"gamma", &c.Gamma}, {"shape", &c.Shape}} {
		if v := n.get(f.key); v != nil {
			if *f.x, err = v.number(); err != nil {
				return nil, err
			}
		}
	}
	if v := n.get("max"); v != nil {
		if c.Max, err = v.whole(); err != nil {
			return nil, err
		}
	}
	if _, err := c.Build(); err != nil {
		// The law's own words: "mean: −1 is not in …".
		field, problem, ok := strings.Cut(err.Error(), ": ")
		if v := n.get(field); ok && v != nil {
			return nil, v.errorf("%s", problem)
		}
		if !ok || field != "law" {
			return nil, n.errorf("%s", err)
		}
		return nil, law.errorf("%s", problem)
	}
	return c, nil
}
