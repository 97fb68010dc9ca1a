package plan

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/profiles"
)

// A Format is one of the two ways in which a plan is written.
type Format string

// The formats: YAML as docs/reference/cli.md describes it, and the events of dp_accounting as JSON.
const (
	Steps  Format = "plan"
	Events Format = "events"
)

// Convert writes a plan, which may be in either format, in the format to; "" is the one
// that it is not in. It returns the text and its format.
//
// What an event cannot say is refused by name: must-* sampling, a private majority, a
// selection by another law than dp_accounting's, finite mechanisms. The names of steps
// are left out. An event does not name the relation and is under add-remove; a plan under
// another becomes an object such as {"neighbors": "substitute", "event": …}.
//
// A number that another convention makes a different one (the noise of discrete
// mechanisms) is rounded to less noise, by at most 1e-14 of it; all others stay what they
// are.
func Convert(data []byte, to Format) ([]byte, Format, error) {
	root, err := parseRoot(context.Background(), data)
	if err != nil {
		return nil, "", err
	}
	if to == "" {
		if to = Events; isEvents(root) {
			to = Steps
		}
	}
	if root, err = asPlan(root); err != nil {
		return nil, "", err
	}
	p, err := parsePlan(context.Background(), root)
	if err != nil {
		return nil, "", err
	}
	switch to {
	case Steps:
		return writePlan(root), to, nil
	case Events:
		if p.Records() > 1 {
			return nil, "", root.get("records-per-person").errorf("%d cannot be said by an event, which is about one record", p.Records())
		}
		event, err := eventOfSteps(root, root.get("steps"), p.Neighbors)
		if err != nil {
			return nil, "", err
		}
		if p.Neighbors != profiles.AddRemove {
			event = root.mapping("neighbors", root.textLike(p.Neighbors.String()), eventKey, event)
		}
		return []byte(inJSON(event, "\n") + "\n"), to, nil
	}
	return nil, "", (&node{path: "to"}).errorf("%s", nearest.Value(string(to), []string{string(Steps), string(Events)}))
}

// eventOfSteps returns the event of a list of steps: that of the step if it is one.
func eventOfSteps(at, list *node, r profiles.Relation) (*node, error) {
	var events []*node
	for _, s := range list.items {
		e, err := eventOfStep(s, r)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	if len(events) == 1 {
		return events[0], nil
	}
	return at.event("ComposedDpEvent", "events", at.listOf(events)), nil
}

// eventOfStep returns the event of a step: of its mechanism or group, sampled, selected,
// and repeated, from the inside out.
func eventOfStep(s *node, r profiles.Relation) (*node, error) {
	var e *node
	var err error
	if v := s.get("adaptive"); v != nil {
		return nil, v.errorf("has no event in dp_accounting")
	}
	if disjoint := s.get("disjoint"); disjoint != nil {
		return nil, disjoint.errorf("has no event in dp_accounting")
	}
	if steps := s.get("steps"); steps != nil {
		e, err = eventOfSteps(s, steps, r)
	} else {
		e, err = eventOfMechanism(s.get("mechanism"), r)
	}
	if err != nil {
		return nil, err
	}
	if sampling := s.get("sampling"); sampling != nil && !sampling.isWord("none") {
		f := sampling.fields[0]
		p := f.node
		switch {
		case f.key == "poisson":
			e = s.event("PoissonSampledDpEvent", "sampling_probability", p.get("rate"), eventKey, e)
		case f.key == "truncated-poisson":
			noise := e.get("noise_multiplier")
			if c := e.get(classKey); noise == nil || c.text != "GaussianDpEvent" {
				return nil, f.node.errorf("has an event in dp_accounting for gaussian with noise-multiplier alone")
			}
			e = s.event(truncatedClass, "dataset_size", p.get("population"), "sampling_probability", p.get("rate"), "truncated_batch_size", p.get("cap"), "noise_multiplier", noise)
		case r == profiles.AddRemove && (f.key == "without-replacement" || f.key == "with-replacement"):
			return nil, f.node.errorf("under add-remove has no event: dp_accounting draws batches of a fixed size under substitute")
		case f.key == "without-replacement":
			e = s.event("SampledWithoutReplacementDpEvent", "source_dataset_size", p.get("population"), "sample_size", p.get("batch"), eventKey, e)
		case f.key == "with-replacement":
			e = s.event("SampledWithReplacementDpEvent", "source_dataset_size", p.get("population"), "sample_size", p.get("batch"), eventKey, e)
		default:
			return nil, f.node.errorf("has no event in dp_accounting")
		}
	}
	if selection := s.get("selection"); selection != nil {
		if e, err = eventOfSelection(selection, e); err != nil {
			return nil, err
		}
	}
	if count := s.get("count"); count != nil && valueOf(s, "count") != 1 {
		e = s.event("SelfComposedDpEvent", eventKey, e, "count", count)
	}
	return e, nil
}

// eventOfMechanism returns the event of {mechanism: {key: value, …}}.
func eventOfMechanism(m *node, r profiles.Relation) (*node, error) {
	f := m.fields[0]
	if v := f.node.get("l2-sensitivity"); v != nil {
		return nil, v.errorf("has no place in an event of dp_accounting, which has one sensitivity")
	}
	for _, c := range eventClasses {
		if c.mechanism != f.key {
			continue
		}
		if !priced(c.class, r) {
			return nil, f.node.errorf("under %v has no event: dp_accounting's is under %s", r, relationNames(c.class))
		}
		if keys := c.write(f.node); keys != nil {
			e := m.event(c.class)
			e.fields = append(e.fields, keys.fields...)
			return e, nil
		}
	}
	return nil, f.node.errorf("has no event in dp_accounting")
}

// eventOfSelection returns the event of a selection among runs of e.
func eventOfSelection(s, e *node) (*node, error) {
	for _, key := range []string{"gamma", "max", "cap"} {
		if v := s.get(key); v != nil {
			return nil, v.errorf("has no place in an event of dp_accounting, which has mean and shape")
		}
	}
	law, shape := s.get("law"), s.get("shape")
	switch law.text {
	case "logarithmic":
		shape = s.scalarLike("0")
	case "geometric":
		shape = s.scalarLike("1")
	case "poisson":
		shape = s.scalarLike("Infinity")
	case "negative-binomial":
		if x := valueOf(s, "shape"); x < 0 {
			return nil, shape.errorf("%v is not in [0, Infinity]; dp_accounting has no other", shape)
		}
	default:
		return nil, law.errorf("%v has no event in dp_accounting", law)
	}
	return s.event("RepeatAndSelectDpEvent", eventKey, e, "mean", s.get("mean"), "shape", shape), nil
}

// event returns an event of a class with keys and values in turn.
func (n *node) event(class string, pairs ...any) *node {
	return n.mapping(append([]any{moduleKey, n.textLike("dp_accounting.dp_event"), classKey, n.textLike(class)}, pairs...)...)
}

// This file puts the files that a plan names into its text, so that the plan stands for
// itself wherever it goes: to a service, which reads no files for others, or into a ledger.

// Inline returns the text of a plan with {banded: {file: c.csv}} replaced by the rows of the
// file, and strategy: {file: c.json} or {file: c.csv} by what matrix.Strategy writes, on the same
// line. It only changes texts that name files; what else is wrong with a text is for Parse to
// find. open is for files by their names in the plan.
func Inline(text []byte, open func(name string) (io.ReadCloser, error)) ([]byte, error) {
	if !bytes.Contains(text, []byte("file")) {
		return text, nil
	}
	root, err := parseYAML(context.Background(), text)
	if err != nil || root == nil {
		return text, nil
	}
	lines := bytes.Split(text, []byte("\n"))
	for _, parent := range root.all() {
		n, below := parent.get("file"), parent.path[strings.LastIndexByte(parent.path, '.')+1:]
		if n == nil || below != "banded" && below != "strategy" {
			continue
		}
		name, err := n.word()
		if err != nil {
			return nil, err
		}
		pattern := regexp.MustCompile(`(["']?)\bfile\b["']?\s*:\s*["']?` + regexp.QuoteMeta(name) + `["']?`)
		at := n.line - 1
		if at < 0 || at >= len(lines) || !pattern.Match(lines[at]) {
			return nil, n.errorf("must be a name on the line of its key")
		}
		key, value, err := readStrategy(name, below == "banded", open)
		if err != nil {
			return nil, &Error{Line: n.line, Field: n.path, Problem: err.Error(), err: err}
		}
		found := pattern.FindSubmatchIndex(lines[at])
		quote := lines[at][found[2]:found[3]]
		lines[at] = slices.Concat(lines[at][:found[0]], quote, key, quote, []byte(": "), value, lines[at][found[1]:])
	}
	return bytes.Join(lines, []byte("\n")), nil
}

// readStrategy returns what a file stands for as a key and its value in JSON, digit by digit the
// same numbers: rows, or a strategy.
func readStrategy(name string, rowsOnly bool, open func(name string) (io.ReadCloser, error)) (key, value []byte, err error) {
	f, err := open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if rowsOnly {
		rows, err := matrix.ReadRows(f)
		if err != nil {
			return nil, nil, err
		}
		value, err = json.Marshal(rows)
		return []byte("rows"), value, err
	}
	in := bufio.NewReader(f)
	for { // blanks before the first character that tells the format
		c, err := in.Peek(1)
		if err != nil || !bytes.Contains([]byte(" \t\r\n"), c) {
			break
		}
		_, _ = in.Discard(1)
	}
	var s matrix.Strategy
	if c, _ := in.Peek(1); string(c) == "{" || string(c) == `"` {
		text, err := io.ReadAll(io.LimitReader(in, 4*MaxSize))
		if err != nil {
			return nil, nil, err
		}
		root, err := parseYAML(context.Background(), text)
		if err != nil {
			return nil, nil, err
		}
		root.path = "strategy"
		if s, err = parseStrategy(root, 0); err != nil {
			return nil, nil, err
		}
	} else if s, err = matrix.ReadCSV(in); err != nil {
		return nil, nil, err
	}
	text, err := s.MarshalJSON()
	if err != nil {
		return nil, nil, err
	}
	key, value, found := bytes.Cut(bytes.Trim(text, "{"), []byte(":"))
	if !found {
		return nil, nil, errors.New("has the identity, which needs no file")
	}
	return bytes.Trim(key, `"`), bytes.TrimSuffix(value, []byte("}")), nil
}
