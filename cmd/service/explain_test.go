package service

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

func topicsOf(t *testing.T) []Topic {
	t.Helper()
	topics := Topics()
	for _, topic := range topics {
		if strings.Contains(topic.Title, "\n") || strings.TrimSpace(topic.Text) == "" {
			t.Fatalf("%s: has no title with an empty line after it", topic.Name)
		}
	}
	return topics
}

// jsonKeys returns the keys of a struct.
func jsonKeys(v any) []string {
	var keys []string
	rt := reflect.TypeOf(v)
	for i := range rt.NumField() {
		if f := rt.Field(i); f.Anonymous {
			keys = append(keys, jsonKeys(reflect.Zero(f.Type).Interface())...)
		} else {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			keys = append(keys, name)
		}
	}
	return keys
}

// planNames returns what a plan may name, from the error for a name that is far
// from all of them.
func planNames(t *testing.T, plan string) []string {
	t.Helper()
	_, err := PlanText(plan).parse(t.Context())
	if err == nil {
		t.Fatal("no error")
	}
	_, list, ok := strings.Cut(err.Error(), "must be ")
	if !ok {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimPrefix(list, "one of "), ", ")
}

// TestTerms: the terms of the output have topics.
func TestTerms(t *testing.T) {
	topics := topicsOf(t)
	terms := []string{"worst direction", "estimate", "certified", "proved", "order", "fourier", RDPAccountant, "planned", "adaptive", "Rényi filter", "head"}
	for _, r := range profiles.Relations() {
		d := r.DirectionNames()
		terms = append(terms, r.String(), d[0], d[1])
	}
	for _, v := range []any{Budget{}, Bounds{}, Pairs{}} {
		terms = append(terms, jsonKeys(v)...)
	}
	terms = append(terms, "theory-gap", "any-order", "uses-per-example", "RDP, improved conversion", "Papernot–Steinke",
		"strong", "weak type I", "weak type II", "dilution", "numerical width", "advantage", "true-positive rate", "bayes success",
		"trade-off", "meets", "fails-proved", "common factor", "infeasible", "max-f", "half-loss", "largest bias",
		"worst", "realised", "independent", "expected", "sanitized")
	terms = append(terms, "geometric", "logarithmic", "negative-binomial", "poisson", "binomial", "fixed", "subsampling", "double", "constant",
		"optimal", "debiased-rr", "two-point", "laplace", "staircase", "randomized-response", "rr-on-bins")
	mechanisms := planNames(t, "neighbors: add-remove\nsteps: [{mechanism: {zzzzzzzzzz: {}}}]")
	samplings := planNames(t, "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 1}}, sampling: {zzzzzzzzzz: {}}}]")
	if len(mechanisms) < 8 || len(samplings) < 1 {
		t.Fatal(mechanisms, samplings)
	}
	terms = append(append(terms, mechanisms...), samplings...)
	for _, term := range terms {
		if _, err := findTopic(topics, term); err != nil {
			t.Error(err)
		}
	}
}

var cited = regexp.MustCompile(`(Theorem|Lemma|Proposition|Corollary|Definition|Algorithm)s? ([0-9]+(?:\.[0-9]+)*(?:(?:, | and )[0-9]+(?:\.[0-9]+)*)*)`)

var figures = regexp.MustCompile(`[0-9]+(\.[0-9]+)*`)

// citations returns the theorems that a text cites, each for itself.
func citations(text string) (all []string) {
	for _, m := range cited.FindAllStringSubmatch(text, -1) {
		for _, number := range figures.FindAllString(m[2], -1) {
			all = append(all, m[1]+" "+number)
		}
	}
	return all
}

// TestCompareExplained: explain knows the methods and the theorems of compare.
func TestCompareExplained(t *testing.T) {
	plan, err := PlanText("neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 1}}}]\n").parse(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := plan.Compare(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		names := append(citations(r.Theorem), r.Method)
		if len(names) == 1 {
			t.Errorf("%s is by no theorem: %s", r.Method, r.Theorem)
		}
		for _, name := range names {
			_, err := Ask[[]Topic](t.Context(), New(nil), ExplainRequest{Topic: name})
			if err != nil && !strings.Contains(err.Error(), "it is mentioned in ") {
				t.Errorf("explain %s: %v", name, err)
			}
		}
	}
}

// TestCitations: a theorem that a string of the program cites is in a topic.
func TestCitations(t *testing.T) {
	topics := topicsOf(t)
	found := 0
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".", "cmd/accountant", "pate", "labeldp", "selection", "subsample", "profiles", "fourier", "pld", "rdp", "darrm", "ledger"} {
		more, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range citations(text) {
				found++
				if len(mentioning(topics, c)) == 0 {
					t.Errorf("%s cites %s, which no topic of explain mentions", file, c)
				}
			}
			return true
		})
	}
	if found < 4 {
		t.Errorf("found %d citations, want the 4 known ones at least", found)
	}
}

// TestTopics: names are unambiguous, lines are short, and what the texts send the
// reader to is there.
func TestTopics(t *testing.T) {
	topics := topicsOf(t)
	seen := map[string]string{}
	see := regexp.MustCompile(`\b[Ss]ee ([a-z-]+)`)
	for _, topic := range topics {
		for _, name := range append([]string{topic.Name}, topic.Also...) {
			if other, ok := seen[name]; ok {
				t.Errorf("%s is both %s and %s", name, other, topic.Name)
			}
			seen[name] = topic.Name
			if name != strings.ToLower(name) || strings.ContainsAny(name, " _") {
				t.Errorf("the name %q cannot be found", name)
			}
		}
		for _, line := range strings.Split(topic.Text, "\n") {
			if n := len([]rune(line)); n > 84 {
				t.Errorf("%s: %d characters in %q", topic.Name, n, line)
			}
		}
		for _, m := range see.FindAllStringSubmatch(topic.Text, -1) {
			if _, err := findTopic(topics, m[1]); err != nil {
				t.Errorf("%s: %v", topic.Name, err)
			}
		}
	}
	if _, err := os.Stat("topics/add-remove.txt"); err != nil {
		t.Error(err)
	}
	if _, err := findTopic(topics, "fuorier"); err == nil || !strings.Contains(err.Error(), `did you mean "fourier"?`) {
		t.Error(err)
	}
}
