package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
)

// This file has the numbers of requests, which are kept as they were written until
// their ranges are checked, and the numbers of answers.

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

// Decimals are a list of numbers of a request.
type Decimals []Decimal

// Float returns the shortest Decimal that stands for x.
func Float(x float64) Decimal { return Decimal(decimal.Short(x)) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Decimal) UnmarshalJSON(data []byte) error {
	wrong := func(what string) error {
		return &json.UnmarshalTypeError{Value: what, Type: reflect.TypeFor[float64]()}
	}
	switch data[0] {
	case 'n':
		*d = ""
		return nil
	case '"':
		return wrong("string")
	case '{':
		return wrong("object")
	case '[':
		return wrong("array")
	case 't', 'f':
		return wrong("bool")
	}
	if _, err := strconv.ParseFloat(string(data), 64); err != nil {
		return wrong("number " + string(data))
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

// OneOrMany is a number or a list of them: one asks for one answer, a list for a list.
type OneOrMany struct {
	List Decimals
	One  bool
}

// Many returns the list of some numbers.
func Many(list ...Decimal) OneOrMany { return OneOrMany{List: list} }

// One returns a single number.
func One(x Decimal) OneOrMany { return OneOrMany{Decimals{x}, true} }

// UnmarshalJSON implements json.Unmarshaler.
func (o *OneOrMany) UnmarshalJSON(data []byte) error {
	switch {
	case bytes.Equal(data, []byte("null")):
		*o = OneOrMany{}
		return nil
	case data[0] == '[':
		o.One = false
		return json.Unmarshal(data, &o.List)
	}
	o.List, o.One = make(Decimals, 1), true
	return o.List[0].UnmarshalJSON(data)
}

// MarshalJSON implements json.Marshaler.
func (o OneOrMany) MarshalJSON() ([]byte, error) {
	if o.One && len(o.List) == 1 {
		return o.List[0].MarshalJSON()
	}
	return json.Marshal(o.List)
}

// A span is the range of a number.
type span struct {
	lo, hi         float64
	openLo, openHi bool
}

func (r span) contains(x float64) bool {
	return x >= r.lo && x <= r.hi && !(r.openLo && x == r.lo) && !(r.openHi && x == r.hi)
}

func (r span) String() string {
	left, right := "[", "]"
	if r.openLo {
		left = "("
	}
	if r.openHi {
		right = ")"
	}
	return fmt.Sprintf("%s%v, %v%s", left, r.lo, r.hi, right)
}

var (
	deltaSpan    = span{lo: 0, hi: 1, openHi: true}
	epsilonSpan  = span{lo: 0, hi: math.Inf(1), openHi: true}
	rateSpan     = span{lo: 0, hi: 1, openLo: true}
	openUnit     = span{lo: 0, hi: 1, openLo: true, openHi: true}
	accuracySpan = span{lo: 1e-12, hi: 1, openHi: true}
	memorySpan   = span{lo: 1, hi: MaxMemory} // MB
	workSpan     = span{lo: 1, hi: MaxWork}
	positive     = span{lo: 0, hi: math.Inf(1), openLo: true, openHi: true}
	floorSpan    = span{lo: 1e-300, hi: 0.5} // where an axis of δ may end
)

// MaxValues bounds how many numbers a list of a request may have.
const MaxValues = 10000

// in returns the number, which must be there and in the range.
func (d Decimal) in(key string, r span) (float64, error) {
	text := strings.TrimSpace(string(d))
	if d == "" {
		return 0, fault.New(key, "is missing; must be in %v", r)
	}
	x, err := decimal.Parse(text)
	if err != nil {
		return 0, fault.New(key, "%s %w", decimal.Show(text), err)
	}
	if !r.contains(x) {
		return 0, fault.New(key, "%s is not in %v", text, r)
	}
	return x, nil
}

// or is in with a value for a number that was not given.
func (d Decimal) or(preset float64, key string, r span) (float64, error) {
	if d == "" {
		return preset, nil
	}
	return d.in(key, r)
}

// whole returns the number, which must be a whole one in [lo, hi].
func (d Decimal) whole(key string, lo, hi int64) (int64, error) {
	if d == "" {
		return 0, fault.New(key, "is missing; must be a whole number in [%d, %d]", lo, hi)
	}
	text := strings.TrimSpace(string(d))
	n, err := decimal.Whole(text)
	if err != nil || n < lo || n > hi {
		return 0, fault.New(key, "%s is not a whole number in [%d, %d]", decimal.Show(text), lo, hi)
	}
	return n, nil
}

// in returns the numbers of a list, nil for one that was not given.
func (ds Decimals) in(key string, r span) ([]float64, error) {
	if len(ds) > MaxValues {
		return nil, fault.New(key, "%d values are more than %d", len(ds), MaxValues)
	}
	var xs []float64
	for i, d := range ds {
		if d == "" {
			d = " " // a gap in a list is no number, not one that was left out
		}
		x, err := d.in(fmt.Sprintf("%s[%d]", key, i), r)
		if err != nil {
			return nil, err
		}
		xs = append(xs, x)
	}
	return xs, nil
}

// in returns the numbers, of which there must be one at least.
func (o OneOrMany) in(key string, r span) ([]float64, error) {
	switch {
	case o.One && len(o.List) == 1:
		x, err := o.List[0].in(key, r)
		return []float64{x}, err
	case len(o.List) == 0:
		return nil, fault.New(key, "is missing; must be in %v", r)
	}
	return o.List.in(key, r)
}

// A ShapeError is about keys of a request that do not go together. Its text is made
// from the names of the keys, for which a door has its own.
type ShapeError struct {
	Format string // of fmt.Sprintf, with a %s for each key
	Keys   []string
}

// Error has the keys as a request has them.
func (e *ShapeError) Error() string { return e.With(func(key string) string { return key }) }

// With returns the text with the names that a door has for the keys.
func (e *ShapeError) With(name func(key string) string) string {
	var names []any
	for _, k := range e.Keys {
		names = append(names, name(k))
	}
	return fmt.Sprintf(e.Format, names...)
}

// shape returns a ShapeError.
func shape(format string, keys ...string) error { return &ShapeError{format, keys} }

// fieldFault returns the error of the library about one of its fields as one about a key
// of the request: without the outer name, that of the mechanism or scheme, and with the
// keys of the request for those that the library calls otherwise.
func fieldFault(err error, outer string, rename map[string]string) error {
	if err == nil {
		return nil
	}
	return fault.Rename(err, func(name string) string {
		if name == outer {
			return ""
		}
		if to, ok := rename[name]; ok {
			return to
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
