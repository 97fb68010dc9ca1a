package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/subsample"
)

func sampling(args ...string) (string, error) {
	out, _, err := execute(newSamplingCmd(), args...)
	return out, err
}

func TestSamplingJSON(t *testing.T) {
	out, err := sampling("--population", "10000", "--batch", "200", "--noise-multiplier", "4", "--steps", "10", "--recursion", "0", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schemes []struct {
			Scheme        string
			NotApplicable string `json:"not-applicable"`
			Eta           float64
			Distinct      float64 `json:"expected-distinct"`
			Steps         int64
			Epsilon       struct{ Lower, Upper float64 }
			Width         float64 `json:"numerical-width"`
		}
	}
	if err := decodeOne(out, &got); err != nil {
		t.Fatal(err)
	}
	// must.md §7.6, k = 10: Poisson/S, WOR B and C, WR B and must-gap.md §6 (upper);
	// η and distinct records from the table of multiplicities.
	want := map[string][4]float64{ // η, distinct, lower end, upper end
		"poisson":             {0.02, 200, 0.0978959650061, 0.0978959650061},
		"without-replacement": {0.02, 200, 0.141980648803, 0.146191667175},
		"with-replacement":    {0.0198023069567793196, 198.023069567793, 0.144653154742, 0.148925},
	}
	for _, s := range got.Schemes {
		w, ok := want[s.Scheme]
		if !ok {
			if s.NotApplicable != "needs a subset" {
				t.Errorf("%s: %q", s.Scheme, s.NotApplicable)
			}
			continue
		}
		delete(want, s.Scheme)
		if math.Abs(s.Eta-w[0]) > 1e-15 || math.Abs(s.Distinct-w[1]) > 1e-9 || s.Steps != 10 {
			t.Errorf("%s: %+v, want %v", s.Scheme, s, w)
		}
		// Each pair is enclosed to the accuracy asked for, 1e-3 relative.
		if lo := s.Epsilon.Lower; !(lo <= w[2]*(1+1e-6) && lo >= w[2]*(1-1e-3)) {
			t.Errorf("%s: lower %v, want just below %v", s.Scheme, lo, w[2])
		}
		if hi := s.Epsilon.Upper; !(hi >= w[3]*(1-1e-4) && hi <= w[3]*(1+1e-3)) {
			t.Errorf("%s: upper %v, want just above %v", s.Scheme, hi, w[3])
		}
		if !(s.Width > 0 && s.Width <= 1.01e-3*s.Epsilon.Upper) {
			t.Errorf("%s: numerical width %v", s.Scheme, s.Width)
		}
	}
	if len(want) != 0 {
		t.Errorf("missing %v", want)
	}
}

func TestSamplingTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "aligned.svg")
	out, err := sampling("--population", "1000", "--subset", "20", "--batch", "30", "--mechanism", "laplace", "--noise-multiplier", "3", "--steps", "1", "--plot", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"laplace noise, multiplier 3; population 1000, subset 20, batch 30", "must-wo", "batch: 30 is not in [1, 20]", "must-ww", "ε after 1 step,"} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
	if svg, err := os.ReadFile(file); err != nil || !bytes.Contains(svg, []byte("without-replacement")) {
		t.Errorf("plot: %v, %d bytes", err, len(svg))
	}
}

func TestSamplingErrors(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--population", "0", "--batch", "5", "--noise-multiplier", "1"}, "--population: 0 is not a whole number in [1, 1000000000000]"},
		{[]string{"--population", "10", "--batch", "5", "--noise-multiplier", "-1"}, "--noise-multiplier: -1 is not in (0, +Inf)"},
		{[]string{"--population", "10", "--batch", "5", "--noise-multiplier", "1e-9"}, "--noise-multiplier: 1e-09 is not in [1e-06, 1e+15]"},
		{[]string{"--population", "10", "--batch", "5", "--noise-multiplier", "1", "--mechanism", "cauchy"}, `--mechanism: "cauchy" is not gaussian or laplace`},
		{[]string{"--population", "10", "--batch", "5", "--noise-multiplier", "1", "--plot", "x.doc"}, `--plot: "x.doc" does not end in .svg, .png or .pdf`},
		{[]string{"--population", "10", "--batch", "5", "--noise-multiplier", "1", "--delta", "1"}, "--delta: 1 is not in (0, 1)"},
	} {
		if _, err := sampling(c.args...); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
	}
}

// What is said of several schemes, such as that the recursion was not run, is said once.
func TestSamplingWarnsOnce(t *testing.T) {
	_, _, stderr := command("", "sampling", "--population", "1000", "--subset", "100", "--batch", "50", "--noise-multiplier", "5", "--steps", "100", "--recursion", "50", "--accuracy", "0.1")
	if n := strings.Count(stderr, "the recursion that narrows"); n != 1 {
		t.Errorf("said %d times, not once: %s", n, stderr)
	}
	if !strings.Contains(stderr, "must-ow") { // the others have blocks
		t.Errorf("must-ow is not named: %s", stderr)
	}
}

// TestAlignedAxis: where ratios of ε are far apart, their axis is logarithmic.
func TestAlignedAxis(t *testing.T) {
	for last, log := range map[float64]bool{0.05: false, 0.4: true} {
		rows := []service.Scheme{{Scheme: "must-ww", Aligned: []subsample.AlignedPoint{{Epsilon: 1, Epsilon2: 0.01}, {Epsilon: 1, Epsilon2: last}}}}
		pic, err := samplingPicture(t.Context(), service.SamplingAnswer{Schemes: rows}, nil)
		if err != nil || pic.X.Log != log {
			t.Errorf("from 0.01 to %v: logarithmic is %v, %v", last, pic.X.Log, err)
		}
	}
}
