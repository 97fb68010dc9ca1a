package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"regexp"
	"slices"

	"github.com/dpaccountant/accountant/matrix"
)

// This file puts the files that a plan names into its text, so that the plan stands for
// itself wherever it goes: to a service, which reads no files for others, or into a ledger.

// Inline returns the text of a plan with {banded: {file: c.csv}} replaced by the rows of the
// file, on the same line. It only changes texts that name files; what else is wrong with a
// text is for Parse to find. open is for files by their names in the plan.
func Inline(text []byte, open func(name string) (io.ReadCloser, error)) ([]byte, error) {
	if !bytes.Contains(text, []byte("file")) {
		return text, nil
	}
	root, err := parseYAML(context.Background(), text)
	if err != nil || root == nil {
		return text, nil
	}
	lines := bytes.Split(text, []byte("\n"))
	for _, n := range root.files(nil) {
		name, err := n.word()
		if err != nil {
			return nil, err
		}
		pattern := regexp.MustCompile(`(["']?)\bfile\b["']?\s*:\s*["']?` + regexp.QuoteMeta(name) + `["']?`)
		at := n.line - 1
		if at < 0 || at >= len(lines) || !pattern.Match(lines[at]) {
			return nil, n.errorf("must be a name on the line of its key")
		}
		rows, err := readRows(name, open)
		if err != nil {
			return nil, &Error{Line: n.line, Field: n.path, Problem: err.Error(), err: err}
		}
		found := pattern.FindSubmatchIndex(lines[at])
		quote := lines[at][found[2]:found[3]]
		lines[at] = slices.Concat(lines[at][:found[0]], quote, []byte("rows"), quote, []byte(": "), rows, lines[at][found[1]:])
	}
	return bytes.Join(lines, []byte("\n")), nil
}

// files appends the values of the keys file of matrices, in the order of the text.
func (n *node) files(found []*node) []*node {
	for _, f := range n.fields {
		if f.key == "banded" {
			if file := f.node.get("file"); file != nil {
				found = append(found, file)
			}
		}
		found = f.node.files(found)
	}
	for _, item := range n.items {
		found = item.files(found)
	}
	return found
}

// readRows returns the rows of a file as JSON, digit by digit the same numbers.
func readRows(name string, open func(name string) (io.ReadCloser, error)) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := matrix.ReadRows(f)
	if err != nil {
		return nil, err
	}
	return json.Marshal(rows)
}
