package decimal

import (
	"math"
	"strings"
	"testing"
)

func TestExpression(t *testing.T) {
	for _, c := range []struct {
		in   string
		want float64
	}{
		{"256/60000", 0.004266666666666667}, {"1 / 3", 1.0 / 3}, {"60000/256*60", 14062.5}, {"-1/4", -0.25},
		{"ceil(60000/256*60)", 14063}, {"floor(60000/256*60)", 14062}, {"ceil(3*2)", 6}, {"floor(-1/2)", -1}, {"ceil(-1/2)", 0},
		{"0.1*3", 0.3},               // exact, then rounded once; 0.1 * 3 in float64 is 0.30000000000000004
		{"1e300*1e300/1e300", 1e300}, // nothing between overflows
		{"0*1e-300", 0},
	} {
		if got, err := Parse(c.in); err != nil || got != c.want || !Is(c.in) {
			t.Errorf("Parse(%q) = %v, %v; want %v", c.in, got, err, c.want)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"1/0", "divides by zero"}, {"1/0e-999999999", "divides by zero"}, {"1//2", errExpression.Error()}, {"/2", errExpression.Error()}, {"2*", errExpression.Error()},
		{"(1)", errExpression.Error()}, {"ceil(1", errExpression.Error()}, {"ceil(ceil(1))", errExpression.Error()}, {"x/2", errExpression.Error()}, {"1/.inf", errExpression.Error()},
		{"2**3", errExpression.Error()}, {"1e300*1e300", errTooLarge.Error()}, {"1e-300*1e-300", errTooSmall.Error()},
		{strings.Repeat("1*", 16) + "1", "is an expression of more than 16 factors"}, {strings.Repeat("1*", 200) + "1", "is an expression of more than 200 characters"},
	} {
		if got, err := Parse(c.in); err == nil || err.Error() != c.want || Is(c.in) && !math.IsNaN(got) && err != errTooLarge && err != errTooSmall {
			t.Errorf("Parse(%q) = %v, %v; want error %q", c.in, got, err, c.want)
		}
		if _, err := Exact(c.in); err == nil {
			t.Errorf("Exact(%q) has no error", c.in)
		}
	}
	if n, err := Whole("ceil(60000/256*60)"); err != nil || n != 14063 {
		t.Errorf("Whole = %d, %v; want 14063", n, err)
	}
	if n, err := Whole("3/3"); err != nil || n != 1 {
		t.Errorf("Whole = %d, %v; want 1", n, err)
	}
	if _, err := Whole("5/2"); err == nil || !strings.Contains(err.Error(), "2.5, not a whole number") {
		t.Errorf("Whole(5/2): %v", err)
	}
}

func FuzzExpression(f *testing.F) {
	for _, s := range []string{"256/60000", "ceil(60000/256*60)", "1e308*1e308/2", "1/3*3", "floor(-.5/2)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := Parse(s)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
		r, err := Exact(s)
		if err != nil {
			t.Fatalf("Parse(%q) = %v but Exact: %v", s, x, err)
		}
		if y, _ := r.Float64(); y != x {
			t.Errorf("Parse(%q) = %v, Exact rounds to %v", s, x, y)
		}
	})
}
