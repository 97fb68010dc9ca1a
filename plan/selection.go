package plan

// The key selection: how often a candidate is run of which the best is shown.

import "github.com/dpaccountant/accountant/selection"

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
	if _, err := n.need("law", "geometric, logarithmic, negative-binomial, poisson, binomial or fixed"); err != nil {
		return nil, err
	}
	v := &values{node: n}
	c := &selection.Config{Law: v.word("law"), Cap: v.wordOr("cap", ""), Mean: v.numberOr("mean", 0), Gamma: v.numberOr("gamma", 0),
		Shape: v.numberOr("shape", 0), Max: v.wholeOr("max", 0)}
	if v.err != nil {
		return nil, v.err
	}
	if _, err := c.Build(); err != nil {
		return nil, n.locate("selection", err)
	}
	return c, nil
}
