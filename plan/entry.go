package plan

import (
	"context"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/profiles"
)

// An entry is something that a plan names, with its parameters: {name: {key: value, …}}.
type entry[T any] struct {
	name string
	keys []string // every key that build asks for
	// build makes it of the parameters. It may be called with zeros in place of what
	// could not be read; what it returns then is not used.
	build func(*values) (T, error)
}

// values are the parameters of an entry, read as they are asked for. The first that is
// missing or wrong is in err; what is asked for from then on is zero.
type values struct {
	node *node // a mapping
	err  error
	// asked is given, if it is set, every key that is asked for and what must be there.
	asked func(key, what string)
}

func (v *values) number(key string) float64 { return ask(v, key, "a number", (*node).number) }
func (v *values) whole(key string) int      { return ask(v, key, "a whole number", (*node).whole) }
func (v *values) list(key string) []float64 { return ask(v, key, "a list of numbers", (*node).list) }
func (v *values) word(key string) string    { return ask(v, key, "a word", (*node).word) }

// has reports whether a key is there.
func (v *values) has(key string) bool { return v.node.get(key) != nil }

// withL2 returns a mechanism on a query whose L2 sensitivity is given, or not.
func (v *values) withL2(m profiles.Mechanism, err error) (profiles.Mechanism, error) {
	if !v.has("l2-sensitivity") {
		return m, err
	}
	l2 := v.number("l2-sensitivity")
	if err != nil {
		return nil, err
	}
	return profiles.WithL2(m, l2)
}

// Those with Or take the preset where the key is left out.

func (v *values) numberOr(key string, preset float64) float64 {
	return askOr(v, key, "a number", preset, (*node).number)
}

func (v *values) wholeOr(key string, preset int) int {
	return askOr(v, key, "a whole number", preset, (*node).whole)
}

func (v *values) wordOr(key, preset string) string {
	return askOr(v, key, "a word", preset, (*node).word)
}

func (v *values) listOr(key string) []float64 {
	return askOr(v, key, "a list of numbers", nil, (*node).list)
}

// askOr reads the value of a key that may be left out.
func askOr[V any](v *values, key, what string, preset V, read func(*node) (V, error)) V {
	if v.asked != nil {
		v.asked(key, what)
	}
	if !v.has(key) {
		return preset
	}
	return ask(v, key, what, read)
}

// ask reads the value of a key that must be there.
func ask[V any](v *values, key, what string, read func(*node) (V, error)) V {
	var zero V
	if v.asked != nil {
		v.asked(key, what)
	}
	if v.err != nil {
		return zero
	}
	n, err := v.node.need(key, what)
	if err == nil {
		var x V
		if x, err = read(n); err == nil {
			return x
		}
	}
	v.err = err
	return zero
}

// parseEntry reads {name: {key: value, …}}, one of the table.
func parseEntry[T any](n *node, what string, table []entry[T]) (T, error) {
	var zero T
	if n.kind != mapNode {
		return zero, n.errorf("%v is not a %s such as {%s: {%s: …}}", n, what, table[0].name, table[0].keys[0])
	}
	if err := n.checkKeys(names(table)); err != nil {
		return zero, err
	}
	switch len(n.fields) {
	case 0:
		return zero, n.errorf("is empty; must name one of %s", strings.Join(names(table), ", "))
	case 1:
	default:
		return zero, n.errorf("names both %s and %s; must name one %s%s", n.fields[0].key, n.fields[1].key, what, mixed(n))
	}
	f := n.fields[0]
	for _, e := range table {
		if e.name == f.key {
			return e.parse(f.node)
		}
	}
	panic("unreachable: checkKeys")
}

// mixed is what to do instead of a common mixture.
func mixed(n *node) string {
	if n.get("shuffle") == nil || n.get("poisson") == nil {
		return ""
	}
	return ": batches cut from a shuffled list are shuffle, and nothing of poisson holds for them"
}

func names[T any](table []entry[T]) []string {
	ns := make([]string, len(table))
	for i, e := range table {
		ns[i] = e.name
	}
	return ns
}

// parse reads {key: value, …}.
func (e entry[T]) parse(n *node) (T, error) {
	var zero T
	if n.kind != mapNode {
		return zero, n.errorf("%v is not a mapping with the keys %s", n, strings.Join(e.keys, ", "))
	}
	if err := n.checkKeys(e.keys); err != nil {
		for name, key := range map[string]string{"shuffle": "users", "shuffler": "batches"} {
			if e.name == name && n.get(key) != nil {
				return zero, n.errorf("has no key %s: shuffle is how a data loader cuts batches, and shuffler is the shuffle model, between users and an analyst", key)
			}
		}
		return zero, err
	}
	v := &values{node: n}
	t, err := e.build(v)
	switch {
	case v.err != nil:
		return zero, v.err
	case err != nil:
		return zero, n.locate(e.name, err)
	}
	return t, nil
}

// optional reads the value of a key that may be left out; to stays as it is then.
func optional[V any](v *values, key string, to *V, read func(*node) (V, error)) {
	*to = askOr(v, key, "", *to, read)
}

// unit reads the relation and the records of a person, with which plans and menus begin.
func (v *values) unit() (r profiles.Relation, records int64) {
	r = ask(v, "neighbors", "add-remove, substitute or zero-out", parseNeighbors)
	optional(v, "records-per-person", &records, func(n *node) (int64, error) {
		x, err := n.countTo(strconv.Itoa(noiserange.MaxRecords))
		if err == nil && noiserange.CheckRecords(x) != nil {
			err = n.locate("records-per-person", noiserange.CheckRecords(x))
		}
		return x, err
	})
	return r, records
}

// stepsOnce reads a list of steps that runs once.
func (v *values) stepsOnce(ctx context.Context) []accountant.Step {
	return ask(v, "steps", "a list of steps", func(n *node) ([]accountant.Step, error) { return parseSteps(n, 1, &reading{ctx: ctx}) })
}

// parameters returns the values of a mapping with no keys but these; what is what it should be.
func (n *node) parameters(what string, keys []string) (*values, error) {
	if n.kind != mapNode {
		return nil, n.errorf("%v is not %s (a mapping with the keys %s)", n, what, strings.Join(keys, ", "))
	}
	return &values{node: n}, n.checkKeys(keys)
}
