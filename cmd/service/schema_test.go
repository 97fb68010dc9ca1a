package service

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// valid returns what is wrong with a value by a schema of the words that Schemas writes, or "".
func valid(s map[string]any, defined map[string]any, v any, at string) string {
	if ref, ok := s["$ref"].(string); ok {
		return valid(defined[strings.TrimPrefix(ref, "#/")].(map[string]any), defined, v, at)
	}
	if of, ok := s["anyOf"].([]any); ok {
		var why []string
		for _, one := range of {
			w := valid(one.(map[string]any), defined, v, at)
			if w == "" {
				return ""
			}
			why = append(why, w)
		}
		return strings.Join(why, " | ")
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, v) {
		return fmt.Sprintf("%s: %v is none of %v", at, v, enum)
	}
	types, ok := s["type"].([]any)
	if one, is := s["type"].(string); is {
		types, ok = []any{one}, true
	}
	kind := map[bool]string{true: "integer", false: "number"}
	name := ""
	switch x := v.(type) {
	case nil:
		name = "null"
	case bool:
		name = "boolean"
	case string:
		name = "string"
	case float64:
		name = kind[x == float64(int64(x))]
	case []any:
		name = "array"
		items, _ := s["items"].(map[string]any)
		for i, item := range x {
			if why := valid(items, defined, item, fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
	case map[string]any:
		name = "object"
		properties, _ := s["properties"].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(x)) {
			p, known := properties[key].(map[string]any)
			if !known {
				if s["additionalProperties"] == false {
					return at + ": has the key " + key
				}
				p, _ = s["additionalProperties"].(map[string]any)
			}
			if why := valid(p, defined, x[key], at+"."+key); why != "" {
				return why
			}
		}
		required, _ := s["required"].([]any)
		for _, key := range required {
			if _, there := x[key.(string)]; !there {
				return at + ": lacks " + key.(string)
			}
		}
	}
	if ok && !slices.Contains(types, any(name)) && !(name == "integer" && slices.Contains(types, any("number"))) {
		return fmt.Sprintf("%s: is %s, not %v", at, name, types)
	}
	return ""
}

// plain returns a value as json.Unmarshal has it.
func plain(t *testing.T, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSchemas: the schemas of an operation take its good request and its answer, key by key, and
// neither a key that nobody knows nor a request of a wrong type.
func TestSchemas(t *testing.T) {
	s := New(memoryFiles{})
	for range 2 {
		if _, err := Ask[LedgerHandle](t.Context(), s, LedgerCreateRequest{Neighbors: "add-remove", Epsilon: "1", Delta: "0", Mode: "planned"}); err != nil {
			t.Fatal(err)
		}
	}
	d := Schemas{"#/", map[string]any{}}
	refused := 0
	for _, o := range Operations() {
		request, answer := d.RequestSchema(o), d.Of(o.Result)
		defined := plain(t, d.Defined).(map[string]any)
		request, answer = plain(t, request).(map[string]any), plain(t, answer).(map[string]any)
		var good, wrong map[string]any
		if json.Unmarshal([]byte(trials[o.Name].good), &good) != nil || json.Unmarshal([]byte(trials[o.Name].wrong), &wrong) != nil {
			t.Fatal(o.Name)
		}
		if why := valid(request, defined, good, "request"); why != "" {
			t.Errorf("%s: %s", o.Name, why)
		}
		if valid(request, defined, wrong, "request") != "" {
			refused++
		}
		a := s.Answer(t.Context(), with(o.Name, "", trials[o.Name].good))
		if a.Error != nil {
			t.Fatalf("%s: %v", o.Name, a.Error)
		}
		result := plain(t, a.Result)
		if why := valid(answer, defined, result, "answer"); why != "" {
			t.Errorf("%s: %s", o.Name, why)
		}
		if keys, ok := result.(map[string]any); ok {
			keys["nobody-knows"] = 1.0
			if valid(answer, defined, result, "answer") == "" {
				t.Errorf("%s: the schema of its answer takes any key", o.Name)
			}
		}
		good["nobody-knows"] = 1.0
		if valid(request, defined, good, "request") == "" {
			t.Errorf("%s: the schema of its request takes any key", o.Name)
		}
	}
	// The wrong requests of some have a value that is out of range, or two keys that exclude each
	// other, which no schema says.
	if want := len(operations) - 6; refused < want {
		t.Errorf("%d wrong requests are refused by the schemas, fewer than %d", refused, want)
	}
}
