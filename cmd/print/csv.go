package print

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Named is an object whose names and values take turns. A name that is empty is of an object whose names are those of this one.
type Named []any

// CSV writes v, a value that can be JSON or is Named, as CSV with a header. Lists of
// objects make the rows, and what stands next to such a list is repeated in each
// of its rows; keys inside one another are joined by a dash. Numbers are as in
// JSON. The columns come from the type of v, not from which values are there.
func CSV(w io.Writer, v any) error {
	f := flattener{paths: map[string]string{}}
	_, rows, err := f.walk(reflect.ValueOf([]any{v}), nil, nil, true)
	if err != nil {
		return err
	}
	lines := [][]string{f.columns}
	for _, r := range rows {
		line := make([]string, len(f.columns))
		for i, c := range f.columns {
			line[i] = r[c]
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// A csvRow holds cells by column.
type csvRow map[string]string

func (r csvRow) with(other csvRow) csvRow {
	out := csvRow{}
	maps.Copy(out, r)
	maps.Copy(out, other)
	return out
}

// A flattener makes a table of a value that can be JSON.
type flattener struct {
	columns []string
	paths   map[string]string // of each column: where it is in the value
}

// column names the column of a path. Lists leave no trace in the name, unless it
// is another's already.
func (f *flattener) column(path, list []string) string {
	where := strings.Join(path, ".")
	name := strings.Join(path[len(list):], "-")
	if old, ok := f.paths[name]; ok && old != where {
		name = strings.Join(path, "-")
	}
	for f.paths[name] != "" && f.paths[name] != where {
		name += "_"
	}
	if _, ok := f.paths[name]; !ok {
		f.paths[name] = where
		f.columns = append(f.columns, name)
	}
	return name
}

// walk returns the cells of v and the rows of the lists in it. list is the part
// of path that leads to the innermost list. A value that is not there still has
// its columns.
func (f *flattener) walk(v reflect.Value, path, list []string, there bool) (base csvRow, rows []csvRow, err error) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			if v.Kind() == reflect.Interface {
				return nil, nil, nil
			}
			v, there = reflect.Zero(v.Type().Elem()), false
			continue
		}
		v = v.Elem()
	}
	scalar := v.Type().Implements(reflect.TypeFor[json.Marshaler]())
	switch {
	case scalar:
	case v.Kind() == reflect.Struct || v.Kind() == reflect.Map || v.Type() == reflect.TypeFor[Named]():
		base = csvRow{}
		for _, m := range members(v) {
			at := path
			if m.name != "" {
				at = extend(path, m.name)
			}
			b, more, err := f.walk(m.value, at, list, there && !m.absent)
			if err != nil {
				return nil, nil, err
			}
			base, rows = base.with(b), append(rows, more...)
		}
		return base, rows, nil
	case isList(v.Type()):
		if v.Len() == 0 && element(v.Type()) == reflect.Struct {
			_, _, err := f.walk(reflect.Zero(v.Type().Elem()), path, path, false)
			return nil, nil, err
		}
		for i := range v.Len() {
			b, inner, err := f.walk(v.Index(i), path, path, true)
			if err != nil {
				return nil, nil, err
			}
			if len(inner) == 0 && len(b) > 0 {
				inner = []csvRow{{}}
			}
			for _, r := range inner {
				rows = append(rows, b.with(r))
			}
		}
		return nil, rows, nil
	}
	text := ""
	if there {
		if text, err = cellText(v, scalar); err != nil {
			return nil, nil, err
		}
	}
	return csvRow{f.column(path, list): text}, nil, nil
}

// A member is what an object has by a name, none if its own members stand for it.
type member struct {
	name   string
	value  reflect.Value
	absent bool // from JSON
}

// members returns those of an object, lists last: what is repeated in each of their rows comes first.
func members(v reflect.Value) (all []member) {
	switch v.Kind() {
	case reflect.Slice:
		for i := 0; i < v.Len(); i += 2 {
			all = append(all, member{name: v.Index(i).Elem().String(), value: v.Index(i + 1).Elem()})
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			all = append(all, member{name: k.String(), value: v.MapIndex(k)})
		}
		slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" || field.Tag.Get("csv") == "-" || !field.IsExported() && !field.Anonymous {
				continue
			}
			if name == "" && !field.Anonymous {
				name = field.Name
			}
			x := v.Field(i)
			// What JSON leaves out is an empty cell; false is worth saying.
			all = append(all, member{name, x, strings.Contains(options, "omitempty") && x.IsZero() && x.Kind() != reflect.Bool})
		}
	}
	last := func(m member) int { return map[bool]int{true: 1}[isList(m.value.Type())] }
	slices.SortStableFunc(all, func(a, b member) int { return last(a) - last(b) })
	return all
}

func extend(path []string, name string) []string { return append(slices.Clone(path), name) }

// isList reports whether values of the type have objects as elements.
func isList(t reflect.Type) bool {
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return false
	}
	k := element(t)
	return k == reflect.Struct || k == reflect.Interface
}

// element is the kind that the elements of a list have.
func element(t reflect.Type) reflect.Kind {
	t = t.Elem()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return reflect.String
	}
	return t.Kind()
}

// cellText writes a scalar as JSON does, without quotes; a list of numbers with
// spaces, one of texts with semicolons.
func cellText(v reflect.Value, scalar bool) (string, error) {
	if !scalar && (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) {
		separator := " "
		if element(v.Type()) == reflect.String && v.Type().Elem().Kind() == reflect.String {
			separator = "; "
		}
		var parts []string
		for i := range v.Len() {
			text, err := cellText(v.Index(i), false)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, separator), nil
	}
	data, err := json.Marshal(v.Interface())
	if err != nil || len(data) == 0 || data[0] != '"' {
		return string(data), err
	}
	var text string
	err = json.Unmarshal(data, &text)
	return text, err
}
