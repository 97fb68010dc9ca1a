package decimal

import (
	"math"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want float64
	}{
		{"1", 1}, {"1.0", 1}, {"+1.", 1}, {".5", 0.5}, {"-2.5e-1", -0.25}, {"1E3", 1000}, {"0", 0}, {"0.0e-999999999", 0},
		{"2.2250738585072014e-308", 0x1p-1022}, {"1.7976931348623157e308", math.MaxFloat64},
		{".inf", math.Inf(1)}, {"-.Inf", math.Inf(-1)},
	} {
		if got, err := Parse(c.in); err != nil || got != c.want {
			t.Errorf("Parse(%q) = %v, %v; want %v", c.in, got, err, c.want)
		}
	}
	for _, s := range []string{".nan", ".NaN", "-.nan"} {
		if got, err := Parse(s); err != nil || !math.IsNaN(got) {
			t.Errorf("Parse(%q) = %v, %v; want NaN", s, got, err)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"", "is not a number"}, {".", "is not a number"}, {"e5", "is not a number"}, {"1e", "is not a number"}, {"inf", "is not a number"},
		{"NaN", "is not a number"}, {"0x10", "is not a number"}, {"1_000", "is not a number"}, {"1,5", "is not a number; with a decimal point it is 1.5"}, {"0.5 %", "is not a number; for this percentage write 0.005"}, {" 1", "is not a number"},
		{"٣", "is not a number"}, {"010", "is not a number (it has a leading zero)"},
		{"1e309", "is too large for a 64-bit floating-point number"}, {"-1e999999999999", "is too large for a 64-bit floating-point number"},
		{"1e-308", "is too small for a 64-bit floating-point number"}, {"1e-999999999999", "is too small for a 64-bit floating-point number"},
	} {
		if got, err := Parse(c.in); err == nil || err.Error() != c.want {
			t.Errorf("Parse(%q) = %v, %v; want error %q", c.in, got, err, c.want)
		}
		if Is(c.in) && c.want == "is not a number" {
			t.Errorf("Is(%q)", c.in)
		}
	}
}

func TestWhole(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
	}{
		{"0", 0}, {"-3.0", -3}, {"1e3", 1000}, {"1500e-2", 15}, {"9007199254740992", MaxWhole}, {"9007199254740991.0", MaxWhole - 1}, {"-0e-99999999999", 0},
	} {
		if got, err := Whole(c.in); err != nil || got != c.want {
			t.Errorf("Whole(%q) = %v, %v; want %v", c.in, got, err, c.want)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"9007199254740993", "is not a whole number in [-2^53, 2^53]"}, // rounds to 2^53 as a float64
		{"-1e16", "is not a whole number in [-2^53, 2^53]"},
		{".inf", "is not a whole number in [-2^53, 2^53]"},
		{"2.5", "is not a whole number"},
		{"1.00000000000000000001", "is not a whole number"}, // rounds to 1 as a float64
		{".nan", "is not a whole number"},
		{"1e-999999999", "is not a whole number"},
		{"x", "is not a whole number"},
	} {
		if got, err := Whole(c.in); err == nil || err.Error() != c.want {
			t.Errorf("Whole(%q) = %v, %v; want error %q", c.in, got, err, c.want)
		}
	}
}

// TestPlain: the numbers of tables are decimal notation, with leading zeros and without anything else that
// Go takes for a number.
func TestPlain(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "007": 7, "-03.50": -3.5, "1e3": 1000, ".5": 0.5, "5.": 5, "+1": 1, "1e-400": 0, "5e-324": 5e-324} {
		if got, err := Plain(text); err != nil || got != want {
			t.Errorf("Plain(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", " 1", "1 ", "3_0", "0x10", "0x1p3", "inf", "Infinity", "nan", ".inf", ".nan", "1/2", "ceil(1)", "x", "3;1", "1,5", "1e", "--1"} {
		if got, err := Plain(text); err == nil {
			t.Errorf("Plain(%q) = %v, want an error", text, got)
		}
	}
	if got, err := Plain("-1e999"); !math.IsInf(got, -1) || err != errTooLarge {
		t.Errorf("Plain(-1e999) = %v, %v", got, err)
	}
}
