package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A number changes and nothing else does.
func TestSet(t *testing.T) {
	const text = `# σ first
neighbors: add-remove
steps:
  - name: a # noise
    mechanism: {gaussian: {noise-multiplier: 1.1}} # ε
    sampling: {poisson: {rate: 256/60000}}
  - {name: "é", mechanism: {laplace: {noise-multiplier: 20}}, count: 3}
`
	got, err := Set([]byte(text), map[string]float64{
		"steps[0].mechanism.gaussian.noise-multiplier": 2.5, "steps[0].sampling.poisson.rate": 0.25,
		"steps[1].mechanism.*.noise-multiplier": 1e-3, "steps[1].count": 12345,
	})
	want := strings.NewReplacer("1.1}}", "2.5}}", "256/60000", "0.25", "20}", "0.001}", "count: 3", "count: 12345").Replace(text)
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	for path, want := range map[string]string{
		"steps[0].count": "steps[0].count: is not written in the plan as a number",
		"steps[0]":       "steps[0]: is not written in the plan as a number",
		"steps[0].name":  "steps[0].name: is not written in the plan as a number",
	} {
		if _, err := Set([]byte(text), map[string]float64{path: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Set([]byte(text), map[string]float64{"steps[0].sampling.poisson.rate": 2}); err == nil || !strings.Contains(err.Error(), "2 is not in [0, 1]") {
		t.Errorf("a plan that cannot be read was made: %v", err)
	}
	if got, err := Set([]byte(`{"neighbors": "add-remove",	"steps": [{"mechanism": {"pure": {"epsilon": 1}}}]}`), map[string]float64{"steps[0].mechanism.pure.epsilon": 2}); err != nil || !strings.Contains(string(got), `"epsilon": 2}`) {
		t.Errorf("JSON: %v %s", err, got)
	}
}

// The examples are in order; what is not comes into it, and stays.
func TestTidy(t *testing.T) {
	paths, _ := filepath.Glob("../examples/*.yaml")
	if len(paths) < 5 {
		t.Fatal("no examples")
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Tidy(text); err != nil || string(got) != string(text) {
			t.Errorf("%s: %v\n%s", path, err, got)
		}
	}
	const text = "neighbors:   add-remove   # hi\nsteps:\n    -   name: a\n        mechanism: {pure: {epsilon:   1}}\n\n    # second\n    - mechanism:\n        laplace: {noise-multiplier: 20}\n\n\n"
	got, err := Tidy([]byte(text))
	if err != nil || !strings.Contains(string(got), "add-remove # hi\n") || !strings.Contains(string(got), "# second\n") || !strings.HasSuffix(string(got), "20}\n") {
		t.Errorf("%v\n%s", err, got)
	}
	if again, err := Tidy(got); err != nil || string(again) != string(got) {
		t.Errorf("%v\n%s", err, again)
	}
	if _, err := Tidy([]byte("neighbors: x")); err == nil {
		t.Error("no plan was formatted")
	}
}

// Marks of byte order, and lines that end in CR LF or CR alone, stay as they are, and comments with them; errors name the
// line that a reader counts.
func TestEditKeepsLineEnds(t *testing.T) {
	const text = "# head\nneighbors: add-remove\nsteps:\n  - name: a # one\n    mechanism: {gaussian: {noise-multiplier: 1.10}} # two\n    count: 1e3\n"
	const path = "steps[0].mechanism.gaussian.noise-multiplier"
	for _, mark := range []string{"", "\ufeff"} {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			written := mark + strings.ReplaceAll(text, "\n", end)
			got, err := Set([]byte(written), map[string]float64{path: 2.5})
			if want := strings.Replace(written, "1.10", "2.5", 1); err != nil || string(got) != want {
				t.Errorf("%q: Set returns %q, %v", written, got, err)
			}
			loose := strings.Replace(written, "{gaussian: ", "{gaussian:   ", 1)
			if got, err = Tidy([]byte(loose)); err != nil || string(got) != written {
				t.Errorf("%q: Tidy returns %q, %v", loose, got, err)
			}
			_, err = Parse(t.Context(), []byte(strings.Replace(written, "1.10", "-1", 1)))
			if err == nil || !strings.HasPrefix(err.Error(), "line 5: ") {
				t.Errorf("%q: %v, want line 5", written, err)
			}
		}
	}
	// A byte order mark before JSON does not move what is on its line.
	const object = "\ufeff{\"neighbors\": \"add-remove\", \"steps\": [{\"mechanism\": {\"pure\": {\"epsilon\": 1}}}]}"
	if got, err := Set([]byte(object), map[string]float64{"steps[0].mechanism.pure.epsilon": 2}); err != nil || string(got) != strings.Replace(object, "1}", "2}", 1) {
		t.Errorf("%q, %v", got, err)
	}
}
