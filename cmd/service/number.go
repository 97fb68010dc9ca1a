package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
)

// This file has the numbers of requests, which are kept as they were written so that messages
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
