package service

import (
	"reflect"
	"strings"
	"testing"
)

// TestFields: what tags say of a field is in its schema, a preset is a value that is allowed, and a range is one.
func TestFields(t *testing.T) {
	ranges, presets := 0, 0
	for _, o := range operations {
		empty := reflect.New(o.Request).Interface()
		for _, k := range o.Keys {
			if strings.Count(k.Help, "{") != strings.Count(k.Help, "}") || strings.HasSuffix(k.Help, ".") {
				t.Errorf("%s %s: %q", o.Name, k.Name, k.Help)
			}
			if !k.span.any {
				if ranges++; !(k.span.lo < k.span.hi) {
					t.Errorf("%s %s: the range %v is empty", o.Name, k.Name, k.span)
				}
			}
			if k.Preset == "" {
				continue
			}
			presets++
			switch f := k.Field(empty).(type) {
			case *Decimal:
				*f = Decimal(k.Preset)
			case *Decimals:
				*f = Listed(k.Preset)
			case *string:
				*f = k.Preset
			}
			if err := k.check(k.Field(empty)); err != nil {
				t.Errorf("%s: the preset is refused: %v", o.Name, err)
			}
		}
	}
	if ranges < 60 || presets < 25 {
		t.Errorf("%d ranges, %d presets", ranges, presets)
	}
	d := Schemas{"#/", map[string]any{}}
	for _, o := range Operations() {
		if o.Name != "sampling" {
			continue
		}
		got := plain(t, d.RequestSchema(o)).(map[string]any)["properties"].(map[string]any)
		steps, noise := got["steps"].(map[string]any), got["mechanism"].(map[string]any)
		if steps["minimum"] != 1.0 || steps["default"] != 1000.0 || steps["description"] != "number of steps K of the last column" || len(noise["enum"].([]any)) != 2 {
			t.Errorf("%v, %v", steps, noise)
		}
	}
}
