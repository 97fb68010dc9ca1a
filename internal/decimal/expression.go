package decimal

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
)

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
