// Package strictjson reads JSON that has one meaning. Package encoding/json takes the last of two
// equal keys, keys in any case and, unless told otherwise, unknown keys. It puts a replacement for
// text that is not UTF-8. Other readers differ, and so may what a person sees. Here all of that is
// an error with its place.
//
// Every request, file of clients, ledger, randomizer and result that is read goes through it.
//
// Do not use it for values that this process has just written.
package strictjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dpaccountant/accountant/internal/decimal"
)

// Decode reads one JSON value, with nothing behind it, into what v points to. The keys of an object that becomes
// a struct are those of its tags, in their case; see Keys.
func Decode(data []byte, v any) error {
	if err := Text(data); err != nil {
		return err
	}
	if err := Keys(data, reflect.TypeOf(v)); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// ErrValue is wrapped by the error of Text about what is not one JSON value.
var ErrValue = errors.New("is not one JSON value")

// Text returns an error for what is not one JSON value, or what encoding/json would change in silence: text that
// is not UTF-8, and half of a surrogate pair.
func Text(data []byte) error {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Errorf("%s, 0x%02x, is not UTF-8", place(data, i), data[i])
		}
		i += n
	}
	if !json.Valid(data) {
		var raw json.RawMessage
		var wrong *json.SyntaxError
		if errors.As(json.Unmarshal(data, &raw), &wrong) {
			return fmt.Errorf("%w (%v, %s)", ErrValue, wrong, place(data, max(0, int(wrong.Offset)-1)))
		}
		return ErrValue
	}
	return checkEscapes(data)
}

// checkEscapes returns an error if an escape of valid JSON is half of a surrogate pair: no text has it.
func checkEscapes(data []byte) error {
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		i++ // the escaped character, which may be a backslash
		if data[i] != 'u' {
			continue
		}
		r := hex4(data[i+1:])
		if utf16.IsSurrogate(r) {
			rest := data[i+5:]
			if !bytes.HasPrefix(rest, []byte(`\u`)) || utf16.DecodeRune(r, hex4(rest[2:])) == utf8.RuneError {
				return fmt.Errorf("%s at %s is half of a surrogate pair", data[i-1:i+5], place(data, i-1))
			}
			i += 6
		}
		i += 4
	}
	return nil
}

// hex4 is the number that four hexadecimal digits stand for.
func hex4(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits[:4]), 16, 16)
	return rune(n)
}

// place names a byte of data, from 1, with its line if there are several.
func place(data []byte, at int) string {
	if bytes.IndexByte(bytes.TrimRight(data, "\n"), '\n') < 0 {
		return fmt.Sprintf("byte %d", at+1)
	}
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	return fmt.Sprintf("line %d, byte %d", 1+bytes.Count(data[:at], []byte("\n")), at-start+1)
}

// Keys returns an error if an object of valid JSON has a key twice, or one that the struct of this type that it becomes
// has not. In a struct, and in the value itself, keys that differ in their case only are the same; the keys of a map
// are values. A type of nil, or one that decodes itself, has any keys, and what reads them tells their case.
func Keys(data []byte, t reflect.Type) error {
	if bytes.IndexByte(data, '{') < 0 {
		return nil
	}
	w := walker{data: data, start: len(data) - len(bytes.TrimLeft(data, " \t\r\n"))}
	return w.value(t)
}

// A walker goes through valid JSON.
type walker struct {
	data      []byte
	start, at int // of the value itself, and of what comes next
}

// space moves to the next byte that is no blank, and returns it.
func (w *walker) space() byte {
	for w.data[w.at] == ' ' || w.data[w.at] == '\n' || w.data[w.at] == '\t' || w.data[w.at] == '\r' {
		w.at++
	}
	return w.data[w.at]
}

// text moves behind a string, and returns it as it is written.
func (w *walker) text() []byte {
	start := w.at
	for w.at++; w.data[w.at] != '"'; w.at++ {
		if w.data[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	return w.data[start:w.at]
}

// value moves behind a value.
func (w *walker) value(t reflect.Type) error {
	t = decoded(t)
	switch w.space() {
	case '{':
		return w.object(t)
	case '"':
		w.text()
		return nil
	case '[':
		var of reflect.Type
		if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
			of = t.Elem()
		}
		for w.at++; w.space() != ']'; {
			if err := w.value(of); err != nil {
				return err
			}
			if w.space() == ',' {
				w.at++
			}
		}
		w.at++
		return nil
	}
	for ; w.at < len(w.data); w.at++ {
		switch w.data[w.at] {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return nil
		}
	}
	return nil
}

// object moves behind an object.
func (w *walker) object(t reflect.Type) error {
	var fields map[string]reflect.Type
	if t != nil && t.Kind() == reflect.Struct {
		fields = fieldsOf(t)
	}
	isMap := t != nil && t.Kind() == reflect.Map
	anyCase := fields != nil || w.at == w.start && !isMap
	type seen struct {
		key string
		at  int
	}
	keys := map[string]seen{}
	for w.at++; w.space() != '}'; {
		at := w.at
		var key string
		if quoted := w.text(); bytes.IndexByte(quoted, '\\') < 0 {
			key = string(quoted[1 : len(quoted)-1])
		} else if err := json.Unmarshal(quoted, &key); err != nil {
			return err
		}
		name := key
		if anyCase {
			name = fold(key)
		}
		if first, twice := keys[name]; twice {
			if first.key == key {
				return fmt.Errorf("the key %s at %s is set a second time; the first is at %s", decimal.Show(key), place(w.data, at), place(w.data, first.at))
			}
			return fmt.Errorf("the key %s at %s differs from %s at %s in its case only", decimal.Show(key), place(w.data, at), decimal.Show(first.key), place(w.data, first.at))
		}
		keys[name] = seen{key, at}
		var of reflect.Type
		if fields != nil {
			var known bool
			if of, known = fields[key]; !known {
				return fmt.Errorf("the key %s at %s is unknown", decimal.Show(key), place(w.data, at))
			}
		} else if isMap {
			of = t.Elem()
		}
		w.space()
		w.at++ // the colon
		if err := w.value(of); err != nil {
			return err
		}
		if w.space() == ',' {
			w.at++
		}
	}
	w.at++
	return nil
}

// fold is the same for texts that encoding/json takes for one key.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		for next := unicode.SimpleFold(r); ; next = unicode.SimpleFold(next) {
			if next <= r {
				return next
			}
		}
	}, key)
}

// decoded is the type that a value of JSON becomes, nil for one that says nothing of keys.
func decoded(t reflect.Type) reflect.Type {
	for t != nil {
		p := reflect.PointerTo(t)
		switch {
		case p.Implements(reflect.TypeFor[json.Unmarshaler]()), p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()), t.Kind() == reflect.Interface:
			return nil
		case t.Kind() != reflect.Pointer:
			return t
		}
		t = t.Elem()
	}
	return nil
}

var known sync.Map // of structs: their fields by key

// fieldsOf returns the types of a struct's fields by their keys.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if fields, ok := known.Load(t); ok {
		return fields.(map[string]reflect.Type)
	}
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-" || f.Anonymous && name == "" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		fields[name] = f.Type
	}
	known.Store(t, fields)
	return fields
}
