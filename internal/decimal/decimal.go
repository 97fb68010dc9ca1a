// Package decimal reads the numbers that people write in plan files and on the command line, and
// writes those that they read.
//
// A number is its decimal text, not a type. 1, 1.0 and 1e0 are the same number, and no digit of a
// count is lost.
package decimal

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// MaxWhole is the largest whole number: up to it, float64 and JSON are exact.
const MaxWhole = xmath.MaxCount

// The errors of Parse are predicates, to be put after the value.
var (
	errNotNumber = errors.New("is not a number")
	errTooLarge  = errors.New("is too large for a 64-bit floating-point number")
	errTooSmall  = errors.New("is too small for a 64-bit floating-point number")
)

// Is reports whether s is written as a number, or as an expression that is one.
func Is(s string) bool {
	if IsExpression(s) {
		_, err := evaluate(s)
		return err == nil
	}
	return special(s) || isNumber(s) && !octal.MatchString(s)
}

// isNumber reports whether s is a decimal number: a sign or none, digits with a point among, before
// or behind them or none, an exponent or none. ParseFloat takes hexadecimal digits and names as well.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return (err == nil || errors.Is(err, strconv.ErrRange)) && strings.Trim(s, "+-.0123456789eE") == ""
}

// octal begins with a 0 and another digit: eight or ten? readers of YAML differ.
var octal = regexp.MustCompile(`^[-+]?0[0-9]`)

// special reports whether s is an infinity or not a number, as YAML writes them.
func special(s string) bool {
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case ".inf", ".nan":
		return true
	}
	return false
}

// Parse returns the float64 nearest to a number, or to the value of an expression. The
// error is a predicate such as "is not a number", to be put after the value.
func Parse(s string) (float64, error) {
	switch {
	case IsExpression(s):
		r, err := evaluate(s)
		if err != nil {
			return 0, err
		}
		return nearest(r)
	case special(s):
		x, err := strconv.ParseFloat(strings.Replace(s, ".", "", 1), 64)
		if err != nil {
			return math.NaN(), nil // a signed .nan
		}
		return x, nil
	case !isNumber(s):
		return 0, notNumber(s)
	case octal.MatchString(s):
		return 0, errors.New("is not a number (it has a leading zero)")
	}
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return 0, errTooLarge
	case math.Abs(x) < 0x1p-1022 && strings.ContainsAny(mantissa(s), "123456789"):
		// A rate or a probability must not silently become 0 or lose its digits.
		return 0, errTooSmall
	}
	return x, nil
}

// Plain returns the float64 nearest to a number in decimal notation, as tables have them: leading zeros are
// allowed; expressions, infinities and digits with _ between are not. A number that is too large is an
// infinity and an error, a predicate as that of Parse.
func Plain(s string) (float64, error) {
	if !isNumber(s) {
		return 0, notNumber(s)
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		err = errTooLarge
	}
	return x, err
}

func mantissa(s string) string {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i]
	}
	return s
}

// Whole returns the whole number in [−MaxWhole, MaxWhole] that s denotes, in
// any notation.
func Whole(s string) (int64, error) {
	x, err := Parse(s)
	if err != nil || math.IsNaN(x) {
		return 0, errors.New("is not a whole number")
	}
	beyond := errors.New("is not a whole number in [-2^53, 2^53]")
	if math.Abs(x) > MaxWhole {
		return 0, beyond
	}
	r, err := Exact(s)
	if err == nil && !r.IsInt() && IsExpression(s) {
		return 0, fmt.Errorf("is %s, not a whole number; ceil(…) rounds up, floor(…) down", Short(x))
	}
	if err != nil || !r.IsInt() {
		return 0, errors.New("is not a whole number")
	}
	if !r.Num().IsInt64() || r.Num().Int64() > MaxWhole || r.Num().Int64() < -MaxWhole {
		return 0, beyond
	}
	return r.Num().Int64(), nil
}

// Exact returns the number itself, or the value of an expression. Its size is bounded by
// that of the text, because Parse refuses exponents that the digits do not make up for.
func Exact(s string) (*big.Rat, error) {
	if IsExpression(s) {
		r, err := evaluate(s)
		if err == nil {
			_, err = nearest(r)
		}
		return r, err
	}
	x, err := Parse(s)
	if err != nil {
		return nil, err
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil, errors.New("is not finite")
	}
	if x == 0 {
		return new(big.Rat), nil // 0e-999999999 would be a large denominator
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, errNotNumber
	}
	return r, nil
}

// This file has the expressions that may stand where a number does: products and quotients,
// such as 256/60000, and a ceil or floor around one, such as ceil(60000/256*60). An
// expression is computed exactly and rounded once, so that 256/60000 is the float64
// nearest to the quotient.

const (
	// maxFactors and maxExpression bound the size of the exact value: a factor has at
	// most about 310 digits more than its text.
	maxFactors    = 16
	maxExpression = 200
)

var errExpression = errors.New("is not a number, nor a product or quotient of numbers such as 256/60000 or ceil(60000/256*60)")

// IsExpression reports whether s is written with an operator. It may be wrong all the same.
func IsExpression(s string) bool { return strings.ContainsAny(s, "*/(") }

// evaluate returns the exact value of an expression.
func evaluate(s string) (*big.Rat, error) {
	if len(s) > maxExpression {
		return nil, fmt.Errorf("is an expression of more than %d characters", maxExpression)
	}
	s = strings.TrimSpace(s)
	for _, round := range []struct {
		name string
		up   int64
	}{{"ceil", 1}, {"floor", 0}} {
		inner, ok := strings.CutPrefix(s, round.name+"(")
		if !ok {
			continue
		}
		if inner, ok = strings.CutSuffix(inner, ")"); !ok {
			return nil, errExpression
		}
		r, err := product(inner)
		if err != nil || r.IsInt() {
			return r, err
		}
		// Div is the Euclidean quotient: rounded down, because a denominator is positive.
		whole := new(big.Int).Div(r.Num(), r.Denom())
		return new(big.Rat).SetInt(whole.Add(whole, big.NewInt(round.up))), nil
	}
	return product(s)
}

// product returns the exact value of factors between * and /, taken from left to right.
func product(s string) (*big.Rat, error) {
	value := big.NewRat(1, 1)
	for factors, operator := 1, byte('*'); ; factors++ {
		if factors > maxFactors {
			return nil, fmt.Errorf("is an expression of more than %d factors", maxFactors)
		}
		end := strings.IndexAny(s, "*/")
		text := s
		if end >= 0 {
			text = s[:end]
		}
		text = strings.TrimSpace(text)
		if special(text) || IsExpression(text) {
			return nil, errExpression
		}
		x, err := Exact(text)
		switch {
		case err != nil:
			return nil, errExpression
		case operator == '*':
			value.Mul(value, x)
		case x.Sign() == 0:
			return nil, errors.New("divides by zero")
		default:
			value.Quo(value, x)
		}
		if end < 0 {
			return value, nil
		}
		operator, s = s[end], s[end+1:]
	}
}

// nearest returns the float64 nearest to the value of an expression.
func nearest(r *big.Rat) (float64, error) {
	x, _ := r.Float64()
	switch {
	case math.IsInf(x, 0):
		return 0, errTooLarge
	case math.Abs(x) < 0x1p-1022 && r.Sign() != 0:
		return 0, errTooSmall
	}
	return x, nil
}

// dashes are what word processors and web pages make of a minus.
var dashes = strings.NewReplacer("\u2212", "-", "\u2013", "-", "\u2010", "-", "\u2011", "-")

// notNumber is the error of a text that is no number, with what its writer may have meant.
func notNumber(s string) error {
	s = strings.TrimSpace(s)
	if plain := dashes.Replace(s); plain != s && isNumber(plain) {
		return fmt.Errorf("is not a number; with the minus of a keyboard it is %s", plain)
	}
	if percent, ok := strings.CutSuffix(s, "%"); ok {
		if x, err := Exact(strings.TrimSpace(percent)); err == nil {
			part, _ := x.Quo(x, big.NewRat(100, 1)).Float64()
			return fmt.Errorf("is not a number; for this percentage write %s", Short(part))
		}
	}
	if strings.Count(s, ",") == 1 {
		if point := strings.Replace(s, ",", ".", 1); isNumber(point) {
			return fmt.Errorf("is not a number; with a decimal point it is %s", point)
		}
	}
	return errNotNumber
}

// Hex writes a number exactly, as %a of glibc does: hexadecimal, with no more digits than it has; 0 has
// no sign. Go shifts the digits of a subnormal number to the front, glibc leaves them where they are.
func Hex(x float64) string {
	if x == 0 {
		return "0x0p+0"
	}
	if bits := math.Float64bits(x) &^ (1 << 63); bits < 1<<52 {
		sign := strings.Repeat("-", int(math.Float64bits(x)>>63))
		return sign + "0x0." + strings.TrimRight(fmt.Sprintf("%013x", bits), "0") + "p-1022"
	}
	s := strconv.FormatFloat(x, 'x', -1, 64)
	mantissa, exponent, ok := strings.Cut(s, "p")
	if !ok {
		return strings.ToLower(strings.TrimPrefix(s, "+"))
	}
	digits := strings.TrimLeft(exponent[1:], "0")
	if digits == "" {
		digits = "0"
	}
	return mantissa + "p" + exponent[:1] + digits
}
