package decimal

import (
	"regexp"
	"testing"
)

// TestSpelling compares what is a number with its grammar, for all short texts of the
// characters that matter.
func TestSpelling(t *testing.T) {
	number := regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	var all func(s string, left int)
	all = func(s string, left int) {
		if isNumber(s) != number.MatchString(s) {
			t.Errorf("%q: a number %v", s, isNumber(s))
		}
		for _, c := range "+-07.eE " {
			if left > 0 {
				all(s+string(c), left-1)
			}
		}
	}
	all("", 6)
}
