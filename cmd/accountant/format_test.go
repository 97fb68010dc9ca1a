package main

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/dpaccountant/accountant/internal/steady" // the same draws in every run

	"github.com/dpaccountant/accountant"
)

func TestShort(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0"}, {1, "1"}, {-1.5, "-1.5"}, {1e-5, "1e-5"}, {2.5e-300, "2.5e-300"}, {0.0001, "0.0001"}, {1e14, "100000000000000"},
		{1e15, "1e15"}, {1.25e100, "1.25e100"}, {math.Inf(1), "∞"}, {math.Inf(-1), "-∞"}, {math.Copysign(0, -1), "0"},
	} {
		if got := short(c.x); got != c.want {
			t.Errorf("short(%v) = %q, want %q", c.x, got, c.want)
		}
	}
}

func TestRounded(t *testing.T) {
	for _, c := range []struct {
		x      float64
		digits int
		dir    direction
		want   string
	}{
		{2.34567, 4, down, "2.345"}, {2.34567, 4, up, "2.346"}, {2.34567, 4, near, "2.346"},
		{-2.34567, 4, down, "-2.346"}, {-2.34567, 4, up, "-2.345"},
		{9.99999, 3, up, "10.0"}, {9.99999, 3, down, "9.9"}, {0.99999, 3, up, "1.00"}, {1.00001, 3, down, "1.00"},
		{1, 4, up, "1"}, {0.5, 4, down, "0.5"}, {0.1, 4, up, "0.1"}, {0, 3, up, "0"}, {math.Inf(1), 3, down, "∞"},
		{123456, 3, up, "124000"}, {123456, 3, down, "123000"},
		{1.23456e-7, 3, up, "1.24e-7"}, {1.23456e-300, 3, down, "1.23e-300"}, {9.999e-5, 2, up, "0.00010"},
	} {
		if got := rounded(c.x, c.digits, c.dir); got != c.want {
			t.Errorf("rounded(%v, %d, %d) = %q, want %q", c.x, c.digits, c.dir, got, c.want)
		}
	}
}

// TestRoundedOutward: what is printed for a bound is a bound, and near it.
func TestRoundedOutward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1e300, 1e300).Draw(t, "x")
		x *= math.Pow(10, rapid.Float64Range(-300, 0).Draw(t, "scale"))
		digits := rapid.IntRange(2, 17).Draw(t, "digits")
		exact := new(big.Rat).SetFloat64(x)
		// Below the smallest normal number float64 itself has fewer digits.
		width := new(big.Rat).SetFloat64(math.Abs(x)*math.Pow(10, float64(2-digits)) + 8*math.SmallestNonzeroFloat64)
		for _, dir := range []direction{down, up} {
			s := rounded(x, digits, dir)
			got, ok := new(big.Rat).SetString(s)
			if !ok {
				t.Fatalf("rounded(%v) = %q is no number", x, s)
			}
			diff := got.Sub(got, exact)
			// A number that is its own shortest decimal is printed as that, below
			// 1e-307 with few digits.
			if s == short(x) {
				continue
			}
			if sign := diff.Sign() * int(dir); sign < 0 {
				t.Fatalf("rounded(%v, %d, %d) = %s is on the wrong side", x, digits, dir, s)
			}
			if diff.Abs(diff).Cmp(width) > 0 {
				t.Fatalf("rounded(%v, %d, %d) = %s is too far away", x, digits, dir, s)
			}
		}
	})
}

func TestDigitsFor(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   int
	}{{2.45, 2.452, 6}, {1, 2, 4}, {0, 1, 4}, {1, 1, 15}, {1, math.Inf(1), 15}, {1, 1 + 1e-15, 15}} {
		if got := digitsFor(accountant.Interval{Lower: c.lo, Upper: c.hi}); got != c.want {
			t.Errorf("digitsFor [%v, %v] = %d, want %d", c.lo, c.hi, got, c.want)
		}
	}
}

func TestNumberJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		data, err := json.Marshal(number(x))
		if err != nil {
			t.Fatal(err)
		}
		var back float64
		if err := json.Unmarshal(data, &back); err != nil || back != x {
			t.Fatalf("%v is written %s and read %v, %v", x, data, back, err)
		}
	})
	for x, want := range map[float64]string{math.Inf(1): `"Infinity"`, math.Inf(-1): `"-Infinity"`} {
		if data, err := json.Marshal(number(x)); err != nil || string(data) != want {
			t.Errorf("%v is written %s, %v; want %s", x, data, err, want)
		}
	}
	if _, err := json.Marshal(number(math.NaN())); err == nil {
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
