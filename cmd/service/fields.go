package service

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
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
//
// Frontends make flags, schemas and pages of them.

// A Key is a key of a request.
type Key struct {
	Name     string
	Optional bool
	// Type is what JSON has there: "number", "whole number", "string", "true or
	// false", "list of …", "plan" or "JSON value".
	Type string
	// Help is what the key means; a word in braces stands for its value.
	Help   string
	Words  []string // that a text may be; nil for any
	Preset string   // what it is where it is not given

	span      span
	not, with []string
	index     []int // of the field
}

// known has the keys of types whose tags were read: a command line has flags of dozens of requests.
var known sync.Map

// keysOf returns the keys of a request's type, those of embedded structs included. They are shared.
func keysOf(t reflect.Type) []Key {
	if keys, ok := known.Load(t); ok {
		return keys.([]Key)
	}
	var keys []Key
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" || name == "" {
			continue
		}
		k := Key{Name: name, Optional: strings.Contains(options, "omitempty"), Type: typeName(f.Type), Help: f.Tag.Get("help"), Preset: f.Tag.Get("preset"), index: f.Index}
		for tag, to := range map[string]*[]string{"one": &k.Words, "not": &k.not, "with": &k.with} {
			if words := f.Tag.Get(tag); words != "" {
				*to = strings.Split(words, ",")
			}
		}
		k.span = spanOf(f.Tag.Get("in"))
		keys = append(keys, k)
	}
	known.Store(t, keys)
	return keys
}

// Field returns the field of a request, a pointer to a struct, that has the key.
func (k Key) Field(request any) any {
	return reflect.ValueOf(request).Elem().FieldByIndex(k.index).Addr().Interface()
}

// Whole reports whether the key is a whole number.
func (k Key) Whole() bool { return k.span.whole }

// Keys returns the keys of a request, a pointer to a struct.
func Keys(request any) []Key { return keysOf(reflect.TypeOf(request).Elem()) }

// given returns the names of those keys of a request, a pointer to a struct, that have a value.
func given(request any, of ...string) (names []string) {
	for _, k := range Keys(request) {
		if slices.Contains(of, k.Name) && !reflect.ValueOf(k.Field(request)).Elem().IsZero() {
			names = append(names, k.Name)
		}
	}
	return names
}

// A shaped request has keys that do not all go together.
type shaped interface{ shape() error }

// Check returns what is wrong with a request, a pointer to a struct, as far as its own fields show: which of
// them are given, their words and their ranges.
func Check(request any) error {
	if s, ok := request.(shaped); ok {
		if err := s.shape(); err != nil {
			return err
		}
	}
	for _, k := range Keys(request) {
		if given(request, k.Name) == nil {
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
	for _, k := range Keys(request) {
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
		if k.Words != nil && *f != "" && !slices.Contains(k.Words, *f) {
			return oneOf(k.Name, *f, k.Words...)
		}
	case *float64:
		if !k.span.contains(*f) {
			return fault.New(k.Name, "%v is not in %v", *f, k.span)
		}
	case **float64:
		if *f != nil {
			return k.check(*f)
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
		switch x, err := strconv.ParseFloat(text, 64); {
		case text == "2^53":
			*to = decimal.MaxWhole
		case text == "max", text == "-max":
			*to = math.Copysign(math.MaxFloat64, map[bool]float64{true: 1, false: -1}[text == "max"])
		case err != nil:
			panic("service: the range " + tag + " of a field cannot be read")
		default:
			*to = x
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
