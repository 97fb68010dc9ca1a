package decimal_test

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/dpaccountant/accountant/internal/steady" // the same draws in every run

	"github.com/dpaccountant/accountant/internal/decimal"
)

func TestShort(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0"}, {1, "1"}, {-1.5, "-1.5"}, {1e-5, "1e-5"}, {2.5e-300, "2.5e-300"}, {0.0001, "0.0001"}, {1e14, "100000000000000"},
		{1e15, "1e15"}, {1.25e100, "1.25e100"}, {math.Inf(1), "∞"}, {math.Inf(-1), "-∞"}, {math.Copysign(0, -1), "0"},
	} {
		if got := decimal.Short(c.x); got != c.want {
			t.Errorf("Short(%v) = %q, want %q", c.x, got, c.want)
		}
	}
}

func TestRounded(t *testing.T) {
	for _, c := range []struct {
		x      float64
		digits int
		dir    decimal.Direction
		want   string
	}{
		{2.34567, 4, decimal.Down, "2.345"}, {2.34567, 4, decimal.Up, "2.346"}, {2.34567, 4, decimal.Near, "2.346"},
		{-2.34567, 4, decimal.Down, "-2.346"}, {-2.34567, 4, decimal.Up, "-2.345"},
		{9.99999, 3, decimal.Up, "10.0"}, {9.99999, 3, decimal.Down, "9.9"}, {0.99999, 3, decimal.Up, "1.00"}, {1.00001, 3, decimal.Down, "1.00"},
		{1, 4, decimal.Up, "1"}, {0.5, 4, decimal.Down, "0.5"}, {0.1, 4, decimal.Up, "0.1"}, {0, 3, decimal.Up, "0"}, {math.Inf(1), 3, decimal.Down, "∞"},
		{123456, 3, decimal.Up, "124000"}, {123456, 3, decimal.Down, "123000"},
		{1.23456e-7, 3, decimal.Up, "1.24e-7"}, {1.23456e-300, 3, decimal.Down, "1.23e-300"}, {9.999e-5, 2, decimal.Up, "0.00010"},
	} {
		if got := decimal.Rounded(c.x, c.digits, c.dir); got != c.want {
			t.Errorf("Rounded(%v, %d, %d) = %q, want %q", c.x, c.digits, c.dir, got, c.want)
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
		for _, dir := range []decimal.Direction{decimal.Down, decimal.Up} {
			s := decimal.Rounded(x, digits, dir)
			got, ok := new(big.Rat).SetString(s)
			if !ok {
				t.Fatalf("Rounded(%v) = %q is no number", x, s)
			}
			diff := got.Sub(got, exact)
			// A number that is its own shortest decimal is printed as that, below
			// 1e-307 with few digits.
			if s == decimal.Short(x) {
				continue
			}
			if sign := diff.Sign() * int(dir); sign < 0 {
				t.Fatalf("Rounded(%v, %d, %d) = %s is on the wrong side", x, digits, dir, s)
			}
			if diff.Abs(diff).Cmp(width) > 0 {
				t.Fatalf("Rounded(%v, %d, %d) = %s is too far away", x, digits, dir, s)
			}
		}
	})
}

func TestApart(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   int
	}{{2.45, 2.452, 6}, {1, 2, 4}, {0, 1, 4}, {1, 1, 15}, {1, math.Inf(1), 15}, {1, 1 + 1e-15, 15}} {
		if got := decimal.Apart(c.lo, c.hi); got != c.want {
			t.Errorf("Apart [%v, %v] = %d, want %d", c.lo, c.hi, got, c.want)
		}
	}
}

func TestHexIsExact(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{ // as printf("%a") of glibc writes them
		{1, "0x1p+0"}, {1.1, "0x1.199999999999ap+0"}, {0.01, "0x1.47ae147ae147bp-7"}, {1e-300, "0x1.56e1fc2f8f359p-997"},
		{1024, "0x1p+10"}, {0, "0x0p+0"}, {math.Inf(1), "inf"},
		{5e-324, "0x0.0000000000001p-1022"}, {1e-310, "0x0.012688b70e62bp-1022"}, {0x1p-1023, "0x0.8p-1022"}, {0x1p-1022, "0x1p-1022"},
		{math.Copysign(0, -1), "0x0p+0"}, // of which there is one
	} {
		if got := decimal.Hex(c.x); got != c.want {
			t.Errorf("Hex(%v) = %s, want %s", c.x, got, c.want)
		}
		if back, err := strconv.ParseFloat(c.want, 64); err != nil || back != c.x {
			t.Errorf("%s reads as %v, %v", c.want, back, err)
		}
	}
}
