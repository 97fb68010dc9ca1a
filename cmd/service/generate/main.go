// Command generate writes the Python client's methods and dataclasses, and the fields that the page knows, from the
// table of operations: go generate ./cmd/service.
//
// A request becomes a method whose parameters are its keys, an answer a frozen dataclass. The tag py of
// a field of an answer says what Python has otherwise:
//
//	py:"name"      the field is called so
//	py:"-"         there is none
//	py:"*"         the fields of its struct stand in its place, with what is before the star before their names;
//	               fields of the same name that come of several keys are one, and asked says which key was there
//	py:",return"   a method returns this field alone
//	py:",mapping"  it stays a dictionary with the keys of the JSON
//	py:",upper"    it is that end of an interval alone
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dpaccountant/accountant/cmd/service"
)

// The files that are written, from the folder of service.
const (
	clientFile = "../../python/dpaccountant/_operations.py"
	pageFile   = "../web/fields.js"
)

func main() {
	files, err := generate(".")
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(name, []byte(text), 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generate returns the text of each file; folder is that of package service.
func generate(folder string) (map[string]string, error) {
	python, err := client(folder)
	if err != nil {
		return nil, err
	}
	fields, err := page()
	return map[string]string{clientFile: python, pageFile: fields}, err
}

// asked are the operations that the page has forms for.
var asked = []string{"calibrate", "compare", "curve", "dpsgd", "epsilon"}

// page returns what the page knows of the keys of operations, as a script.
func page() (string, error) {
	all := map[string]map[string]service.Key{}
	for _, o := range service.Operations() {
		if !slices.Contains(asked, o.Name) {
			continue
		}
		all[o.Name] = map[string]service.Key{}
		for _, k := range o.Keys {
			k.Help = flags.ReplaceAllStringFunc(helpText.Replace(k.Help), unflagged)
			all[o.Name][k.Name] = k
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	return "// The keys of the operations that the page asks. Written by go generate ./cmd/service: do not edit.\nconst accountantFields = " + string(text) + ";\n", err
}

func unflagged(flag string) string {
	return strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", " ")
}

// classes are the names of answers that Python calls otherwise than Go. Of others the ending Answer is left out.
var classes = map[string]string{
	"Compared": "Comparison", "Curve": "PlanCurve", "DPSGDAnswer": "Training", "DeltaAt": "Interval", "EpsilonAt": "Interval",
	"GDPAnswer": "GaussianDP", "GDPAt": "GaussianSetting", "LabelAnswer": "LabelRandomizer", "LabelGroupAnswer": "LabelGroup",
	"LedgerState": "LedgerStatus", "MatrixOptimizeAnswer": "MatrixStrategy", "PateAnswer": "PateCost", "PateCalibration": "PateParameters", "PatePublishAnswer": "PublishedCost",
	"PateSmoothAnswer": "SanitizedCost", "Profile": "PlanProfile", "Scheme": "SamplingScheme", "SelectedLaw": "SelectionLaw", "Solution": "Calibration",
}

// written are the classes that answers.py has by hand, whole or, as a base, what they can do.
var (
	written = []string{"Interval"}
	bases   = map[string]string{"Calibration": "Calibrated", "PateParameters": "Parameterized", "Risk": "Risks", "Training": "Trained"}
)

// private are the operations whose methods the client has by hand, and asks with these; handWritten those that it asks
// without: cancel is of the connection, the others run what is priced.
var (
	private = []string{
		"curve", "delta", "epsilon", "explain", "filter", "label", "ledger-check", "ledger-create", "ledger-fits", "ledger-open", "ledger-spend",
		"ledger-status", "local-estimates", "local-messages", "profile", "query",
	}
	handWritten = []string{"cancel", "label-apply", "ledger-close", "ledger-log", "pate-answer", "release", "run-close", "run-next", "run-open"}
)

// several are the keys in whose place a method takes a list, for a list of answers, though the operation has one answer
// for the list. Those of an operation that answers with a list are its own.
var several = map[string][]string{"select": {"delta"}}

// A writer writes the client.
type writer struct {
	docs  map[string]string // of the types, in Go
	types []reflect.Type    // whose classes are written, parts before wholes
	body  strings.Builder
}

// client returns the text of the client's generated part; folder is that of package service.
func client(folder string) (string, error) {
	docs, err := comments(folder)
	if err != nil {
		return "", err
	}
	w := &writer{docs: docs}
	var methods strings.Builder
	for _, o := range service.Operations() {
		if !slices.Contains(handWritten, o.Name) {
			w.method(&methods, o)
		}
	}
	return head + w.body.String() + "\n\n" + `class Operations(Connection):
    """Every operation as a method. Limits are memory in MB, work, and time_limit in seconds; InputError names what is wrong."""
` + methods.String(), nil
}

const head = `"""Methods and answers of the table of operations. Written by go generate ./cmd/service: do not edit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from ._connection import Connection
from ._read import Numbers, PlanLike, each, given, listed, plan_of, real, within
from .answers import Answer, Calibrated, Interval, Parameterized, Risks, Trained
`

// comments returns the comments of the types of a package.
func comments(folder string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no Go files in %s", folder)
	}
	set := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
	}
	p, err := doc.NewFromFiles(set, parsed, "service")
	if err != nil {
		return nil, err
	}
	docs := map[string]string{}
	for _, t := range p.Types {
		docs[t.Name] = strings.TrimSpace(t.Doc)
	}
	return docs, nil
}

// doc returns the comment of a type as a sentence of Python: without the name, by which a comment of Go begins.
func (w *writer) doc(t reflect.Type) string {
	text := strings.Join(strings.Fields(w.docs[t.Name()]), " ")
	text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(text, "A "), "An "), t.Name()+" ")
	if text == "" {
		return className(t) + "."
	}
	for _, verb := range []string{"is ", "are "} {
		text = strings.TrimPrefix(text, verb)
	}
	first := []rune(text)
	first[0] = unicode.ToUpper(first[0])
	return strings.ReplaceAll(string(first), `\`, `\\`)
}

func className(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return cmp.Or(classes[name], strings.TrimSuffix(name, "Answer"))
}

// identifier puts a key into the letters of Python.
func identifier(key string) string {
	name := strings.ReplaceAll(key, "-", "_")
	if slices.Contains([]string{"in", "from", "max", "try"}, name) {
		name += "_"
	}
	return name
}

// An attribute is a field of a class: where it is in the JSON, its type and how it is read.
type attribute struct {
	name  string
	paths []string // of keys with points between them; the first that is there
	kind  reflect.Type
	gone  bool // may be left out
	raw   bool // stays as in the JSON
}

// attributes are those of a struct, what is flattened into it included.
func attributes(t reflect.Type, path, prefix string, gone bool) (all []attribute) {
	add := func(a attribute) {
		if i := slices.IndexFunc(all, func(b attribute) bool { return b.name == a.name }); i >= 0 {
			all[i].paths = append(all[i].paths, a.paths...)
			return
		}
		all = append(all, a)
	}
	for _, f := range reflect.VisibleFields(t) {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		name, how, _ := strings.Cut(f.Tag.Get("py"), ",")
		if f.Anonymous || !f.IsExported() || key == "-" || key == "" || name == "-" {
			continue
		}
		a := attribute{name: prefix + cmp.Or(name, identifier(key)), paths: []string{path + key}, kind: f.Type, gone: gone || strings.Contains(options, "omitempty"), raw: how == "mapping"}
		if how == "upper" {
			a.paths[0] += ".upper"
			f.Type = reflect.TypeFor[service.Number]()
			a.kind = f.Type
		}
		before, star := strings.CutSuffix(name, "*")
		if !star {
			add(a)
			continue
		}
		for _, b := range attributes(elem(f.Type), a.paths[0]+".", prefix+before, a.gone) {
			add(b)
		}
	}
	return all
}

func elem(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// end returns the key of a struct that has one end of an interval alone.
func end(t reflect.Type) (string, bool) {
	if t.Kind() != reflect.Struct || t.NumField() != 1 {
		return "", false
	}
	key := t.Field(0).Tag.Get("json")
	return key, key == "lower" || key == "upper"
}

// typed returns the annotation of a type, and how an expression is read as one. A struct's class is written.
func (w *writer) typed(a attribute) (kind, read, zero string) {
	at := fmt.Sprintf(`r["%s"]`, strings.ReplaceAll(a.paths[0], ".", `"]["`))
	gone := a.gone || len(a.paths) > 1
	t := a.kind
	if t.Kind() == reflect.Pointer {
		t, gone = t.Elem(), true
	}
	if key, ok := end(t); ok {
		a.paths = []string{a.paths[0] + "." + key}
		at += fmt.Sprintf(`["%s"]`, key)
		t = reflect.TypeFor[float64]()
	}
	if gone {
		at = fmt.Sprintf(`within(r, "%s")`, strings.Join(a.paths, `", "`))
	}
	optional := func(kind, read string) (string, string, string) {
		switch {
		case !gone || len(a.paths) > 1: // of several, one is there
			return kind, fmt.Sprintf(read, at), ""
		case read == "float(%s)":
			return "Optional[float]", "real(" + at + ")", "None"
		case read == "%s":
			return "Optional[" + kind + "]", at, "None"
		}
		return "Optional[" + kind + "]", fmt.Sprintf("None if (x := %s) is None else "+read, at, "x"), "None"
	}
	switch {
	case a.raw && gone:
		return "Optional[Mapping[str, Any]]", at, "None"
	case a.raw:
		return "Mapping[str, Any]", at, ""
	}
	switch t.Kind() {
	case reflect.Bool:
		if a.gone && a.kind.Kind() != reflect.Pointer && len(a.paths) == 1 && !strings.Contains(a.paths[0], ".") {
			return "bool", "bool(" + at + ")", "False"
		}
	case reflect.String:
		if gone {
			return "str", at + ` or ""`, `""`
		}
	case reflect.Slice, reflect.Array:
		if gone {
			zero = "()"
		}
		kind, one := w.item(t.Elem())
		if one != "" {
			at = fmt.Sprintf(one+" for x in %s", "x", at)
		}
		return "Tuple[" + kind + ", ...]", "tuple(" + at + " or ())", zero
	case reflect.Map:
		kind := "Any" // a struct stays as in the JSON
		if t.Elem().Kind() != reflect.Struct {
			kind, _ = w.item(t.Elem())
		}
		if gone {
			return "Mapping[str, " + kind + "]", fmt.Sprintf("dict(%s or {})", at), "field(default_factory=dict)"
		}
		return "Mapping[str, " + kind + "]", fmt.Sprintf("dict(%s)", at), ""
	}
	kind, read = w.item(t)
	return optional(kind, cmp.Or(read, "%s"))
}

// plain are the annotations of what stays as it is.
var plain = map[reflect.Kind]string{reflect.Int: "int", reflect.Int64: "int", reflect.Bool: "bool", reflect.String: "str"}

// item returns the annotation of an element of a list, and how it is read, "" where it stays as it is.
func (w *writer) item(t reflect.Type) (kind, read string) {
	if kind, ok := plain[t.Kind()]; ok {
		return kind, ""
	}
	switch t.Kind() {
	case reflect.Float64:
		return "float", "float(%s)"
	case reflect.Slice:
		kind, _ := w.item(t.Elem())
		return "List[" + kind + "]", ""
	case reflect.Struct:
		return className(t), w.class(t) + "(%s)"
	}
	return "Any", ""
}

// class writes the class of a struct, once, and what reads it, whose name is returned.
func (w *writer) class(t reflect.Type) string {
	reader := "_read_" + strings.ToLower(hump.ReplaceAllString(strings.TrimSuffix(t.Name(), "Answer"), "${1}_$2"))
	if slices.Contains(w.types, t) {
		return reader
	}
	w.types = append(w.types, t)
	var needed, optional, reads []string
	for _, a := range attributes(t, "", "", false) {
		if len(a.paths) > 1 && !strings.HasPrefix(strings.Join(needed, ""), "    asked") {
			needed = append([]string{"    asked: str\n"}, needed...)
			keys := make([]string, len(a.paths))
			for i, path := range a.paths {
				keys[i], _, _ = strings.Cut(path, ".")
			}
			reads = append(reads, fmt.Sprintf("        asked=next(key for key in (\"%s\") if r.get(key) is not None),\n", strings.Join(keys, `", "`)))
		}
		kind, read, zero := w.typed(a)
		reads = append(reads, fmt.Sprintf("        %s=%s,\n", a.name, read))
		switch zero {
		case "":
			needed = append(needed, fmt.Sprintf("    %s: %s\n", a.name, kind))
		default:
			optional = append(optional, fmt.Sprintf("    %s: %s = %s\n", a.name, kind, zero))
		}
	}
	name := className(t)
	if !slices.Contains(written, name) {
		base := "Answer"
		if b, ok := bases[name]; ok {
			base = b
		}
		fmt.Fprintf(&w.body, "\n\n@dataclass(frozen=True)\nclass %s(%s):\n    \"\"\"%s\"\"\"\n\n%s%s", name, base, w.doc(t), strings.Join(needed, ""), strings.Join(optional, ""))
	}
	fmt.Fprintf(&w.body, "\n\ndef %s(r: Any) -> %s:\n    return %s(\n%s    )\n", reader, name, name, strings.Join(reads, ""))
	return reader
}

// Help texts name flags, which Python has as parameters.
var (
	flags    = regexp.MustCompile(`--[a-z][a-z-]*`)
	helpText = strings.NewReplacer("{", "", "}", "", ", with commas between them", "", ", several with commas between them", "", "; several with commas between them", "")
)

func identifierOf(flag string) string { return identifier(strings.TrimPrefix(flag, "--")) }

// hump is where a word of a name of Go ends.
var hump = regexp.MustCompile("([a-z])([A-Z])")

// parameter returns the annotation of a key of a request, and what is sent of it.
func parameter(k service.Key) (kind, sent string) {
	name := identifier(k.Name)
	simple, ok := map[string]string{"number": "float", "whole number": "int", "true or false": "bool", "string": "str"}[k.Type]
	switch {
	case k.Type == "plan":
		return "PlanLike", "plan_of(" + name + ")"
	case k.Type == "number" && k.Whole:
		return "int", name
	case k.Name == "path":
		return "str", "self._path(path)"
	case ok:
		return simple, name
	case k.Type == "list of numbers":
		return "Numbers", "listed(" + name + ")"
	case k.Type == "list of strings":
		return "Sequence[str]", "listed(" + name + ")"
	case strings.HasPrefix(k.Type, "list of "):
		return "Sequence[Any]", "listed(" + name + ")"
	}
	return "Any", name
}

// method writes the method of an operation.
func (w *writer) method(to *strings.Builder, o service.Operation) {
	name := identifier(o.Name)
	if slices.Contains(private, o.Name) {
		name = "_" + name
	}
	var needed, plans, named, sent, words []string
	for _, k := range o.Keys {
		kind, value := parameter(k)
		switch at := identifier(k.Name); {
		case !k.Optional:
			needed = append(needed, at+": "+kind)
		case kind == "PlanLike" && k.Name == "plan":
			plans = append(plans, at+": Optional[PlanLike] = None")
		default:
			named = append(named, at+": Optional["+kind+"] = None")
		}
		if k.Optional && strings.HasPrefix(value, "plan_of") || strings.HasPrefix(value, "self.") && k.Optional {
			value = fmt.Sprintf("None if %s is None else %s", identifier(k.Name), value)
		}
		sent = append(sent, fmt.Sprintf("%s=%s", identifier(k.Name), value))
		if help := flags.ReplaceAllStringFunc(helpText.Replace(k.Help), identifierOf); help != "" && !slices.Contains([]string{"memory", "work", "time-limit"}, k.Name) {
			if k.Preset != "" && !strings.Contains(help, "default") {
				help += " (default " + k.Preset + ")"
			}
			words = append(words, fmt.Sprintf("        %s: %s\n", identifier(k.Name), help))
		}
	}
	parameters := slices.Concat([]string{"self"}, needed, plans)
	if len(named) > 0 {
		parameters = slices.Concat(parameters, []string{"*"}, named)
	}
	returns, read := w.answer(o)
	ask := fmt.Sprintf("self.request(\n            %q, **given(\n                %s,\n            )\n        )", o.Name, strings.Join(sent, ",\n                "))
	if len(sent) == 0 {
		ask = fmt.Sprintf("self.request(%q)", o.Name)
	}
	doc := w.doc(o.Request)
	if len(words) > 0 && name[0] != '_' {
		doc += "\n\n" + strings.Join(words, "") + "        "
	}
	to.WriteByte('\n')
	var each []string
	for _, k := range o.Keys {
		switch at := identifier(k.Name); {
		case !slices.Contains(append(several[o.Name], o.Several...), k.Name):
		case k.Apart != "":
			each = append(each, fmt.Sprintf("%s=%q", at, identifier(k.Apart)))
		default:
			each = append(each, strconv.Quote(at))
		}
	}
	if each != nil {
		fmt.Fprintf(to, "    @each(%s)\n", strings.Join(each, ", "))
	}
	fmt.Fprintf(to, "    def %s(\n        %s,\n    ) -> %s:\n        \"\"\"%s\"\"\"\n        return %s\n", name, strings.Join(parameters, ",\n        "), returns, doc, fmt.Sprintf(read, ask))
}

// answer returns what a method returns, and how that is read.
func (w *writer) answer(o service.Operation) (returns, read string) {
	t := elem(o.Result)
	if list, ok := reflect.Zero(t).Interface().(interface{ All() []any }); ok && list != nil {
		o.Result = t.Field(0).Type.Elem() // each asks once for each value of a list
		returns, read = w.answer(o)
		return returns, strings.Replace(read, "%s", `%s["results"][0]`, 1)
	}
	switch {
	case t.Kind() == reflect.Slice:
		kind, one := w.item(t.Elem())
		return "Tuple[" + kind + ", ...]", "tuple(" + fmt.Sprintf(one, "x") + " for x in %s)"
	case strings.Contains(t.Name(), "["): // of several types, which the client reads
		return "Any", "%s"
	}
	for _, f := range reflect.VisibleFields(t) {
		_, how, _ := strings.Cut(f.Tag.Get("py"), ",")
		if how != "return" {
			continue
		}
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind, read, _ := w.typed(attribute{name: key, paths: []string{key}, kind: f.Type})
		read = strings.Replace(read, "r[", "%s[", 1)
		if kind == "str" || kind == "int" {
			read = kind + "(" + read + ")"
		}
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Slice { // long ones, which stay as they are
			kind, _ := w.item(f.Type)
			return kind, "list(%s[\"" + key + "\"])"
		}
		return kind, read
	}
	return className(t), w.class(t) + "(%s)"
}
