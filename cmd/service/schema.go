package service

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"strings"
)

// This file describes the types of requests and answers as JSON Schema, by reflection: what a
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

// Of returns the schema of a type. A struct that has a name becomes a reference to a definition.
func (d *Schemas) Of(t reflect.Type) map[string]any {
	if own, ok := ownSchemas[t]; ok {
		return own
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schema{"anyOf": []any{d.Of(t.Elem()), schema{"type": "null"}}}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.Int, reflect.Int64:
		return schema{"type": "integer"}
	case reflect.Uint64:
		return schema{"type": "integer", "minimum": 0}
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Slice, reflect.Array:
		return schema{"type": []any{"array", "null"}, "items": d.Of(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": d.Of(t.Elem())}
	case reflect.Struct:
		return d.object(t)
	}
	return schema{} // an interface: anything
}

// object returns the schema of a struct: a reference where it has a name.
func (d *Schemas) object(t reflect.Type) schema {
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
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// RequestSchema returns the schema of an operation's request, with the keys that every request
// may have.
func (d *Schemas) RequestSchema(o Operation) map[string]any {
	properties, required := schema{}, []any{}
	for _, k := range keysOf(reflect.TypeFor[head]()) {
		if k.Name == "timeout" {
			properties[k.Name] = k.described(schema{"type": "number"})
		}
	}
	for _, k := range o.Keys {
		properties[k.Name] = k.described(d.Of(o.Request.FieldByIndex(k.index).Type))
		if !k.Optional {
			required = append(required, k.Name)
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
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

// AnswerSchema returns the schema of an operation's answer.
func (d *Schemas) AnswerSchema(o Operation) map[string]any {
	return d.Of(o.Result)
}
