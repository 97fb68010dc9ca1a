package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/strictjson"
)

// This file reads requests in JSON.

// head has the keys that every request may have beside those of its operation.
type head struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Op      string          `json:"op"`
	Timeout Decimal         `json:"timeout,omitempty" in:"(0, 1e6]" help:"after so many {seconds} there is no answer"`
}

// typeName puts a type into the words of JSON.
func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Decimal]():
		return "number"
	case reflect.TypeFor[PlanText]():
		return "plan"
	case reflect.TypeFor[json.RawMessage]():
		return "JSON value"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		of := typeName(t.Elem())
		if of == "number" || of == "string" || of == "object" || of == "whole number" {
			of += "s"
		}
		return "list of " + of
	case reflect.Struct:
		return "object"
	}
	return t.Kind().String()
}

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

// checkKeys returns an error if an object of a request has a key twice, in whatever case.
func checkKeys(line []byte) error {
	if err := strictjson.Keys(line, nil); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	return nil
}

// An object is a JSON object whose values have not been read.
type object map[string]json.RawMessage

// readObject returns the keys of a request with their values.
func readObject(data []byte) (given object, err error) {
	if err := json.Unmarshal(data, &given); err != nil {
		return nil, jsonFault("request", err)
	}
	return given, nil
}

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
	names := slices.Clone(headKeys)
	for _, k := range keys {
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

// headKeys are the names of the keys of a head.
var headKeys = func() (names []string) {
	for _, k := range keysOf(reflect.TypeFor[head]()) {
		names = append(names, k.Name)
	}
	return names
}()

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
	switch {
	case t == reflect.TypeFor[int]() || t == reflect.TypeFor[int64]():
		return fmt.Sprintf("a whole number in [-2^%d, 2^%[1]d)", t.Bits()-1)
	case t.Kind() == reflect.Slice:
		return "a " + typeName(t)
	case t.Kind() == reflect.Float64:
		return "a number that fits 64 bits"
	case t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	return "a JSON value of the right type"
}
