// Package decimal reads the numbers that people write in plan files and on the
// command line, and writes those that they read.
//
// A number is its decimal text, not a type: 1, 1.0 and 1e0 are the same number,
// and no digit of a count is lost on the way.
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

var (
	number = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	octal  = regexp.MustCompile(`^[-+]?0[0-9]`) // eight or ten? readers of YAML differ
)

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
	return special(s) || number.MatchString(s) && !octal.MatchString(s)
}

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
	case !number.MatchString(s):
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
