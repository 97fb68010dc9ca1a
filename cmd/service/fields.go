package service

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/strictjson"
)

// This file knows the fields of requests by the tags of their structs, the one place that says
// what a field is called, means and may be:
//
//	json:"name,omitempty"     its key; without omitempty it must be given
//	help:"number of {steps}"  what it means, in a line; {steps} names its value
//	in:"(0, 1)"               the range of a number, or "whole [1, 2^53]" of a whole one
//	one:"poisson,shuffle"     the words that it may be
//	preset:"1e-12"            its value where none is given
//	not:"steps"               keys that it excludes
//	with:"at-fpr"             keys that it needs
//	or:"steps"                keys one of which must be given if it is not
//	apart:"target-epsilon"    a key that, where it is given, has each of several values answered apart
//	of:"kind=best,top!"       words of the key kind that it goes with; one with a mark needs it
//
// Frontends make flags, schemas and pages of them.

// A Key is a key of a request. Its JSON is what a form needs to know of it.
type Key struct {
	Name     string `json:"-"`
	Optional bool   `json:"-"`
	// Type is what JSON has there: "number", "whole number", "string", "true or
	// false", "list of …", "plan" or "JSON value".
	Type  string `json:"type"`
	Whole bool   `json:"whole,omitempty"` // of a number
	// Help is what the key means; a word in braces stands for its value.
	Help   string   `json:"help,omitempty"`
	Words  []string `json:"words,omitempty"`  // that a text may be; nil for any
	Preset string   `json:"preset,omitempty"` // what it is where it is not given
	Apart  string   `json:"-"`                // of a list: the key without which its values have one answer; "" for none

	span      span
	not, with []string
	or        []string
	of        string   // the key whose word says whether this one is of use
	use, need []string // words of that key that it goes with, and those of them that need it
	index     []int    // of the field
	instead   []int    // of a field that a front end may fill in its place; nil for none
}

// known has the keys of types whose tags were read: a command line has flags of dozens of requests.
var known sync.Map

// keysOf returns the keys of a request's type, those of embedded structs included. They are shared.
func keysOf(t reflect.Type) []Key {
	if keys, ok := known.Load(t); ok {
		return keys.([]Key)
	}
	var keys []Key
	instead := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if of := f.Tag.Get("instead"); of != "" {
			instead[of] = f.Index
		}
		if f.Anonymous || !f.IsExported() || name == "-" || name == "" {
			continue
		}
		k := Key{Name: name, Optional: strings.Contains(options, "omitempty"), Type: typeName(f.Type), Help: f.Tag.Get("help"), Preset: f.Tag.Get("preset"), Apart: f.Tag.Get("apart"), index: f.Index}
		for tag, to := range map[string]*[]string{"one": &k.Words, "not": &k.not, "with": &k.with, "or": &k.or} {
			if words := f.Tag.Get(tag); words != "" {
				*to = strings.Split(words, ",")
			}
		}
		k.span = spanOf(f.Tag.Get("in"))
		k.Whole = k.span.whole
		of, words, _ := strings.Cut(f.Tag.Get("of"), "=")
		for word := range strings.SplitSeq(words, ",") {
			word, needed := strings.CutSuffix(word, "!")
			if k.use = append(k.use, word); needed {
				k.need = append(k.need, word)
			}
		}
		k.of = of
		keys = append(keys, k)
	}
	for i, k := range keys {
		keys[i].instead = instead[k.Name]
	}
	known.Store(t, keys)
	return keys
}

// Field returns the field of a request, a pointer to a struct, that has the key.
func (k Key) Field(request any) any {
	return reflect.ValueOf(request).Elem().FieldByIndex(k.index).Addr().Interface()
}

// Keys returns the keys of a request, a pointer to a struct.
func Keys(request any) []Key { return keysOf(reflect.TypeOf(request).Elem()) }

// KeyOf returns the key of a request, a pointer to a struct, that has a name, nil where none has.
func KeyOf(request any, name string) *Key {
	keys := Keys(request)
	if i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name }); i >= 0 {
		return &keys[i]
	}
	return nil
}

// given returns the names of those keys of a request, a pointer to a struct, that have a value.
func given(request any, of ...string) (names []string) {
	for _, k := range Keys(request) {
		v := reflect.ValueOf(request).Elem()
		if slices.Contains(of, k.Name) && !(v.FieldByIndex(k.index).IsZero() && (k.instead == nil || v.FieldByIndex(k.instead).IsZero())) {
			names = append(names, k.Name)
		}
	}
	return names
}

// chosen returns the word of the key that says whether k is of use, "" if it has none of its words.
func (k Key) chosen(request any) string {
	if by := KeyOf(request, k.of); by != nil {
		if word := cmp.Or(*by.Field(request).(*string), by.Preset); slices.Contains(by.Words, word) {
			return word
		}
	}
	return ""
}

// A shaped request has keys that do not all go together.
type shaped interface{ shape() error }

// Check returns what is wrong with a request, a pointer to a struct, as far as its own fields show: which of
// them are given, their words and their ranges.
func Check(request any) error {
	for _, k := range Keys(request) {
		there := given(request, k.Name) != nil
		switch word := k.chosen(request); {
		case word != "" && there && !slices.Contains(k.use, word):
			return shape("%s is of no use to "+word, k.Name)
		case !there && slices.Contains(k.need, word):
			return shape("missing %s, which "+word+" needs", k.Name)
		case !there:
			continue
		}
		if other := given(request, k.not...); other != nil {
			return shape("%s and %s exclude each other", k.Name, other[0])
		}
		for _, other := range k.with {
			if given(request, other) == nil {
				return shape("%s needs %s", k.Name, other)
			}
		}
	}
	if s, ok := request.(shaped); ok {
		if err := s.shape(); err != nil {
			return err
		}
	}
	for _, k := range Keys(request) {
		if k.or != nil && given(request, k.Name) == nil && given(request, k.or...) == nil {
			return shape("missing %s (or %s)", k.Name, k.or[0])
		}
		if err := k.check(k.Field(request)); err != nil {
			return err
		}
	}
	return nil
}

// ready checks a request and fills in the presets. From then on its numbers are in their ranges.
func ready(request any) error {
	if err := Check(request); err != nil {
		return err
	}
	for _, k := range Keys(request) {
		f := k.Field(request)
		if k.Preset == "" || !reflect.ValueOf(f).Elem().IsZero() {
			continue
		}
		if err := json.Unmarshal(k.preset(), f); err != nil {
			return err
		}
	}
	return nil
}

// missing returns an error for a plan, a text or a JSON value that must be given and is not. Check does so for numbers.
func missing(request any) error {
	for _, k := range Keys(request) {
		what, ok := map[string]string{"plan": "JSON, or a string with YAML", "string": "a text", "JSON value": "a JSON value"}[k.Type]
		if ok && !k.Optional && given(request, k.Name) == nil {
			return fault.New(k.Name, "is missing; must be %s", what)
		}
	}
	return nil
}

// preset is the value of a key that is not given, as JSON.
func (k Key) preset() json.RawMessage {
	switch {
	case k.Type == "string":
		return json.RawMessage(strconv.Quote(k.Preset))
	case strings.HasPrefix(k.Type, "list"):
		return json.RawMessage("[" + k.Preset + "]")
	}
	return json.RawMessage(k.Preset)
}

func (k Key) check(field any) error {
	switch f := field.(type) {
	case *Decimal:
		if *f == "" && k.Optional {
			return nil
		}
		return f.check(k.Name, k.span)
	case *Decimals:
		if len(*f) == 0 && !k.Optional {
			return Decimal("").check(k.Name, k.span)
		}
		if *f != nil && len(*f) == 0 {
			return fault.New(k.Name, "is an empty list; must be numbers in %v", k.span)
		}
		return f.check(k.Name, k.span)
	case *string:
		if k.Words != nil && !(*f == "" && k.Optional) && !slices.Contains(k.Words, *f) {
			return OneOf(k.Name, *f, k.Words...)
		}
	case *float64:
		if !k.span.contains(*f) {
			return fault.New(k.Name, "%v is not in %v", *f, k.span)
		}
	case **float64:
		if *f != nil {
			return k.check(*f)
		}
	case **int:
		if *f != nil && !k.span.contains(float64(**f)) {
			return fault.New(k.Name, "%d is not in %v", **f, k.span)
		}
	}
	return nil
}

// A span is the range of a number.
type span struct {
	lo, hi         float64
	openLo, openHi bool
	whole          bool
	any            bool // the zero tag: every number is in it
}

// spanOf reads the tag of a range.
func spanOf(tag string) (r span) {
	if tag == "" {
		return span{any: true}
	}
	tag, r.whole = strings.CutPrefix(tag, "whole ")
	r.openLo, r.openHi = tag[0] == '(', tag[len(tag)-1] == ')'
	lo, hi, _ := strings.Cut(tag[1:len(tag)-1], ", ")
	for text, to := range map[string]*float64{lo: &r.lo, hi: &r.hi} {
		number, negative := strings.CutPrefix(text, "-")
		switch x, err := strconv.ParseFloat(number, 64); {
		case number == "2^53":
			*to = decimal.MaxWhole
		case number == "max":
			*to = math.MaxFloat64
		case err != nil:
			panic("service: the range " + tag + " of a field cannot be read")
		default:
			*to = x
		}
		if negative {
			*to = -*to
		}
	}
	return r
}

func (r span) contains(x float64) bool {
	return r.any || x >= r.lo && x <= r.hi && !(r.openLo && x == r.lo) && !(r.openHi && x == r.hi)
}

func (r span) String() string {
	if r.whole {
		return fmt.Sprintf("[%d, %d]", int64(r.lo), int64(r.hi))
	}
	left, right := "[", "]"
	if r.openLo {
		left = "("
	}
	if r.openHi {
		right = ")"
	}
	return fmt.Sprintf("%s%v, %v%s", left, r.lo, r.hi, right)
}

// check reports whether the number is there and in the range.
func (d Decimal) check(key string, r span) error {
	what := "in"
	if r.whole {
		what = "a whole number in"
	}
	text := strings.TrimSpace(string(d))
	if d == "" {
		return fault.New(key, "is missing; must be %s %v", what, r)
	}
	if r.whole {
		if n, err := decimal.Whole(text); err != nil || n < int64(r.lo) || n > int64(r.hi) {
			return fault.New(key, "%s is not %s %v", decimal.Show(text), what, r)
		}
		return nil
	}
	x, err := decimal.Parse(text)
	if err != nil {
		return fault.New(key, "%s %w", decimal.Show(text), err)
	}
	if !r.contains(x) {
		return fault.New(key, "%s is not %s %v", text, what, r)
	}
	return nil
}

// check reports whether all numbers are in the range.
func (ds Decimals) check(key string, r span) error {
	if len(ds) > MaxValues {
		return fault.New(key, "%d values are more than %d", len(ds), MaxValues)
	}
	for i, d := range ds {
		if d == "" {
			d = " " // a gap in a list is no number, not one that was left out
		}
		at := key
		if len(ds) > 1 {
			at = fmt.Sprintf("%s[%d]", key, i)
		}
		if err := d.check(at, r); err != nil {
			return err
		}
	}
	return nil
}

// float is a number that was checked, 0 for one that was not given.
func (d Decimal) float() float64 {
	x, _ := decimal.Parse(strings.TrimSpace(string(d)))
	return x
}

// whole is a whole number that was checked, 0 for one that was not given.
func (d Decimal) whole() int64 {
	n, _ := decimal.Whole(strings.TrimSpace(string(d)))
	return n
}

// float is the first of numbers that were checked, 0 for none.
func (ds Decimals) float() float64 {
	if len(ds) == 0 {
		return 0
	}
	return ds[0].float()
}

// floats are numbers that were checked, nil for none.
func (ds Decimals) floats() (xs []float64) {
	for _, d := range ds {
		xs = append(xs, d.float())
	}
	return xs
}

// Listed returns the numbers of a text with commas between them.
func Listed(text string) (ds Decimals) {
	for part := range strings.SplitSeq(text, ",") {
		ds = append(ds, Decimal(part))
	}
	return ds
}

// upTo is the range of whole numbers from 1.
func upTo(n int64) span { return span{lo: 1, hi: float64(n), whole: true} }

// openUnit is the range of a probability that is neither 0 nor 1.
var openUnit = span{lo: 0, hi: 1, openLo: true, openHi: true}

// What follows reads requests in JSON.

// head has the keys that every request may have beside those of its operation.
type head struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Op      string          `json:"op"`
	Timeout Decimal         `json:"timeout,omitempty" in:"(0, 1e6]" help:"after so many {seconds} there is no answer"`
}

// typeName puts a type into the words of JSON.
func typeName(t reflect.Type) string {
	name, ok := typeNames[t]
	switch {
	case ok:
		return name
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem())
	case t.Kind() == reflect.Slice:
		of := typeName(t.Elem())
		if of == "number" || of == "string" || of == "object" || of == "whole number" {
			of += "s"
		}
		return "list of " + of
	}
	return cmp.Or(kindNames[t.Kind()], t.Kind().String())
}

// typeNames and kindNames are the words of JSON for types, and for those of a kind.
var (
	typeNames = map[reflect.Type]string{reflect.TypeFor[Decimal](): "number", reflect.TypeFor[PlanText](): "plan", reflect.TypeFor[json.RawMessage](): "JSON value"}
	kindNames = map[reflect.Kind]string{
		reflect.Float64: "number", reflect.Int: "whole number", reflect.Int64: "whole number", reflect.Uint64: "whole number", reflect.Bool: "true or false",
		reflect.Struct: "object",
	}
)

// checkText returns an error for a line that is no JSON object, or one whose text encoding/json would
// change in silence.
func checkText(line []byte) error {
	err := strictjson.Text(line)
	switch {
	case errors.Is(err, strictjson.ErrValue):
		return errors.New("request: is not one JSON value on one line")
	case err != nil:
		return fmt.Errorf("request: %w", err)
	case line[0] != '{':
		return errors.New("request: is not a JSON object")
	}
	return nil
}

// An object is a JSON object whose values have not been read.
type object map[string]json.RawMessage

// read reads the value of a key, which may be left out. Places in its errors count from the value.
func (o object) read(key string, to any) error {
	if raw, ok := o[key]; ok {
		if err := strictjson.Keys(raw, reflect.TypeOf(to)); err != nil {
			return jsonFault(key, err)
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return jsonFault(key, err)
		}
	}
	return nil
}

// decode reads the keys of a request into q, a pointer to its struct. A key must be
// written as it is in the tags: encoding/json would take it in any case.
func (o object) decode(q any, keys []Key) error {
	var names []string
	for _, k := range slices.Concat(keysOf(reflect.TypeFor[head]()), keys) {
		names = append(names, k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(names, name) {
			return fault.New("request", "unknown key %s; %s", decimal.Show(name), nearest.Hint(name, names))
		}
	}
	for _, k := range keys {
		if err := o.read(k.Name, k.Field(q)); err != nil {
			return err
		}
	}
	return nil
}

// jsonFault puts an error of encoding/json about a key into words.
func jsonFault(key string, err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		if wrong.Field != "" { // inside of an object
			key += "." + wrong.Field
		}
		return fault.New(key, "a JSON %s is not %s", wrong.Value, inWords(wrong.Type))
	case errors.As(err, new(*fault.Error)):
		return fault.In(key, err)
	}
	return fault.New(key, "%s", strings.TrimPrefix(err.Error(), "json: "))
}

// inWords says what a JSON value should have been.
func inWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return fmt.Sprintf("a whole number in [-2^%d, 2^%[1]d)", t.Bits()-1)
	case reflect.Slice:
		return "a " + typeName(t)
	case reflect.Float64:
		return "a number that fits 64 bits"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	}
	return "a JSON value of the right type"
}

// What follows has the numbers of requests, which are kept as they were written so that messages
// have them as their writers do, and the numbers of answers.

// A Number is a float64 that JSON can say: an infinity is the string "Infinity".
type Number float64

// String is what JSON has, without quotes.
func (x Number) String() string {
	return strings.ReplaceAll(decimal.Short(float64(x)), "∞", "Infinity")
}

// MarshalJSON implements json.Marshaler.
func (x Number) MarshalJSON() ([]byte, error) {
	switch f := float64(x); {
	case math.IsInf(f, 0):
		return []byte(`"` + x.String() + `"`), nil
	case math.IsNaN(f):
		return nil, fmt.Errorf("an answer is not a number")
	default:
		return []byte(decimal.Short(f)), nil
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *Number) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case `"Infinity"`:
		*x = Number(math.Inf(1))
		return nil
	case `"-Infinity"`:
		*x = Number(math.Inf(-1))
		return nil
	}
	return json.Unmarshal(data, (*float64)(x))
}

// A Decimal is a number of a request as it was written, so that no digit is lost and
// messages have it as its writer does. The empty text is a number that was not given.
type Decimal string

// Decimals are a list of numbers of a request, nil if none was given.
type Decimals []Decimal

// Float returns the shortest Decimal that stands for x.
func Float(x float64) Decimal { return Decimal(decimal.Short(x)) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Decimal) UnmarshalJSON(data []byte) error {
	if *d = ""; data[0] == 'n' {
		return nil
	}
	var x float64
	if err := json.Unmarshal(data, &x); err != nil {
		return err
	}
	*d = Decimal(data)
	return nil
}

// MarshalJSON implements json.Marshaler.
func (d Decimal) MarshalJSON() ([]byte, error) {
	if d == "" {
		return []byte("null"), nil
	}
	if json.Valid([]byte(d)) {
		return []byte(d), nil
	}
	x, err := decimal.Parse(strings.TrimSpace(string(d)))
	if err != nil {
		return nil, err
	}
	return Number(x).MarshalJSON()
}

// UnmarshalJSON implements json.Unmarshaler. A number alone is a list of one.
func (ds *Decimals) UnmarshalJSON(data []byte) error {
	if c := data[0]; c == '-' || c >= '0' && c <= '9' {
		*ds = make(Decimals, 1)
		return (*ds)[0].UnmarshalJSON(data)
	}
	return json.Unmarshal(data, (*[]Decimal)(ds))
}

// MaxValues bounds how many numbers a list of a request may have.
const MaxValues = 10000

// A ShapeError is about keys of a request that do not go together. Its text is made
// from the names of the keys, for which a front end has its own.
type ShapeError struct {
	Format string // of fmt.Sprintf, with a %s for each key
	Keys   []string
}

// Error has the keys as a request has them.
func (e *ShapeError) Error() string { return e.With(func(key string) string { return key }) }

// With returns the text with the names that a front end has for the keys.
func (e *ShapeError) With(name func(key string) string) string {
	var names []any
	for _, k := range e.Keys {
		names = append(names, name(k))
	}
	return fmt.Sprintf(e.Format, names...)
}

// shape returns a ShapeError.
func shape(format string, keys ...string) error { return &ShapeError{format, keys} }

// renamed returns the error of the library about one of its fields as one about a key of the request: names are pairs of what
// the library calls it and what the request does, "" for the mechanism or scheme around the field.
func renamed(err error, names ...string) error {
	return fault.Rename(err, func(name string) string {
		for i := 0; i < len(names); i += 2 {
			if names[i] == name {
				return names[i+1]
			}
		}
		return name
	})
}

// Marshal is json.Marshal for what no HTML page holds: signs stay as they are.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// What follows describes the types of requests and answers as JSON Schema, by reflection: what a
// type has in its tags is in the description, and nothing else. A type that writes its own JSON
// has its schema here; a new one without is found by TestSchemas, which compares real answers.

// Schemas collects the schemas of types that have names, for a document that refers to them at
// the path Under, such as "#/components/schemas/".
type Schemas struct {
	Under   string
	Defined map[string]any
}

// A schema is an object of JSON Schema.
type schema = map[string]any

// ownSchemas are those of types that write their own JSON.
var ownSchemas = map[reflect.Type]schema{
	reflect.TypeFor[Number]():          {"anyOf": []any{schema{"type": "number"}, schema{"enum": []any{"Infinity", "-Infinity"}}}},
	reflect.TypeFor[Decimal]():         {"type": []any{"number", "null"}},
	reflect.TypeFor[Decimals]():        {"anyOf": []any{schema{"type": []any{"number", "null"}}, schema{"type": "array", "items": schema{"type": "number"}, "maxItems": MaxValues}}},
	reflect.TypeFor[PlanText]():        {"anyOf": []any{schema{"type": "object"}, schema{"type": "string"}}, "description": "A plan as JSON, or the text of a plan file."},
	reflect.TypeFor[json.RawMessage](): {},
}

// kindSchemas are those of simple types.
var kindSchemas = map[reflect.Kind]schema{
	reflect.Bool: {"type": "boolean"}, reflect.Float64: {"type": "number"}, reflect.Int: {"type": "integer"}, reflect.Int64: {"type": "integer"},
	reflect.Uint64: {"type": "integer", "minimum": 0}, reflect.String: {"type": "string"},
}

// Of returns the schema of a type. A struct that has a name becomes a reference to a definition.
func (d *Schemas) Of(t reflect.Type) map[string]any {
	if own, ok := ownSchemas[t]; ok {
		return own
	}
	if simple, ok := kindSchemas[t.Kind()]; ok {
		return simple
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schema{"anyOf": []any{d.Of(t.Elem()), schema{"type": "null"}}}
	case reflect.Slice, reflect.Array:
		return schema{"type": []any{"array", "null"}, "items": d.Of(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": d.Of(t.Elem())}
	case reflect.Struct:
		if t.Name() == "" {
			return d.properties(t)
		}
		name := strings.NewReplacer("[", "-", "]", "", "/", ".", "*", "").Replace(t.Name())
		if _, ok := d.Defined[name]; !ok {
			d.Defined[name] = nil // for types that have themselves as parts
			d.Defined[name] = d.properties(t)
		}
		return schema{"$ref": d.Under + name}
	}
	return schema{} // an interface: anything
}

// properties describes the keys of a struct, those of embedded ones included.
func (d *Schemas) properties(t reflect.Type) schema {
	properties, required := schema{}, []any{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" || !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		properties[name] = d.Of(f.Type)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") && len(f.Index) == 1 {
			required = append(required, name)
		}
	}
	return closed(properties, required)
}

// closed is the schema of an object that has no other properties.
func closed(properties schema, required []any) schema {
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// RequestSchema returns the schema of an operation's request, with the keys that every request
// may have.
func (d *Schemas) RequestSchema(o Operation) map[string]any {
	all := keysOf(reflect.TypeFor[head]())
	timeout := all[len(all)-1] // the others are of the pipe
	properties, required := schema{timeout.Name: timeout.described(schema{"type": "number"})}, []any{}
	for _, k := range o.Keys {
		properties[k.Name] = k.described(d.Of(o.Request.FieldByIndex(k.index).Type))
		if !k.Optional {
			required = append(required, k.Name)
		}
	}
	return closed(properties, required)
}

// described adds to the schema of a field what its tags say.
func (k Key) described(s schema) schema {
	s = maps.Clone(s)
	if k.Help != "" {
		s["description"] = strings.NewReplacer("{", "", "}", "").Replace(k.Help)
	}
	if k.Words != nil && s["type"] == "string" {
		s["enum"] = k.Words
	}
	if k.Preset != "" {
		s["default"] = k.preset()
	}
	if k.Type != "number" || k.span.any {
		return s
	}
	low, high := "minimum", "maximum"
	if k.span.openLo {
		low = "exclusiveMinimum"
	}
	if k.span.openHi {
		high = "exclusiveMaximum"
	}
	if s[low] = k.span.lo; !math.IsInf(k.span.hi, 1) {
		s[high] = k.span.hi
	}
	if k.span.whole {
		s["multipleOf"] = 1
	}
	return s
}
