package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/decimal"
)

// TestKeepsLittle: answers are kept up to a number of bytes, lists are not.
func TestKeepsLittle(t *testing.T) {
	s := New(nil)
	const plan = `{"neighbors": "add-remove", "steps": [{"mechanism": {"pure": {"epsilon": 1}}}]}`
	ask := func(format string, args ...any) {
		t.Helper()
		line := fmt.Sprintf(format, args...)
		if a := s.Answer(t.Context(), []byte(line)); a.Error != nil {
			t.Fatalf("%s: %+v", line, a.Error)
		}
	}
	list, err := json.Marshal(make([]float64, 10))
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		ask(`{"op": "risk", "plan": %s, "priors": %s}`, plan, bytes.ReplaceAll(list, []byte("0"), []byte("0.5")))
	}
	if n := len(s.recent); n != 0 {
		t.Errorf("%d plans are kept of lists", n)
	}
	most := 0
	for i := range 5000 {
		ask(`{"op": "delta", "plan": %s, "epsilon": %v}`, plan, float64(i)/5000)
		sv := s.recent[0]
		held := 0
		if i%1000 == 0 {
			for key, a := range sv.answers {
				held += len(key) + len(a)
			}
			if held != sv.size {
				t.Fatalf("%d bytes held, %d counted", held, sv.size)
			}
		}
		most = max(most, sv.size)
	}
	if most > maxAnswers || most < maxAnswers/2 {
		t.Errorf("up to %d bytes kept, want nearly %d", most, maxAnswers)
	}
}

// FuzzCheckKeys: a request that is let through means the same to a reader that
// takes the first of two keys.
func FuzzCheckKeys(f *testing.F) {
	for _, line := range []string{`{"a":1,"b":{"a":[{},{"c":null}]}}`, `{"a":1,"a":2}`, `{"a":1,"A":2}`, `{"a":{"b":1,"b":2}}`, `{"a":[{"b":1},{"b":2}]}`, `{"":1,"\u0061":2,"a":3}`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.TrimSpace(line)
		if checkText(line) != nil {
			return
		}
		var got map[string]any
		if err := json.Unmarshal(line, &got); err != nil {
			return
		}
		keys, values := count(t, json.NewDecoder(bytes.NewReader(line)))
		if same := namesOf(got); checkKeys(line) == nil && keys != same {
			t.Fatalf("%s: %d keys are read, %d are there of %d values", line, same, keys, values)
		} else if checkKeys(line) != nil && keys == same {
			for a := range got {
				for b := range got {
					if a != b && strings.EqualFold(a, b) {
						return
					}
				}
			}
			t.Fatalf("%s: %v", line, checkKeys(line))
		}
	})
}

// count returns how many keys and values are in a text.
func count(t *testing.T, d *json.Decoder) (keys, values int) {
	d.UseNumber()
	type level struct{ object, value bool }
	var stack []level
	for {
		token, err := d.Token()
		if err == io.EOF {
			return keys, values
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
		values++
		if delim, ok := token.(json.Delim); ok {
			stack = append(stack, level{object: delim == '{'})
		}
	}
}

// keysOf returns how many keys a value has, those inside it included.
func namesOf(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			n += 1 + namesOf(x)
		}
	case []any:
		for _, x := range v {
			n += namesOf(x)
		}
	}
	return n
}

// FuzzNumbers: a number that a flag takes is in its range, and is printed as one
// that reads back as itself.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"1e-5", "0.1,1e-300", "-0", ".inf", "0x1p3", "1_000", "1e999", " 1 ", "\u00a01", "1e0000000000000001"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var list Decimals
		for part := range strings.SplitSeq(text, ",") {
			list = append(list, Decimal(part))
		}
		xs, err := list.in("delta", deltaSpan)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "delta[") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		for _, x := range xs {
			if y, err := decimal.Parse(decimal.Short(x)); err != nil || y != x || !deltaSpan.contains(x) {
				t.Fatalf("%q: %v prints as %s", text, x, decimal.Short(x))
			}
		}
	})
}
