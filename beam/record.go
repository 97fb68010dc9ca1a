package beam

// This file reads and replaces the fields of one line.
//
// A record is one line: a CSV field with a line feed in it does not exist here, because a
// file is read in pieces that begin at line feeds. Such a row ends up as two dead rows.

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
)

// The formats of lines.
const (
	Text = "text" // the whole line is the one field
	CSV  = "csv"  // the first line of every file has the names
	JSON = "json" // an object on each line
)

// A Layout says what the fields of a line are. Header is the first line of every CSV file.
type Layout struct {
	Format string
	Header string
}

// Check reports whether the layout has these fields.
func (l Layout) Check(fields ...string) error {
	switch l.Format {
	case Text, JSON:
		return nil
	case CSV:
		if !utf8.ValidString(l.Header) {
			return fault.New("header", "is not UTF-8")
		}
		names, err := splitCSV(l.Header)
		if err != nil {
			return fault.New("header", "%v", err)
		}
		for _, f := range fields {
			switch at := slices.Index(names, f); {
			case f == "":
			case at < 0:
				return fault.New("column", "%q is not in the header; %s", f, nearest.Hint(f, names))
			case slices.Index(names[at+1:], f) >= 0:
				return fault.New("column", "%q is in the header twice", f)
			}
		}
		return nil
	}
	return fault.New("format", "%q is unknown; must be text, csv or json", l.Format)
}

// A reader reads the fields of lines of a layout.
type reader struct {
	layout Layout
	names  []string
}

func newReader(l Layout) (*reader, error) {
	r := &reader{layout: l}
	if l.Format != CSV {
		return r, nil
	}
	var err error
	r.names, err = splitCSV(l.Header)
	return r, err
}

// A fieldFn is what the DoFns that read fields have in common: where they are, and from Setup
// on the reader of lines.
type fieldFn[F interface{ layout() Layout }] struct {
	Fields F
	reader *reader
}

// Setup reads the header.
func (fn *fieldFn[F]) Setup() (err error) {
	fn.reader, err = newReader(fn.Fields.layout())
	return err
}

// A record is a line with its fields.
type record struct {
	of     *reader
	text   string
	fields []string          // CSV
	values map[string][2]int // JSON: where the value of a key is
}

// read splits a line.
func (r *reader) read(text string) (rec record, err error) {
	rec = record{of: r, text: text}
	switch r.layout.Format {
	case CSV:
		if text == "" {
			return rec, fmt.Errorf("is blank, must be a row")
		}
		if rec.fields, err = splitCSV(text); err != nil {
			return rec, err
		}
		if len(rec.fields) != len(r.names) {
			return rec, fmt.Errorf("has %d fields, must have %d as the header", len(rec.fields), len(r.names))
		}
	case JSON:
		rec.values, err = places(text)
	}
	return rec, err
}

// get returns a field as text: a JSON string without its quotes, a JSON number as it is.
func (rec record) get(field string) (string, error) {
	switch rec.of.layout.Format {
	case CSV:
		return rec.fields[slices.Index(rec.of.names, field)], nil
	case JSON:
		at, ok := rec.values[field]
		if !ok {
			return "", fault.New(field, "is missing")
		}
		value := rec.text[at[0]:at[1]]
		switch value[0] {
		case '"':
			var s string
			err := json.Unmarshal([]byte(value), &s)
			return s, err
		case '{', '[', 't', 'f', 'n':
			return "", fault.New(field, "must be a string or a number")
		}
		return value, nil
	}
	return rec.text, nil
}

// name returns a field that names somebody or something, and is not blank.
func (rec record) name(field string) (string, error) {
	text, err := rec.get(field)
	if err == nil && strings.TrimSpace(text) == "" {
		err = fault.New(field, "is empty")
	}
	return text, err
}

// with returns the line with another value of a field, a number or text.
func (rec record) with(field, value string, number bool) string {
	switch rec.of.layout.Format {
	case CSV:
		fields := slices.Clone(rec.fields)
		fields[slices.Index(rec.of.names, field)] = value
		return joinCSV(fields)
	case JSON:
		if !number {
			quoted, _ := json.Marshal(value)
			value = string(quoted)
		}
		at := rec.values[field]
		return rec.text[:at[0]] + value + rec.text[at[1]:]
	}
	return value
}

// splitCSV reads one record. Without quotes, which is the common case, commas separate.
func splitCSV(text string) ([]string, error) {
	if !strings.ContainsAny(text, "\"\r") {
		return strings.Split(text, ","), nil
	}
	in := csv.NewReader(strings.NewReader(text))
	fields, err := in.Read()
	if err != nil {
		if e, ok := err.(*csv.ParseError); ok {
			err = fmt.Errorf("column %d: %w", e.Column, e.Err)
		}
		return nil, err
	}
	return fields, nil
}

func joinCSV(fields []string) string {
	if !slices.ContainsFunc(fields, func(f string) bool { return f == "" || strings.ContainsAny(f, "\", \t\r\n\\") }) {
		return strings.Join(fields, ",")
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(fields)
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// places returns where the values of a JSON object are in its text.
func places(text string) (map[string][2]int, error) {
	in := json.NewDecoder(strings.NewReader(text))
	open, err := in.Token()
	if err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("is no JSON object")
	}
	values := map[string][2]int{}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return nil, fmt.Errorf("is no JSON object: %v", err)
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return nil, fmt.Errorf("is no JSON object: %v", err)
		}
		name := key.(string)
		if _, twice := values[name]; twice {
			return nil, fault.New(name, "is there twice")
		}
		end := int(in.InputOffset())
		values[name] = [2]int{end - len(value), end}
	}
	if _, err := in.Token(); err != nil {
		return nil, fmt.Errorf("is no JSON object: %v", err)
	}
	if _, err := in.Token(); err != io.EOF {
		return nil, fmt.Errorf("has something after its JSON object")
	}
	return values, nil
}
