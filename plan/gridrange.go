package plan

// One range of a grid: its keys, and its values one at a time. Values are texts, as in a plan, so
// that they are read like those that a person writes there.

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// maxRange bounds the values of linspace and logspace; those of a list are in the text.
const maxRange = 1e9

// rangeKinds are the keys of which a range has one, and rangeKeys all that it may have.
var (
	rangeKinds = []string{"values", "linspace", "logspace"}
	rangeKeys  = append(slices.Clone(rangeKinds), "name", "zip", "round")
)

// A gridRange is what one place of a grid runs through.
type gridRange struct {
	at     *node // the place
	name   string
	order  int // among the ranges of the text, from 0
	length int64
	value  func(i int64) *node
	text   bool // a value is no number
}

// cell writes a value as JSON: a number as it is read, anything else as text, and all values of a range
// as text where one is.
func (r gridRange) cell(n *node) string {
	c := cell(n)
	if r.text && c[0] != '"' {
		return quoted(c)
	}
	return c
}

func cell(n *node) string {
	if n.kind == scalarNode || n.kind == textNode && decimal.IsExpression(n.text) {
		if x, ok := plainNumber(n.text); ok && x != "Infinity" {
			return x
		}
		return quoted(n.text)
	}
	return quoted(flow(n))
}

// isRange reports whether a node is a range.
func isRange(n *node) bool {
	return n.kind == mapNode && slices.ContainsFunc(rangeKinds, func(key string) bool { return n.get(key) != nil })
}

// isName reports whether a word can name a column or a zip.
func isName(w string) bool {
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	for i := range len(w) {
		if c := w[i]; !letter(c) && (i == 0 || !(c >= '0' && c <= '9' || strings.IndexByte("_.-", c) >= 0)) {
			return false
		}
	}
	return len(w) >= 1 && len(w) <= 64
}

// readRange reads the range at a node, and the name of its zip.
func readRange(n *node) (r gridRange, zip string, err error) {
	if err := n.checkKeys(rangeKeys); err != nil {
		return r, "", err
	}
	given := slices.DeleteFunc(slices.Clone(rangeKinds), func(key string) bool { return n.get(key) == nil })
	if len(given) > 1 {
		return r, "", n.errorf("has both %s and %s; a range is one of %s", given[0], given[1], strings.Join(rangeKinds, ", "))
	}
	word := func(key string) (string, error) {
		v := n.get(key)
		if v == nil {
			return "", nil
		}
		w, err := v.word()
		if err == nil && !isName(w) {
			err = v.errorf("%v is not a name (a letter, then letters, digits, dots, dashes, at most 64)", v)
		}
		return w, err
	}
	place := *n // fields of n are replaced by each value
	place.fields = slices.Clone(n.fields)
	r.at = n
	if r.name, err = word("name"); err != nil {
		return r, "", err
	}
	if zip, err = word("zip"); err != nil {
		return r, "", err
	}
	round := false
	if v := n.get("round"); v != nil {
		switch {
		case v.isWord("true"):
			round = true
		case !v.isWord("false"):
			return r, "", v.errorf("%v is not true or false", v)
		}
	}
	list := n.get(given[0])
	if list.kind != listNode {
		return r, "", list.errorf("%v is not a list", list)
	}
	if given[0] == "values" {
		err = r.readValues(list, round)
	} else {
		err = r.readSpace(&place, list, given[0] == "logspace", round)
	}
	if err == nil && strings.HasSuffix(n.path, ".count") {
		err = r.wholeCounts(list)
	}
	return r, zip, err
}

// readValues reads a list of whatever may stand at the place.
func (r *gridRange) readValues(list *node, round bool) error {
	if len(list.items) == 0 {
		return list.errorf("is empty; must list at least one value")
	}
	items := slices.Clone(list.items)
	for i, item := range items {
		for _, inner := range item.all() {
			if isRange(inner) {
				return inner.errorf("is a range inside of a range")
			}
		}
		switch {
		case item.isNull():
			return item.errorf("is empty")
		case round:
			x, err := item.number()
			if err != nil {
				return err
			}
			items[i] = item.scalarLike(decimal.Short(math.Round(x)))
		}
		r.text = r.text || cell(items[i])[0] == '"'
	}
	r.length, r.value = int64(len(items)), func(i int64) *node { return items[i] }
	return nil
}

// readSpace reads [first, last, number].
func (r *gridRange) readSpace(place, list *node, logarithmic, round bool) error {
	if len(list.items) != 3 {
		return list.errorf("has %d elements; must be [first, last, number]", len(list.items))
	}
	var ends [2]*big.Rat
	for i := range ends {
		item := list.items[i]
		x, err := item.number()
		if err != nil {
			return err
		}
		if ends[i], err = decimal.Exact(item.text); err != nil {
			return item.errorf("%v %v", item, err)
		}
		if logarithmic && !(x > 0) {
			return item.errorf("%v is not above 0, as logspace needs", item)
		}
	}
	n, err := list.items[2].whole()
	if err != nil {
		return err
	}
	if n < 1 || n > maxRange {
		return list.items[2].errorf("%d is not in [1, 1e+09]", n)
	}
	if n == 1 && ends[0].Cmp(ends[1]) != 0 {
		return list.items[2].errorf("1 value cannot be both the first and the last")
	}
	number := func(x float64) *node {
		if round {
			x = math.Round(x)
		}
		return place.scalarLike(decimal.Short(x))
	}
	first, _ := ends[0].Float64()
	last, _ := ends[1].Float64()
	r.length = int64(n)
	if logarithmic {
		low, high := xmath.Log(first), xmath.Log(last)
		length := r.length
		r.value = func(i int64) *node {
			switch i {
			case 0:
				return number(first)
			case length - 1:
				return number(last)
			}
			t := float64(i) / float64(length-1)
			// Twelve digits: the last ones of an exponential differ between machines.
			return number(roundDigits(math.Exp(low + t*(high-low))))
		}
		return nil
	}
	span := new(big.Rat).Sub(ends[1], ends[0])
	r.value = func(i int64) *node {
		if i == 0 {
			return number(first)
		}
		x := big.NewRat(i, int64(n-1))
		x.Mul(x, span).Add(x, ends[0])
		f, _ := x.Float64()
		return number(f)
	}
	return nil
}

// roundDigits returns x with twelve significant digits.
func roundDigits(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 11, 64), 64)
	return y
}

// wholeLooks bounds how many values of a range are looked at before a grid begins.
const wholeLooks = 100000

// wholeCounts returns an error for a range of counts that are no whole numbers.
func (r *gridRange) wholeCounts(list *node) error {
	for i := range min(r.length, wholeLooks) {
		v := r.value(i)
		if v.kind == scalarNode && decimal.Is(v.text) {
			if _, err := decimal.Whole(v.text); err != nil {
				return list.errorf("value %d is %s, and a count is a whole number; round: true takes the nearest", i+1, v.text)
			}
		}
	}
	return nil
}
