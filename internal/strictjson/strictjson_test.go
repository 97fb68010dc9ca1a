package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

type inner struct {
	B int   `json:"b"`
	C []any `json:"c"`
}

type outer struct {
	inner
	A      int              `json:"a"`
	List   []inner          `json:"list"`
	Groups map[string]inner `json:"groups"`
	Raw    json.RawMessage  `json:"raw,omitempty"`
	Own    own              `json:"own"`
	Plain  *int
	Out    int `json:"-"`
}

// own decodes itself, from any object.
type own struct{ text string }

func (o *own) UnmarshalJSON(data []byte) error { o.text = string(data); return nil }

// TestDecode: what is read has one meaning; all else is an error with its place.
func TestDecode(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":2,"c":[{"x":1},{"x":2}],"Plain":3}`:       "",
		`{"groups":{"a":{"b":1},"A":{"b":2}},"list":[{},{}]}`: "",
		` {"own":{"x":{"y":1}}, "raw" : {"z" : [1, 2 ] } } `:  "",
		"{\"a\":1}\n":                      "",
		`{}`:                               "",
		`null`:                             "",
		`{"a":1,"a":2}`:                    `the key "a" at byte 8 is set a second time; the first is at byte 2`,
		"{\n \"a\":1,\n \"a\":2\n}":        `the key "a" at line 3, byte 2 is set a second time; the first is at line 2, byte 2`,
		`{"a":1,"A":2}`:                    `the key "A" at byte 8 differs from "a" at byte 2 in its case only`,
		`{"a":1,"\u0061":2}`:               `the key "a" at byte 8 is set a second time; the first is at byte 2`,
		`{"A":1}`:                          `the key "A" at byte 2 is unknown`,
		`{"b":1,"d":2}`:                    `the key "d" at byte 8 is unknown`,
		`{"Out":1}`:                        `the key "Out" at byte 2 is unknown`,
		`{"-":1}`:                          `the key "-" at byte 2 is unknown`,
		`{"inner":{"b":1}}`:                `the key "inner" at byte 2 is unknown`,
		`{"list":[{"b":1},{"b":1,"b":2}]}`: `the key "b" at byte 25 is set a second time; the first is at byte 19`,
		`{"list":[{"x":1}]}`:               `the key "x" at byte 11 is unknown`,
		`{"groups":{"a":{"b":1},"a":{}}}`:  `the key "a" at byte 24 is set a second time; the first is at byte 12`,
		`{"groups":{"a":{"x":1}}}`:         `the key "x" at byte 17 is unknown`,
		`{"list":[{"b":1,"B":2}]}`:         `the key "B" at byte 17 differs from "b" at byte 11 in its case only`,
		`{"raw":{"ſ":1,"s":2}}`:            "", // whoever reads it tells them apart
		`{"own":{"x":1,"x":2}}`:            `the key "x" at byte 15 is set a second time; the first is at byte 9`,
		`{"c":[[{"x":1,"x":2}]]}`:          `the key "x" at byte 15 is set a second time; the first is at byte 9`,
		`{"a":1} {"a":2}`:                  "is not one JSON value (invalid character '{' after top-level value, byte 9)",
		`{"a":1`:                           "is not one JSON value (unexpected end of JSON input, byte 6)",
		"{\n\"a\":01}":                     "is not one JSON value (invalid character '1' after object key:value pair, line 2, byte 6)",
		"":                                 "is not one JSON value (unexpected end of JSON input, byte 1)",
		"{\"raw\":\"\xff\"}":               "byte 9, 0xff, is not UTF-8",
		`{"raw":"\ud83d"}`:                 `\ud83d at byte 9 is half of a surrogate pair`,
		`{"a":"x"}`:                        "json: cannot unmarshal string into Go struct field outer.a of type int",
	} {
		got := ""
		if err := Decode([]byte(text), &outer{}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: error %q, want %q", text, got, want)
		}
	}
	if err := Text([]byte("{} x")); !errors.Is(err, ErrValue) {
		t.Errorf("%v is not ErrValue", err)
	}
}

// FuzzDecode: a value that is let through means the same to readers that take the first of two keys, and the last.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{`{"a":1,"b":{"a":[{},{"c":null}]}}`, `{"a":1,"a":2}`, `{"a":1,"A":2}`, `{"a":{"b":1,"b":2}}`, `{"a":[{"b":1},{"b":2}]}`, `{"":1,"\u0061":2,"a":3}`, `[1,"]",{"}":"{"}]`, `{"k":1,"K":2}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got any
		err := Decode(text, &got)
		if (err == nil) != (Text(text) == nil && Keys(text, nil) == nil) {
			t.Fatalf("%q: %v", text, err)
		}
		if Text(text) != nil {
			return
		}
		var lax any
		if json.Unmarshal(text, &lax) != nil {
			return
		}
		there, twins := keysIn(t, text), twinsOf(lax)
		if same := there == keysOf(lax) && !twins; same != (err == nil) {
			t.Fatalf("%q: %d keys are read of %d, alike but for their case %v, error %v", text, keysOf(lax), there, twins, err)
		}
	})
}

// keysIn counts the keys of a text.
func keysIn(t *testing.T, text []byte) (keys int) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type level struct{ object, value bool }
	var stack []level
	for {
		token, err := d.Token()
		if err == io.EOF {
			return keys
		}
		if err != nil {
			t.Skip(err)
		}
		switch delim, _ := token.(json.Delim); {
		case delim == '}' || delim == ']':
			stack = stack[:len(stack)-1]
			continue
		case len(stack) > 0 && stack[len(stack)-1].object:
			top := &stack[len(stack)-1]
			if top.value = !top.value; top.value {
				keys++
				continue
			}
		}
		if delim, ok := token.(json.Delim); ok {
			stack = append(stack, level{object: delim == '{'})
		}
	}
}

// keysOf counts the keys of a value that was read.
func keysOf(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			n += 1 + keysOf(x)
		}
	case []any:
		for _, x := range v {
			n += keysOf(x)
		}
	}
	return n
}

// twinsOf reports whether two keys of an object, itself, differ in their case only.
func twinsOf(v any) bool {
	keys, _ := v.(map[string]any)
	for a := range keys {
		for b := range keys {
			if a != b && strings.EqualFold(a, b) {
				return true
			}
		}
	}
	return false
}
