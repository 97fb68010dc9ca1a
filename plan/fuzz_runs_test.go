package plan

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
)

// FuzzRuns: a plan, the lines of its certificate, and the plan of these lines have the same runs. What reads the lines is
// of this test alone.
func FuzzRuns(f *testing.F) {
	for _, s := range []string{
		"neighbors: substitute\nsteps:\n  - mechanism: {laplace: {noise-multiplier: 2}}\n  - {count: 3, steps: [{mechanism: {pure: {epsilon: 1}}, count: 5}, {mechanism: {approximate: {epsilon: 1, delta: 1e-300}}}]}",
		"neighbors: add-remove\nrecords-per-person: 3\nsteps:\n  - mechanism: {gaussian: {standard-deviation: 4, partitions: 4}}\n    sampling: none\n  - mechanism: {finite: {p: [0.5, 0.5], q: [1, 0]}}\n    sampling: {poisson: {rate: 0.1}}",
		"neighbors: add-remove\nsteps: [{mechanism: {discrete-gaussian: {noise-multiplier: 0.1, sensitivity: 3, dimension: 1}}, sampling: {without-replacement: {population: 100, batch: 7}}}]",
		"neighbors: zero-out\nsteps: [{mechanism: {discrete-laplace: {noise-multiplier: 7e-3}}}, {mechanism: {randomized-response: {probability: 0.3, categories: 4}}, count: 9007199254740992}]",
		"neighbors: add-remove\nsteps:\n  - selection: {law: geometric, mean: 3}\n    steps: [{mechanism: {pure: {epsilon: 1}}}]\n  - mechanism: {gaussian: {noise-multiplier: 2}}\n    sampling: {shuffle: {batches: 10, redraw: each-epoch}}",
		"neighbors: zero-out\nsteps:\n  - {mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {random-allocation: {steps: 30, first: 20, redraw: once, epochs: 4}}}\n  - {mechanism: {laplace: {noise-multiplier: 2}}, sampling: {with-replacement: {population: 30, batch: 2}}, count: 4}",
		"neighbors: add-remove\nsteps:\n  - {mechanism: {exponential: {epsilon: 0.5}}, count: 3}\n  - mechanism: {matrix: {noise-multiplier: 2, steps: 12, strategy: {square-root: {bands: 3}}, participation: {cyclic-poisson: {cycle: 4, rate: 0.1}}}}\n  - mechanism: {matrix: {noise-multiplier: 2, steps: 12, strategy: {blt: {scales: [0.5, 0.25], decays: [0.5, 1e-7]}}, participation: {at-most: 2, min-separation: 3}}}",
		"neighbors: substitute\nsteps:\n  - mechanism: {matrix: {noise-multiplier: 2, steps: 12, strategy: {toeplitz: {coefficients: [1, -0.5]}}, participation: {single: true}}}\n  - mechanism: {matrix: {noise-multiplier: 2, steps: 12, strategy: {tree: {completion: true}}, participation: {epochs: 3}}}\n  - mechanism: {matrix: {noise-multiplier: 2, steps: 2, strategy: identity, participation: {epochs: 2}}}\n  - mechanism: {laplace: {noise-multiplier: 2, l2-sensitivity: 0.5}}",
		"neighbors: add-remove\nsteps:\n  - count: 2\n    adaptive:\n      units: 9\n      delta: 1e-7\n      menu:\n        - {name: a, cost: 2, steps: [{mechanism: {gaussian: {noise-multiplier: 8}}, count: 3}, {mechanism: {pure: {epsilon: 0.5}}, sampling: {poisson: {rate: 0.5}}}]}\n        - {name: b, cost: 1, steps: [{mechanism: {laplace: {noise-multiplier: 5}}}]}",
		"neighbors: substitute\nsteps:\n  - {selection: {law: logarithmic, gamma: 0.25}, count: 4, mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {poisson: {rate: 0.5}}}\n  - {selection: {law: poisson, mean: 3}, mechanism: {noisy-max: {noise: gumbel, epsilon: 0.5}}}",
		"neighbors: add-remove\nsteps:\n  - {mechanism: {threshold: {noise: gaussian, standard-deviation: 2, threshold: 9, partitions: 3}}, count: 5}\n  - {mechanism: {threshold: {noise: laplace, scale: 2, threshold: 9}}}\n  - {mechanism: {select-partitions: {epsilon: 1, delta: 1e-6, partitions: 2}}}\n  - {mechanism: {permute-and-flip: {epsilon: 1}}}",
		`{"class_name": "SelfComposedDpEvent", "count": 7, "event": {"class_name": "GaussianDpEvent", "noise_multiplier": 2.0}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(t.Context(), []byte(text))
		head, lines, errRuns := Runs([]byte(text))
		if (err == nil) != (errRuns == nil) {
			t.Fatalf("Parse: %v, Runs: %v", err, errRuns)
		}
		if err != nil {
			return
		}
		for _, line := range lines {
			if strings.ContainsAny(line, "\r\x00") || !strings.Contains(line, "\ninner ") && strings.Contains(line, "\n") {
				t.Errorf("%q is no line", line)
			}
		}
		back := planOf(t, head, lines)
		q, err := Parse(t.Context(), []byte(back))
		if err != nil {
			t.Fatalf("the plan of the lines: %v\n%s\nof\n%s", err, back, text)
		}
		if _, again, err := Runs([]byte(back)); err != nil || !slices.Equal(again, lines) {
			t.Errorf("the plan\n%s\nof the lines\n%q\nhas the lines\n%q, %v", back, lines, again, err)
		}
		if strings.Contains(strings.Join(lines, " "), "\n") {
			return // names of types, and the mean of a search, are not in the lines
		}
		if a, b := stepsOf(p.Steps, 1), stepsOf(q.Steps, 1); !reflect.DeepEqual(a, b) {
			t.Errorf("steps\n%v\nare\n%v\nby way of\n%s", a, b, back)
		}
	})
}

// stepsOf are the steps of a plan without their names, groups multiplied out.
func stepsOf(steps []accountant.Step, times int64) []accountant.Step {
	var all []accountant.Step
	for _, s := range steps {
		s.Count, s.Name = times*max(s.Count, 1), ""
		if s.Selection != nil {
			s.Steps = stepsOf(s.Steps, 1)
		} else if len(s.Steps) > 0 {
			all = append(all, stepsOf(s.Steps, s.Count)...)
			continue
		}
		all = append(all, s)
	}
	return all
}

var (
	hex   = regexp.MustCompile(`-?0x[0-9a-f.]+p[+-]\d+`)
	pairs = regexp.MustCompile(`([a-z-]+) (\S+)`)
	lists = regexp.MustCompile(`([pq]) \d+((?: -?[0-9][^a-z ]*)+)`)
)

// planOf reads the lines of a certificate.
func planOf(t *testing.T, head *accountant.Plan, lines []string) string {
	text := fmt.Sprintf("neighbors: %s\nrecords-per-person: %d\nsteps:\n", head.Neighbors, head.Records())
	for _, line := range lines {
		line, within, _ := strings.Cut(line, "\n")
		count, rest, _ := strings.Cut(line, " ")
		if within != "" {
			text += planOfParts(t, count, rest, within)
			continue
		}
		if other, ok := strings.CutPrefix(rest, "other "); ok {
			text += fmt.Sprintf("  - {%s, count: %s}\n", other, count)
			continue
		}
		rest = hex.ReplaceAllStringFunc(rest, func(s string) string {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			return strconv.FormatFloat(x, 'g', -1, 64)
		})
		sampling := ""
		for _, scheme := range []string{"poisson", "without-replacement", "with-replacement", "random-allocation"} {
			if strings.HasPrefix(rest, "matrix ") {
				break // its schema has words of its own
			}
			if m, words, ok := strings.Cut(rest, " "+scheme+" "); ok {
				rest, sampling = m, fmt.Sprintf(", sampling: {%s: {%s}}", scheme, keys(words))
			}
		}
		name, words, _ := strings.Cut(rest, " ")
		words = strings.Replace(words, " dimension 0", "", 1)
		if name == "matrix" {
			text += fmt.Sprintf("  - {mechanism: {matrix: {%s}}, count: %s}\n", matrixKeysOf(words), count)
			continue
		}
		text += fmt.Sprintf("  - {mechanism: {%s: {%s}}%s, count: %s}\n", name, keys(words), sampling, count)
	}
	return text
}

var (
	units = regexp.MustCompile(`^adaptive units (\d+) `)
	typed = regexp.MustCompile(`type cost (\d+) steps \d+\n`)
	law   = regexp.MustCompile(`^selection (\S+) (.*) steps \d+$`)
)

// planOfParts is the step of a menu or a search.
func planOfParts(t *testing.T, count, rest, within string) string {
	steps := func(lines string) string {
		_, text, _ := strings.Cut(planOf(t, &accountant.Plan{}, strings.Split(strings.TrimPrefix(strings.TrimSpace(lines), "inner "), "\ninner ")), "steps:\n")
		var out strings.Builder
		for line := range strings.Lines(text) {
			out.WriteString("\n          " + strings.TrimSpace(line))
		}
		return out.String()
	}
	if m := law.FindStringSubmatch(rest); m != nil {
		numbers := hex.ReplaceAllStringFunc(m[2], func(s string) string {
			x, _ := strconv.ParseFloat(s, 64)
			return strconv.FormatFloat(x, 'g', -1, 64)
		})
		return fmt.Sprintf("  - selection: {law: %s, %s}\n    count: %s\n    steps:%s\n", m[1], keys(numbers), count, steps(within))
	}
	text := fmt.Sprintf("  - count: %s\n    adaptive:\n      units: %s\n      menu:\n", count, units.FindStringSubmatch(rest)[1])
	types := typed.Split(within, -1)[1:]
	for i, m := range typed.FindAllStringSubmatch(within, -1) {
		text += fmt.Sprintf("        - name: t%d\n          cost: %s\n          steps:%s\n", i, m[1], steps(types[i]))
	}
	return text
}

var (
	matrixParts  = regexp.MustCompile(`^(noise-multiplier \S+ steps \d+) (.*?) (single|epochs .*|min-separation .*|cyclic-poisson .*)$`)
	numbersLists = regexp.MustCompile(`([a-z]+) (\d+)((?: -?[0-9][^a-z ]*(?:e[-+]?\d+)?)+)`)
)

// matrixKeysOf writes the words of a matrix mechanism as keys.
func matrixKeysOf(words string) string {
	m := matrixParts.FindStringSubmatch(words)
	strategy, rest, _ := strings.Cut(m[2], " ")
	switch strategy {
	case "square-root":
		strategy = "{square-root: {" + keys(rest) + "}}"
	case "tree":
		strategy = "{tree: {completion: " + map[string]string{"completion 0": "false", "completion 1": "true"}[rest] + "}}"
	case "toeplitz", "blt":
		strategy = "{" + strategy + ": {" + strings.TrimSuffix(numbersLists.ReplaceAllStringFunc(rest, func(s string) string {
			f := strings.Fields(s)
			return f[0] + ": [" + strings.Join(f[2:], ", ") + "],"
		}), ",") + "}}"
	}
	schema, coins, _ := strings.Cut(m[3], " ")
	switch schema {
	case "single":
		schema = "single: true"
	case "cyclic-poisson":
		schema = "cyclic-poisson: {" + keys(coins) + "}"
	default:
		schema = keys(m[3])
	}
	return keys(m[1]) + ", strategy: " + strategy + ", participation: {" + schema + "}"
}

// keys writes "name value …" as "name: value, …", a list as [ … ].
func keys(words string) string {
	if strings.HasPrefix(words, "p ") {
		return strings.TrimSuffix(lists.ReplaceAllStringFunc(words, func(s string) string {
			f := strings.Fields(s)
			return f[0] + ": [" + strings.Join(f[2:], ", ") + "],"
		}), ",")
	}
	var out []string
	for _, m := range pairs.FindAllStringSubmatch(words, -1) {
		out = append(out, m[1]+": "+m[2])
	}
	return strings.Join(out, ", ")
}
