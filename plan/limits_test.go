package plan

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/dpaccountant/accountant/internal/race"
	"github.com/dpaccountant/accountant/internal/slow"
)

// signs are what random texts are made of: all that YAML gives a meaning to, and some that it does not.
var signs = strings.Split(`- |-|--|---|
|
|
|
 |
  | |  |a|b1|1|0.5|"|'|"a"|'b'|a: |a:|: |:|,|, |[|]|{|}|? |?|& |&a |*a |! |!a |> |>|% |%|@|#| #|# x|# "|<<|<<: |~|.|...|\|é|	|null`, "|")

func soup(rng *rand.Rand, parts int) string {
	var b strings.Builder
	for range parts {
		s := signs[rng.IntN(len(signs))]
		if rng.IntN(20) == 0 {
			s = "|" // which separates the others
		}
		b.WriteString(s)
	}
	return b.String()
}

// TestCountTokens: there are never more tokens than are counted before there is a lexer.
func TestCountTokens(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		text := soup(rng, 1+rng.IntN(20))
		tokens := tokenize(text)
		n := len(tokens)
		if tokens.InvalidToken() != nil {
			n-- // the last one
		}
		if counted := halves(text, false); counted < 2*n {
			t.Fatalf("%q has %d tokens, and %d halves are counted", text, n, counted)
		}
	}
	for _, text := range []string{`{"a": ["b, [c\"", -1, "'"], "#": {}}`, "[]", `["\\", "\\\""]`} {
		if n := len(tokenize(text)); halves(text, true) != 2*n {
			t.Errorf("%s has %d tokens, and others are counted", text, n)
		}
	}
}

func halves(text string, isJSON bool) (n int) {
	for _, line := range strings.Split(text, "\n") {
		n += halfTokens([]byte(line), isJSON)
	}
	return n
}

// empties counts the values that the parser has put in.
type empties int

func (e *empties) Visit(n ast.Node) ast.Visitor {
	if n.GetToken() != nil && n.GetToken().Type == token.ImplicitNullType {
		*e++
	}
	return e
}

// TestEmptyValues: no text is accepted for which the parser has to put in many values. For each it moves the rest of the text.
func TestEmptyValues(t *testing.T) {
	slow.Test(t)
	rng := rand.New(rand.NewPCG(3, 4))
	seen := 0
	for range 40_000 {
		text := soup(rng, rng.IntN(3)) + strings.Repeat(soup(rng, 1+rng.IntN(5)), 2*maxEmpty) + soup(rng, rng.IntN(3))
		tokens := tokenize(text)
		if checkTokens(tokens) != nil {
			continue
		}
		file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
		if err != nil {
			continue
		}
		var e empties
		for _, doc := range file.Docs {
			if doc.Body != nil {
				ast.Walk(&e, doc.Body)
			}
		}
		if e > maxEmpty+1 { // one at the end costs nothing
			t.Fatalf("%q has %d empty values and is accepted", text, e)
		}
		if e > 0 {
			seen++
		}
	}
	if seen < 10 {
		t.Errorf("%d texts with empty values; the test tries nothing", seen)
	}
}

// hostile are texts of a size that cost the lexer, the parser or the reader most.
var hostile = []struct {
	name  string
	begin string
	unit  string
	end   string
}{
	{"empty items", "", "- \n", ""},
	{"empty items of a key", "a:\n", "-\n", ""},
	{"items", "", "- a\n", ""},
	{"mappings", "", "- a: 1\n", ""},
	{"mappings of two keys", "", "- a: 1\n  b: 2\n", ""},
	{"lists of lists", "", "- - a\n", ""},
	{"steps", "neighbors: add-remove\nsteps:\n", "- {mechanism: {gaussian: {noise-multiplier: 1}}, count: 3}\n", ""},
	{"steps in lines", "neighbors: add-remove\nsteps:\n", "  - mechanism:\n      gaussian:\n        noise-multiplier: 1\n    count: 3\n", ""},
	{"steps in JSON", `{"neighbors":"add-remove","steps":[`, `{"mechanism":{"gaussian":{"noise-multiplier":1}}},`, `{"mechanism":{"gaussian":{"noise-multiplier":1}}}]}`},
	{"numbers", "a: [", "1,", "1]"},
	{"long numbers", "a: [", "0.001, ", "1]"},
	{"numbers in lines", "a: [\n", "1,\n", "1]"},
	{"flow mappings", "a: [", "{a: 1},", "1]"},
	{"keys alone", "a: [", "{a},", "1]"},
	{"keys without a value", "a: [", "{a: },", "1]"},
	{"keys without a value in a list", "a: [", "a:\n,", "1]"},
	{"keys of a flow list", "a: [\n", "a: 1\n", "]"},
	{"commas", "a: [", ",", "1]"},
	{"empty lists", "a: [", "[],", "1]"},
	{"a mapping of keys alone", "a: {", "b,", "c}"},
	{"keys", "", "a: 1\n", ""},
	{"empty keys", "", "a:\n", ""},
	{"empty keys of lists", "", "- a:\n", ""},
	{"quoted text", `a: "`, "x", `"`},
	{"escapes", `a: "`, `\n`, `"`},
	{"quoted lines", `a: "`, "x\n", `"`},
	{"empty lines in quotes", `a: "`, "\n", `"`},
	{"a word", "a: ", "x", ""},
	{"words", "a: ", "x ", ""},
	{"lines", "a: x\n", " x\n", ""},
	{"a literal", "a: |\n", " x\n", ""},
	{"literals", "", "- |\n a\n", ""},
	{"folded lines", "a: >\n", " x\n", ""},
	{"a comment", "#", "x", "\na: 1"},
	{"comments", "a: 1\n", "#\n", ""},
	{"comments and items", "", "- a\n#\n", ""},
	{"comments and empty items", "", "- #\n", ""},
	{"empty lines", "a: 1\n", "\n", "b: 1"},
	{"blanks", "a: 1\n", " ", "\nb: 1"},
	{"tabs", "a: 1\n", "\t", "\nb: 1"},
	{"documents", "", "---\n", ""},
	{"documents with a value", "", "a\n---\n", ""},
	{"documents that end", "", "a\n...\n", ""},
	{"colons", "", ":", ""},
	{"colons and blanks", "", ": ", ""},
	{"nested lists", "", "- ", ""},
	{"brackets", "", "[", ""},
	{"closing brackets", "", "]", ""},
	{"braces", "", "{", ""},
	{"complex keys", "", "? ", ""},
	{"quotes", "", `"`, ""},
	{"two quotes", "", "'' ", ""},
	{"anchors", "", "- &a b\n", ""},
	{"aliases", "a: &a b\n", "- *a\n", ""},
	{"tags", "", "! ", ""},
	{"directives", "", "%a\n", ""},
	{"reserved signs", "", "@", ""},
	{"a sum", "a: ", "1+", "1"},
	{"a long key", "", "k", ": 1\n"},
	{"merge keys", "", "- <<: a\n", ""},
	{"umlauts", "a: ", "ü", ""},
	{"signs of a merge", "a: ", "<", ""},
	{"signs of merges", "a: ", "<<  ", ""},
	{"runs of signs of a merge", "a: ", strings.Repeat("<", 98) + " ", ""},
	{"tabs in quotes", `a: "`, "x\t", `"`},
	{"tabs in lines in quotes", `a: "`, strings.Repeat("x\t", 100) + "\n", `"`},
	{"tabs in short lines in quotes", `a: "`, strings.Repeat("x\t", 40) + "\n", `"`},
	{"empty lines behind a literal", "a: |\n" + strings.Repeat(" x\n", 100_000), "\n", "b: 1"},
	{"a hundred empty lines behind a literal", "a: |\n", " xxxxxxxxx\n", strings.Repeat("\n", maxRun-1)},
	{"blanks behind a literal", "a: |\n" + strings.Repeat(" x\n", 100_000), " \n", "b: 1"},
	{"deep lists of numbers", strings.Repeat("[", 60), "1,", "1" + strings.Repeat("]", 60)},
	{"numbers under long keys", strings.Repeat("{"+strings.Repeat("k", maxKey)+": ", 60) + "[", "1,", "1]" + strings.Repeat("}", 60)},
	{"deep items", strings.Repeat("- ", 60) + "a\n", strings.Repeat(" ", 118) + "- a\n", ""},
	{"deep keys", func() (s string) {
		for i := range 60 {
			s += strings.Repeat(" ", i) + "a:\n"
		}
		return s
	}(), strings.Repeat(" ", 60) + "- a\n", ""},
	{"zigzag", "", "a:\n b:\n  c: 1\n", ""},
	{"groups", "neighbors: add-remove\nsteps:\n", "- steps: [{steps: [{steps: [{mechanism: {pure: {epsilon: 1}}}]}]}]\n", ""},
	{"a law", "neighbors: add-remove\nsteps:\n- mechanism: {finite: {p: [0.5, 0.5], q: [", "1e-9,", "1]}}\n"},
}

// TestHostilePlans: whatever stands in a text of up to MaxSize bytes, it is read, or refused, within a second of one core. A
// text of too many tokens is refused within 50 ms. The times are the best of ten, and the second is three by the clock, so
// that a busy machine fails nothing; what grows with the square of the size took from four seconds to minutes.
func TestHostilePlans(t *testing.T) {
	slow.Test(t)
	for _, c := range hostile {
		for _, size := range []int{MaxSize, MaxSize / 4} {
			text := []byte(c.begin + strings.Repeat(c.unit, max(0, size-len(c.begin)-len(c.end))/len(c.unit)) + c.end)
			best, limit := time.Hour, 3*time.Second
			var err error
			for try := 0; try < 10 && best > limit; try++ {
				began := time.Now()
				_, err = Parse(t.Context(), text)
				best = min(best, time.Since(began))
				if limit = 3 * time.Second; err != nil && strings.Contains(err.Error(), "tokens") {
					limit = 50 * time.Millisecond
				}
				if race.Enabled {
					limit *= 10
				}
			}
			if best > limit {
				t.Errorf("%s, %d bytes: %v, which is above %v: %.200v", c.name, len(text), best, limit, err)
			}
		}
	}
}

// TestPlanMemory: no plan takes more than 100 MB to read.
func TestPlanMemory(t *testing.T) {
	slow.Test(t)
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // what is kept, with little of what is not
	for _, text := range []string{
		"neighbors: add-remove\nsteps:\n" + strings.Repeat("- {mechanism: {gaussian: {noise-multiplier: 1}}, count: 3}\n", 8000),
		"neighbors: add-remove\nsteps:\n" + strings.Repeat("  - mechanism:\n      gaussian:\n        noise-multiplier: 1\n    count: 3\n", 13000),
		"neighbors: add-remove\nsteps:\n  - mechanism: {finite: {p: [" + strings.Repeat("0.00002,", 49900) + "0.002], q: [" + strings.Repeat("0.00002,", 49900) + "0.002]}}\n",
		strings.Repeat("[", 60) + strings.Repeat("1,", 90000) + "1" + strings.Repeat("]", 60),
	} {
		var err error
		most := peak(func() { _, err = Parse(t.Context(), []byte(text)) })
		t.Logf("%d bytes: %d MB, %.100v", len(text), most>>20, err)
		if most > 100e6 {
			t.Errorf("%.60q…, %d bytes, takes %d MB: %.100v", text, len(text), most>>20, err)
		}
	}
}

// peak returns the largest heap while f runs, above that before.
func peak(f func()) (most int64) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	runtime.GC()
	before := heap()
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				most = max(most, heap()-before)
			}
		}
	}()
	f()
	close(stop)
	<-done
	return most
}
