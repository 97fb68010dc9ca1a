package accountant

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Numbers are read from the text of the plan rather than as YAML types, so that 1,
// 1.0 and 1e0 are the same number, and no digit of a count is lost.

// maxCount is the largest count that float64 and JSON hold exactly.
const maxCount = 1 << 53

var (
	decimal = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	octal   = regexp.MustCompile(`^[-+]?0[0-9]`) // eight or ten? readers of YAML differ
)

func isNumber(s string) bool {
	return decimal.MatchString(s) && !octal.MatchString(s) || specialNumber(s)
}

func specialNumber(s string) bool {
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case ".inf", ".nan":
		return true
	}
	return false
}

// parseNumber returns the float64 nearest to a decimal number.
func parseNumber(s string) (float64, error) {
	switch {
	case specialNumber(s):
		return strconv.ParseFloat(strings.Replace(s, ".", "", 1), 64)
	case !decimal.MatchString(s):
		return 0, errors.New("is not a number")
	case octal.MatchString(s):
		return 0, errors.New("is not a number (it has a leading zero)")
	}
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return 0, errors.New("is too large for a 64-bit floating-point number")
	case math.Abs(x) < 0x1p-1022 && strings.ContainsAny(mantissa(s), "123456789"):
		// A rate or a probability must not silently become 0 or lose its digits.
		return 0, errors.New("is too small for a 64-bit floating-point number")
	}
	return x, nil
}

func mantissa(s string) string {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i]
	}
	return s
}

// parseWhole returns the whole number that s denotes, in any notation. Its
// range is ±2^53.
func parseWhole(s string) (int64, error) {
	x, err := parseNumber(s)
	if err != nil || math.IsNaN(x) {
		return 0, errors.New("is not a whole number")
	}
	if math.Abs(x) > maxCount {
		return 0, errors.New("is not a whole number in [-2^53, 2^53]")
	}
	// |x| ≤ 2^53 keeps the exact value small whatever the exponent says.
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() {
		return 0, errors.New("is not a whole number")
	}
	if !r.Num().IsInt64() || r.Num().Int64() > maxCount || r.Num().Int64() < -maxCount {
		return 0, errors.New("is not a whole number in [-2^53, 2^53]")
	}
	return r.Num().Int64(), nil
}

func (n *node) number() (float64, error) {
	if err := n.scalar("a number"); err != nil {
		return 0, err
	}
	x, err := parseNumber(n.text)
	if err != nil {
		return 0, n.errorf("%v %v", n, err)
	}
	return x, nil
}

func (n *node) whole() (int, error) {
	if err := n.scalar("a whole number"); err != nil {
		return 0, err
	}
	v, err := parseWhole(n.text)
	if err == nil && int64(int(v)) != v {
		err = errors.New("is too large for this machine's integers")
	}
	if err != nil {
		return 0, n.errorf("%v %v", n, err)
	}
	return int(v), nil
}

func (n *node) count() (int64, error) {
	if err := n.scalar("a whole number in [1, 2^53]"); err != nil {
		return 0, err
	}
	v, err := parseWhole(n.text)
	if err != nil || v < 1 {
		return 0, n.errorf("%v is not a whole number in [1, 2^53]", n)
	}
	return v, nil
}

func (n *node) numbers() ([]float64, error) {
	if n.kind != listNode {
		return nil, n.errorf("%v is not a list of numbers", n)
	}
	xs := make([]float64, len(n.items))
	for i, item := range n.items {
		x, err := item.number()
		if err != nil {
			return nil, err
		}
		xs[i] = x
	}
	return xs, nil
}

// scalar returns an error unless n is a plain scalar.
func (n *node) scalar(what string) error {
	switch {
	case n.kind == textNode && isNumber(n.text):
		return n.errorf("%v is not %s (remove the quotes)", n, what)
	case n.kind != scalarNode || n.isNull():
		return n.errorf("%v is not %s", n, what)
	}
	return nil
}
