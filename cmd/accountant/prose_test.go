package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A page says in a comment where the numbers in its text come from, if not from its
// own console blocks:
//
//	<!-- numbers: experiments/must.md ../subsample/acceptance_test.go -->
//
// The files, named from where the page is, are pages that TestPages or a program of
// lab/ checks, or tests. A number that no file has, such as one that was
// measured, stands in
//
//	<!-- numbers without a test: 36.52 (timed by hand, version 0.3) -->
//
// so that it is known to be one.
var (
	numbersFrom = regexp.MustCompile(`(?m)^<!-- numbers: ([^>]*) -->`)
	untested    = regexp.MustCompile(`(?m)^<!-- numbers without a test: ([^>]*) -->`)
	tableFile   = regexp.MustCompile(`\]\(([a-z0-9-]+-table[0-9]*\.csv)\)`)
	comment     = regexp.MustCompile(`(?s)<!--.*?-->`)
	address     = regexp.MustCompile(`\]\([^)]*\)|https?://[^ )]+|arXiv:[0-9.]+|\[arXiv:[^\]]*\]|Go 1\.[0-9]+`)
	// precise is a number with a decimal point; those with three digits or more that
	// count are taken for results. In docs/reference/benchmarks.md those with three are times
	// that were measured.
	precise = regexp.MustCompile(`-?[0-9]+\.[0-9]+(e[-+]?[0-9]+)?`)
)

// digits returns how many digits of a number count.
func digitsOf(number string) int {
	mantissa, _, _ := strings.Cut(strings.TrimLeft(number, "-"), "e")
	return len(strings.TrimLeft(strings.ReplaceAll(mantissa, ".", ""), "0"))
}

// prose splits a page into its text and what its console blocks show.
func prose(page string) (text, shown string) {
	var kind string
	fenced := false
	var a, b strings.Builder
	for line := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "```"); ok {
			fenced, kind = !fenced, rest
			continue
		}
		switch {
		case fenced && kind == "console":
			b.WriteString(line)
		case !fenced:
			a.WriteString(line)
		}
	}
	return a.String(), b.String()
}

// repeats reports whether a number in text repeats one of a list: it is that number
// in as many digits, rounded in any direction.
func repeats(number string, of []float64) bool {
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	mantissa, exponent, _ := strings.Cut(number, "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	unit := math.Pow(10, float64(e-len(decimals)))
	for _, y := range of {
		// A little more than a unit, as the decimals are not exact.
		if math.Abs(math.Abs(x)-math.Abs(y)) <= unit*(1+1e-6) {
			return true
		}
	}
	return false
}

func numbersIn(text string) (all []float64) {
	for _, n := range numeral.FindAllString(text, -1) {
		if x, err := strconv.ParseFloat(n, 64); err == nil {
			all = append(all, x)
		}
	}
	return all
}

// readNumbers reads a file, unpacked if its name ends in .gz.
func readNumbers(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || filepath.Ext(path) != ".gz" {
		return data, err
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// TestProse: a number in the text of a page that looks like a result is in what a
// test has checked, see numbersFrom. The pages in docs/experiments are printed by
// programs.
func TestProse(t *testing.T) {
	checked := 0
	for _, path := range pages(t) {
		if path != "README.md" && !strings.HasPrefix(path, "docs/") && !strings.HasPrefix(path, "python/") || strings.HasPrefix(path, "docs/experiments/") || path == "docs/reference/cli-reference.md" {
			continue
		}
		whole := strings.Join(page(t, path), "\n")
		if path == soundness { // whose page says where its numbers are from
			whole += "\n" + strings.Join(page(t, strings.TrimSuffix(soundness, ".csv")+".md"), "\n")
		}
		text, shown := prose(whole)
		known := numbersIn(shown)
		for _, m := range numbersFrom.FindAllStringSubmatch(whole, -1) {
			for _, name := range strings.Fields(m[1]) {
				data, err := readNumbers(filepath.Join(root, filepath.Dir(path), name))
				if err != nil {
					t.Errorf("%s: numbers: %v", path, err)
					continue
				}
				known = append(known, numbersIn(string(data))...)
				for _, m := range tableFile.FindAllSubmatch(data, -1) { // the long tables of a page
					table, err := os.ReadFile(filepath.Join(root, filepath.Dir(path), filepath.Dir(name), string(m[1])))
					if err != nil {
						t.Errorf("%s: numbers: %v", path, err)
					}
					known = append(known, numbersIn(string(table))...)
				}
			}
		}
		for _, m := range untested.FindAllStringSubmatch(whole, -1) {
			for _, n := range precise.FindAllString(m[1], -1) {
				if !strings.Contains(comment.ReplaceAllString(text, ""), n) {
					t.Errorf("%s: %s, which has no test, is not in the text", path, n)
				}
			}
			known = append(known, numbersIn(m[1])...)
		}
		text = address.ReplaceAllString(comment.ReplaceAllString(text, ""), "")
		for i, line := range strings.Split(text, "\n") {
			for _, n := range precise.FindAllString(line, -1) {
				if digitsOf(n) < 3 || path == "docs/reference/benchmarks.md" && digitsOf(n) < 4 {
					continue
				}
				checked++
				if !repeats(n, known) {
					t.Errorf("%s: %s is in no output that is tested (line %d of the text: %.60s)", path, n, i+1, line)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d numbers checked, want at least 50", checked)
	}
}

// TestRepeats: what counts as the same number.
func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		number string
		of     float64
		want   bool
	}{
		{"1.336", 1.33571, true}, {"1.335", 1.33571, true}, {"1.334", 1.33571, false}, {"1.337", 1.33571, false},
		{"2.380e-5", 2.3795e-5, true}, {"2.3e-5", 2.6e-5, false}, {"-0.1030", -0.10299, true}, {"9.999", 99.99, false},
	} {
		if got := repeats(c.number, []float64{c.of}); got != c.want {
			t.Errorf("%s of %v: %v", c.number, c.of, got)
		}
	}
}
