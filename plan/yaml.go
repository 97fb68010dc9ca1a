package plan

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// Of YAML only mappings, lists and scalars are accepted: anchors, tags and merge keys
// can hide what a plan says, and a privacy plan must say it plainly.

// MaxSize is the largest plan in bytes. Together with the limits below it bounds what reading takes: a second of one core and
// 100 MB of memory.
const MaxSize = 1 << 20

const (
	maxTokens = 200_000 // as halfTokens counts
	maxDepth  = 64
	// maxKeys bounds the keys of one mapping, and maxEmpty the values that are left out: the parser copies the keys of a
	// mapping for each of them, and the rest of the text for each value that it puts in. No plan is right with either.
	maxKeys, maxEmpty = 100, 100
	// maxKey is the longest key in bytes, and maxPaths bounds the bytes of the paths of all values, which the parser keeps.
	maxKey, maxPaths = 100, 16 << 20
	// The lexer looks at the rest of the line for each tab in quotes, which maxTabs bounds in bytes; for each < at all that
	// follow; and it copies a text of several lines for each empty line behind it. maxRun bounds both.
	maxTabs, maxRun = 100_000_000, 100
	// maxMarks bounds the lines --- and ..., of which each makes the parser copy the documents behind it.
	maxMarks = 10
)

// parseYAML returns the value that the text stands for, nil for none.
func parseYAML(ctx context.Context, data []byte) (root *node, err error) {
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
	isJSON := json.Valid(data)
	if isJSON {
		// Tabs separate tokens in JSON, and the YAML parser refuses them.
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" "))
	}
	if err := checkText(data, isJSON); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	tokens := tokenize(string(data))
	if err := cmp.Or(ctx.Err(), checkTokens(tokens), ctx.Err()); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
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

// tokenize returns the tokens of a text up to the first that is invalid, which the parser refuses.
func tokenize(text string) (tokens token.Tokens) {
	var s scanner.Scanner
	s.Init(text)
	found, _ := s.Scan() // the error is in the last token
	tokens.Add(found...)
	return tokens
}

// checkText refuses what the lexer would take too long for, in a hundredth of its time.
func checkText(data []byte, isJSON bool) error {
	halves, empty, tabs, line := 0, 0, 0, 0
	for text := range bytes.Lines(data) {
		line++
		text = bytes.TrimSuffix(text, []byte("\n"))
		halves += halfTokens(text, isJSON)
		tabs += bytes.Count(text, []byte("\t")) * len(text)
		if empty++; len(bytes.TrimLeft(text, " \t")) > 0 {
			empty = 0
		}
		problem := ""
		switch {
		case halves > 2*maxTokens:
			problem = fmt.Sprintf("has more than %d tokens (words, numbers and signs such as a comma)", maxTokens)
		case tabs > maxTabs:
			problem = "has too many tabs for lines as long as these; YAML wants spaces"
		case empty > maxRun:
			problem = fmt.Sprintf("has more than %d empty lines in a row", maxRun)
		case bytes.Contains(text, slowRun):
			problem = fmt.Sprintf("has more than %d of < in a row", maxRun-1)
		}
		if problem != "" {
			return &Error{Line: line, Problem: problem}
		}
	}
	return nil
}

// slowRun is the shortest run of < that is refused: the reader of YAML is slow on long ones.
var slowRun = bytes.Repeat([]byte("<"), maxRun)

// halfTokens returns twice the number of tokens of a line, or more. Each sign that can be a token counts, wherever it stands,
// and so does the text between two of them; a quote counts half. What is inside of quotes is known of JSON alone. A line that
// begins with # and has no quote in it is a comment, or inside of some other token.
func halfTokens(line []byte, isJSON bool) (halves int) {
	if !isJSON && bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("#")) && !bytes.ContainsAny(line, `"'`) {
		return 2
	}
	inText := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t':
		case '"', '\'':
			if isJSON {
				for i++; line[i] != '"'; i++ {
					if line[i] == '\\' {
						i++
					}
				}
				halves++
			}
			halves, inText = halves+1, false
		case ',', ':', '[', ']', '{', '}', '?', '<', '@', '`':
			halves, inText = halves+2, false
		case '&', '*', '!', '%', '|', '>', '#': // the word behind the first four ends at a blank, and the text behind the others may be empty
			halves, inText = halves+4, false
		default:
			if c == '-' && (i+1 == len(line) || line[i+1] <= ' ') || c == '.' && bytes.HasPrefix(line[i:], []byte("...")) {
				halves, inText = halves+2, false
			} else if !inText {
				halves, inText = halves+2, true
			}
		}
	}
	return halves
}

// An open collection is one whose end has not come yet.
type open struct {
	flow   token.Type // its first token; 0 for a collection in block style
	column int        // of a collection in block style
	keys   int        // so far; of a flow list, those since the last comma
	path   int        // bytes of the path to the collection,
	last   int        // and of the latest part behind it
}

// refusedTokens are the parts of YAML that plans do not use, with what is said of them.
var refusedTokens = map[token.Type]string{
	token.AnchorType:     "anchors (&, *) are not allowed; repeat a group with count: and steps:",
	token.AliasType:      "anchors (&, *) are not allowed; repeat a group with count: and steps:",
	token.MergeKeyType:   "merge keys (<<) are not allowed",
	token.TagType:        "tags (!) are not allowed",
	token.DirectiveType:  "directives (%) are not allowed",
	token.MappingKeyType: "complex keys (?) are not allowed",
}

// checkTokens refuses the parts of YAML that plans do not use, and what the parser would take too long for, before anything
// is built from them.
func checkTokens(tokens token.Tokens) error {
	stack := []open{{}}
	top := func() *open { return &stack[len(stack)-1] }
	enter := func(o open) *open {
		o.path = top().path + top().last
		o.last = len("[99999]") // of a list; keys say their own
		stack = append(stack, o)
		return top()
	}
	// block returns the collection in block style at a column, in which those to the right of it end.
	block := func(column int) *open {
		for top().flow == 0 && len(stack) > 1 && top().column > column {
			stack = stack[:len(stack)-1]
		}
		if top().flow == 0 && top().column == column {
			return top()
		}
		return enter(open{column: column})
	}
	// endBlocks ends the collections in block style that are inside of one in flow style.
	endBlocks := func() {
		for len(stack) > 1 && top().flow == 0 {
			stack = stack[:len(stack)-1]
		}
	}
	tokens = slices.DeleteFunc(slices.Clone(tokens), func(t *token.Token) bool { return t.Position == nil || t.Type == token.CommentType })
	empty, paths, marks := 0, 0, 0
	for i, t := range tokens {
		var prev, next *token.Token
		if i > 0 {
			prev = tokens[i-1]
		}
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		problem := refusedTokens[t.Type]
		switch t.Type {
		case token.DocumentHeaderType, token.DocumentEndType:
			if marks++; marks > maxMarks {
				problem = "a second document begins; a plan is a single one"
			}
		case token.SequenceStartType, token.MappingStartType:
			enter(open{flow: t.Type})
		case token.SequenceEndType, token.MappingEndType:
			endBlocks()
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case token.CollectEntryType:
			endBlocks()
			if top().flow == token.SequenceStartType {
				top().keys = 0
			}
		case token.SequenceEntryType:
			block(t.Position.Column)
			if isEmpty(t, t, next) {
				empty++
			}
		case token.MappingValueType:
			if prev == nil {
				break
			}
			o := top()
			if o.flow == 0 {
				o = block(prev.Position.Column)
			}
			o.keys, o.last = o.keys+1, len(prev.Value)+1
			switch {
			case o.keys > maxKeys:
				problem = fmt.Sprintf("has a mapping with more than %d keys", maxKeys)
			case len(prev.Value) > maxKey:
				problem = fmt.Sprintf("has a key of more than %d bytes", maxKey)
			case o.flow == token.MappingStartType: // where columns mean nothing
				if next != nil && (next.Type == token.MappingEndType || next.Type == token.CollectEntryType) {
					empty++
				}
			case isEmpty(t, prev, next):
				empty++
			}
		default:
			if top().flow == token.MappingStartType && prev != nil && (prev.Type == token.MappingStartType || prev.Type == token.CollectEntryType) &&
				next != nil && (next.Type == token.MappingEndType || next.Type == token.CollectEntryType) {
				empty++ // a key alone
			}
		}
		paths += top().path + top().last
		switch {
		case problem != "":
		case len(stack)-1 > maxDepth:
			problem = fmt.Sprintf("is nested more than %d deep", maxDepth)
		case empty > maxEmpty:
			problem = fmt.Sprintf("has more than %d keys and list items without a value", maxEmpty)
		case paths > maxPaths:
			problem = "is nested too deep for as many values as it has"
		}
		if problem != "" {
			return &Error{Line: t.Position.Line, Problem: problem}
		}
	}
	return nil
}

// isEmpty reports whether a value is left out behind t, which is an item's - or the colon behind its key: what comes next is
// not to the right of it.
func isEmpty(t, key, next *token.Token) bool {
	switch {
	case next == nil:
		return false // the parser adds it at the end, without copying
	case next.Type == token.MappingEndType, next.Type == token.SequenceEndType, next.Type == token.CollectEntryType:
		return true
	case next.Position.Column == key.Position.Column:
		return next.Position.Line != key.Position.Line && (t.Type == token.SequenceEntryType) == (next.Type == token.SequenceEntryType)
	}
	return next.Position.Column < key.Position.Column
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
		n.kind, n.items = listNode, make([]*node, len(a.Values))
		for i, v := range a.Values {
			var err error
			if n.items[i], err = convert(v, path+"["+strconv.Itoa(i)+"]", depth+1); err != nil {
				return nil, err
			}
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
	for _, v := range values {
		t := v.Key.GetToken()
		f := field{key: t.Value, line: t.Position.Line}
		keyPath := f.key
		if path != "" {
			keyPath = path + "." + f.key
		}
		if i := slices.IndexFunc(n.fields, func(g field) bool { return g.key == f.key }); i >= 0 {
			return nil, &Error{Line: f.line, Field: keyPath, Problem: fmt.Sprintf("is set a second time; the first is on line %d", n.fields[i].line)}
		}
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
