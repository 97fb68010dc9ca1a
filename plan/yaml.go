package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Of YAML only mappings, lists and scalars are accepted: anchors, tags and merge keys
// can hide what a plan says, and a privacy plan must say it plainly.

// MaxSize is the largest plan in bytes. It bounds the memory that reading takes, some
// hundred times the size of the text.
const MaxSize = 1 << 20

// maxDepth bounds recursion, and with maxKeys the parser's time.
const maxDepth, maxKeys = 100, 100

// parseYAML returns the value that the text stands for, nil for none.
func parseYAML(data []byte) (root *node, err error) {
	fail := func(line int, problem string, args ...any) (*node, error) {
		return nil, &Error{Line: line, Problem: fmt.Sprintf(problem, args...)}
	}
	if len(data) > MaxSize {
		return fail(0, "is larger than %d bytes", MaxSize)
	}
	if !utf8.Valid(data) {
		return fail(0, "is not UTF-8 text")
	}
	// The parser is not ours; whatever it stumbles over is a bad plan.
	defer func() {
		if r := recover(); r != nil {
			root, err = fail(0, "is not valid YAML")
		}
	}()
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	// The lexer counts some lines twice that end in CR LF, and loses count after CR alone.
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	if json.Valid(data) {
		// Tabs separate tokens in JSON, and the YAML parser refuses them.
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" "))
	}
	tokens := lexer.Tokenize(string(data))
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var ye yaml.Error
		if errors.As(err, &ye) {
			line := 0
			if t := ye.GetToken(); t != nil && t.Position != nil {
				line = t.Position.Line
			}
			if lines := bytes.Split(data, []byte("\n")); line > 0 && line <= len(lines) && bytes.HasPrefix(lines[line-1], []byte("\t")) {
				return fail(line, "is indented with a tab; YAML wants spaces")
			}
			return fail(line, "is not valid YAML: %s", oneLine(ye.GetMessage()))
		}
		return fail(0, "is not valid YAML: %s", oneLine(err.Error()))
	}
	for i, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil || i > 0 {
			return fail(doc.Body.GetToken().Position.Line, "a second document begins; a plan is a single one")
		}
		if root, err = convert(doc.Body, "", 0); err != nil {
			return nil, err
		}
	}
	return root, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// checkTokens refuses the parts of YAML that plans do not use, before anything
// is built from them.
func checkTokens(tokens token.Tokens) error {
	// The block collections that are open, by column: the parser takes time
	// quadratic in their depth and in the number of keys of one mapping.
	type open struct{ column, keys int }
	var blocks []open
	flow := 0
	enter := func(column int, key bool) int {
		for len(blocks) > 0 && blocks[len(blocks)-1].column > column {
			blocks = blocks[:len(blocks)-1]
		}
		if n := len(blocks); n == 0 || blocks[n-1].column < column {
			blocks = append(blocks, open{column: column})
		}
		top := &blocks[len(blocks)-1]
		if key {
			top.keys++
		}
		return top.keys
	}
	for _, t := range tokens {
		if t.Position == nil {
			continue
		}
		problem := ""
		switch t.Type {
		case token.AnchorType, token.AliasType:
			problem = "anchors (&, *) are not allowed; repeat a group with count: and steps:"
		case token.MergeKeyType:
			problem = "merge keys (<<) are not allowed"
		case token.TagType:
			problem = "tags (!) are not allowed"
		case token.DirectiveType:
			problem = "directives (%) are not allowed"
		case token.MappingKeyType:
			problem = "complex keys (?) are not allowed"
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			if flow == 0 {
				enter(t.Position.Column, false)
			}
		case token.MappingValueType:
			column := t.Position.Column
			if t.Prev != nil && t.Prev.Position != nil {
				column = t.Prev.Position.Column
			}
			if flow == 0 && enter(column, true) > maxKeys {
				problem = fmt.Sprintf("has a mapping with more than %d keys", maxKeys)
			}
		}
		if flow+len(blocks) > maxDepth {
			problem = fmt.Sprintf("is nested more than %d deep", maxDepth)
		}
		if problem != "" {
			return &Error{Line: t.Position.Line, Problem: problem}
		}
	}
	return nil
}

// convert turns the parser's tree into nodes; duplicate keys end here.
func convert(a ast.Node, path string, depth int) (*node, error) {
	n := &node{path: path}
	if t := a.GetToken(); t != nil && t.Position != nil {
		n.line, n.column = t.Position.Line, t.Position.Column
	}
	if depth > maxDepth {
		return nil, n.errorf("is nested more than %d deep", maxDepth)
	}
	var values []*ast.MappingValueNode
	switch a := a.(type) {
	case *ast.MappingNode:
		n.kind, values = mapNode, a.Values
	case *ast.MappingValueNode:
		n.kind, values = mapNode, []*ast.MappingValueNode{a}
	case *ast.SequenceNode:
		n.kind = listNode
		for i, v := range a.Values {
			item, err := convert(v, fmt.Sprintf("%s[%d]", path, i), depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		return n, nil
	case *ast.LiteralNode:
		n.kind, n.text = textNode, a.Value.Value
		return n, nil
	case ast.ScalarNode:
		t := a.GetToken()
		n.text = t.Value
		switch t.Type {
		case token.SingleQuoteType, token.DoubleQuoteType:
			n.kind = textNode
		case token.ImplicitNullType:
			n.text = ""
		}
		return n, nil
	default:
		return nil, n.errorf("%s is not allowed in a plan", strings.ToLower(a.Type().String()))
	}
	lines := map[string]int{}
	for _, v := range values {
		t := v.Key.GetToken()
		f := field{key: t.Value, line: t.Position.Line}
		keyPath := f.key
		if path != "" {
			keyPath = path + "." + f.key
		}
		if first, ok := lines[f.key]; ok {
			return nil, &Error{Line: f.line, Field: keyPath, Problem: fmt.Sprintf("is set a second time; the first is on line %d", first)}
		}
		lines[f.key] = f.line
		var err error
		if f.node, err = convert(v.Value, keyPath, depth+1); err != nil {
			return nil, err
		}
		if f.node.isNull() {
			f.node.line = f.line
		}
		n.fields = append(n.fields, f)
	}
	return n, nil
}
