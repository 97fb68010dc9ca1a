package service

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/dpaccountant/accountant/internal/steady" // the same draws in every run
)

func TestNumberJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		data, err := json.Marshal(Number(x))
		if err != nil {
			t.Fatal(err)
		}
		var back float64
		if err := json.Unmarshal(data, &back); err != nil || back != x {
			t.Fatalf("%v is written %s and read %v, %v", x, data, back, err)
		}
	})
	for x, want := range map[float64]string{math.Inf(1): `"Infinity"`, math.Inf(-1): `"-Infinity"`} {
		if data, err := json.Marshal(Number(x)); err != nil || string(data) != want {
			t.Errorf("%v is written %s, %v; want %s", x, data, err, want)
		}
	}
	if _, err := json.Marshal(Number(math.NaN())); err == nil {
		t.Error("NaN is written")
	}
}

func TestParagraph(t *testing.T) {
	var b strings.Builder
	paragraph(&b, "  - ", "    ", strings.Repeat("word ", 30)+strings.Repeat("x", 100)+" a"+glue+"b")
	for i, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
		if n := len([]rune(line)); n > 79 && !strings.Contains(line, "xxx") {
			t.Errorf("line of %d characters: %q", n, line)
		}
		if want := map[bool]string{true: "  - ", false: "    "}[i == 0]; !strings.HasPrefix(line, want) {
			t.Errorf("line %d is not indented: %q", i, line)
		}
	}
	if !strings.HasSuffix(b.String(), " a b\n") && !strings.HasSuffix(b.String(), "    a b\n") {
		t.Errorf("glued words are apart: %q", b.String())
	}
}
