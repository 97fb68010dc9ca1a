package plan

// The mechanism matrix in plans: its strategies and schemas as keys.

import (
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/profiles"
)

// This file reads the mechanism matrix, whose strategy and participation have keys of
// their own: {square-root: {bands: 8}} and {min-separation: 100, at-most: 20}.

var matrixKeys = []string{"noise-multiplier", "steps", "strategy", "participation"}

func newMatrix(v *values) (profiles.Mechanism, error) {
	c := matrix.Config{NoiseMultiplier: v.number("noise-multiplier"), Steps: v.whole("steps")}
	c.Strategy = ask(v, "strategy", "identity, or a matrix such as {square-root: {bands: 8}}", func(n *node) (matrix.Strategy, error) {
		if n.isWord("identity") {
			return matrix.Identity(), nil
		}
		return parseEntry(n, "strategy", strategies(c.Steps))
	})
	c.Participation = ask(v, "participation", "a schema such as {min-separation: 100, at-most: 20}", parseParticipation)
	if v.err != nil {
		return nil, v.err
	}
	return matrix.New(c)
}

// strategies is the table of matrices for a number of steps.
func strategies(steps int) []entry[matrix.Strategy] {
	return []entry[matrix.Strategy]{
		{"square-root", []string{"bands"}, func(v *values) (matrix.Strategy, error) {
			return matrix.SquareRoot(v.wholeOr("bands", steps))
		}},
		{"toeplitz", []string{"coefficients"}, func(v *values) (matrix.Strategy, error) {
			return matrix.Toeplitz(v.list("coefficients"))
		}},
		{"blt", []string{"scales", "decays"}, func(v *values) (matrix.Strategy, error) {
			return matrix.BLT(v.list("scales"), v.list("decays"))
		}},
		{"tree", []string{"completion"}, func(v *values) (matrix.Strategy, error) {
			return matrix.Tree(v.node.get("completion") != nil && v.flag("completion")), nil
		}},
		{"banded", []string{"rows", "file"}, func(v *values) (matrix.Strategy, error) {
			if f := v.node.get("file"); f != nil && v.err == nil {
				v.err = f.errorf("is not read here; list the rows instead")
			}
			return matrix.Rows(ask(v, "rows", "a list of rows", (*node).rows))
		}},
	}
}

var (
	participationKeys = []string{"single", "epochs", "min-separation", "at-most", "cyclic-poisson", "poisson", "balls-in-bins"}
	coinEntry         = entry[matrix.Participation]{"poisson", []string{"rate", "delta"}, func(v *values) (matrix.Participation, error) {
		return matrix.Poisson(v.number("rate"), v.number("delta"))
	}}
	cyclicEntry = entry[matrix.Participation]{"cyclic-poisson", []string{"cycle", "rate"}, func(v *values) (matrix.Participation, error) {
		return matrix.CyclicPoisson(v.whole("cycle"), v.number("rate"))
	}}
)

// parseParticipation reads {single: true}, {epochs: 20}, {min-separation: 100, at-most: 20},
// {cyclic-poisson: {cycle: 8, rate: 0.05}}, {poisson: {rate: 0.01, delta: 1e-8}} or
// {balls-in-bins: 100}.
func parseParticipation(n *node) (p matrix.Participation, err error) {
	if n.kind != mapNode {
		return p, n.errorf("%v is not a schema such as {min-separation: 100, at-most: 20}", n)
	}
	if err := n.checkKeys(participationKeys); err != nil {
		return p, err
	}
	has := func(key string) bool { return n.get(key) != nil }
	schemas := 0
	for _, key := range []string{"single", "epochs", "min-separation", "cyclic-poisson", "poisson", "balls-in-bins"} {
		if has(key) {
			schemas++
		}
	}
	switch {
	case schemas == 0:
		return p, n.errorf("has no schema; must have one of single, epochs, min-separation, cyclic-poisson, poisson, balls-in-bins")
	case schemas > 1:
		return p, n.errorf("has more than one schema; must have one of single, epochs, min-separation, cyclic-poisson, poisson, balls-in-bins")
	case has("at-most") && !has("min-separation"):
		return p, n.get("at-most").errorf("is set without min-separation")
	case has("cyclic-poisson"):
		return cyclicEntry.parse(n.get("cyclic-poisson"))
	case has("poisson"):
		return coinEntry.parse(n.get("poisson"))
	}
	v := &values{node: n}
	switch {
	case has("single"):
		if !v.flag("single") && v.err == nil {
			return p, n.get("single").errorf("must be true, or left out")
		}
		p = matrix.Single()
	case has("balls-in-bins"):
		if p, err = matrix.BallsInBins(v.whole("balls-in-bins")); err != nil {
			err = fault.Rename(err, func(string) string { return "balls-in-bins" })
		}
	case has("epochs"):
		p, err = matrix.Epochs(v.whole("epochs"))
	default:
		p, err = matrix.MinSeparation(v.whole("min-separation"), v.whole("at-most"))
	}
	switch {
	case v.err != nil:
		return p, v.err
	case err != nil:
		return p, n.locate("participation", err)
	}
	return p, nil
}

// flag asks for true or false.
func (v *values) flag(key string) bool { return ask(v, key, "true or false", (*node).flag) }

func (n *node) flag() (bool, error) {
	if n.kind == scalarNode && (n.text == "true" || n.text == "false") {
		return n.text == "true", nil
	}
	return false, n.errorf("%v is not true or false", n)
}

// rows reads a list of lists of numbers.
func (n *node) rows() ([][]float64, error) {
	if n.kind != listNode {
		return nil, n.errorf("%v is not a list of rows", n)
	}
	rows := make([][]float64, len(n.items))
	for i, item := range n.items {
		var err error
		if rows[i], err = item.list(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
