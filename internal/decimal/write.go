package decimal

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// This file writes numbers for people: as short as they read back, or with a number of
// digits and rounded to the safe side. It returns texts and assumes nothing of them.

// Short is the shortest decimal that reads back as x.
func Short(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "-∞"
	case x == 0:
		return "0" // −0 too
	}
	format := byte('f')
	if a := math.Abs(x); a < 1e-4 || a >= 1e15 {
		format = 'e'
	}
	s := strconv.FormatFloat(x, format, -1, 64)
	// 1e-05 is 1e-5 everywhere but in C.
	if m, e, ok := strings.Cut(s, "e"); ok {
		sign := strings.TrimLeft(e[:1], "+")
		s = m + "e" + sign + strings.TrimLeft(e[1:], "0")
	}
	return s
}

// A Direction is where Rounded may go.
type Direction int

// Down and Up keep a printed bound a bound; Near is for estimates.
const (
	Down Direction = iota - 1
	Near
	Up
)

// Rounded writes x with a number of significant digits, rounded down or up, so
// that a printed bound is still a bound. A number of fewer digits, one that
// reads back as x itself, is neither rounded nor padded.
func Rounded(x float64, digits int, dir Direction) string {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return Short(x)
	}
	if m, _ := split(strconv.FormatFloat(x, 'e', -1, 64)); len(m.Abs(m).String()) <= digits {
		return Short(x)
	}
	mantissa, exp := split(strconv.FormatFloat(x, 'e', digits-1, 64))
	if diff := value(mantissa, exp).Cmp(new(big.Rat).SetFloat64(x)); diff*int(dir) < 0 {
		mantissa.Add(mantissa, big.NewInt(int64(dir)))
	}
	return join(mantissa, exp)
}

// split returns m and e with s = m·10^e.
func split(s string) (mantissa *big.Int, exp int) {
	m, e, _ := strings.Cut(s, "e")
	exp, _ = strconv.Atoi(e)
	if i := strings.IndexByte(m, '.'); i >= 0 {
		exp -= len(m) - i - 1
		m = m[:i] + m[i+1:]
	}
	mantissa, _ = new(big.Int).SetString(m, 10)
	return mantissa, exp
}

func value(mantissa *big.Int, exp int) *big.Rat {
	r := new(big.Rat).SetInt(mantissa)
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil))
	if exp < 0 {
		return r.Quo(r, power)
	}
	return r.Mul(r, power)
}

// join writes m·10^e, in positional notation from 1e-4 to 1e15.
func join(mantissa *big.Int, exp int) string {
	digits := new(big.Int).Abs(mantissa).String()
	sign := ""
	if mantissa.Sign() < 0 {
		sign = "-"
	}
	if digits == "0" {
		return "0"
	}
	lead := len(digits) + exp - 1 // exponent of the first digit
	if lead < -4 || lead >= 15 {
		frac := digits[1:]
		if frac != "" {
			frac = "." + frac
		}
		return fmt.Sprintf("%s%s%se%d", sign, digits[:1], frac, lead)
	}
	if exp >= 0 {
		return sign + digits + strings.Repeat("0", exp)
	}
	if len(digits) <= -exp {
		digits = strings.Repeat("0", -exp-len(digits)+1) + digits
	}
	whole, frac := digits[:len(digits)+exp], digits[len(digits)+exp:]
	if frac != "" {
		frac = "." + frac
	}
	return sign + whole + frac
}

// Apart returns how many digits tell the ends of an interval apart, with one more to
// see by how much; 15 for ends that are one or infinite.
func Apart(lower, upper float64) int {
	width := upper - lower
	big := max(math.Abs(upper), math.Abs(lower))
	if !(width > 0) || math.IsInf(big, 0) {
		return 15
	}
	return min(15, max(4, int(math.Ceil(math.Log10(big/width)))+2))
}

// Show quotes what is no number, and shortens what is long: a value as a message has it.
func Show(text string) string {
	if Is(text) && len(text) <= 40 {
		return text
	}
	if r := []rune(text); len(r) > 40 {
		text = string(r[:37]) + "..."
	}
	return strconv.Quote(text)
}
