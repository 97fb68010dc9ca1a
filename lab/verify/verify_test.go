package verify

// The checker proves what the library certifies, and refuses what was tampered with. The plans are random over all that
// the checker covers; a sabotage that rewrites the claim seals the text again, so that the mathematics must find it.

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/slow"
)

var (
	seed  = flag.Uint64("seed", 22, "of the plans and the sabotages")
	other = flag.String("checker", "", "test this checker instead of a new one: of another FLINT, say")
	trace = flag.Bool("trace", false, "print every certificate that was not proved or not refuted")
)

// The exit codes of the checker.
const (
	proved, refuted, badInput, notProved, notChecked = 0, 1, 2, 3, 4
)

const install = "NOT RUN: the checker of certificates was not built; install gcc and FLINT (Debian: apt install gcc libflint-dev libflint-arb-dev) and run go test ./verify"

// build compiles the checker, once for all tests.
func build(t *testing.T) string {
	t.Helper()
	if *other != "" {
		return *other
	}
	p := checker()
	if p.err == errNotInstalled {
		t.Skip(install)
	}
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.path
}

// A program is a compiled file, or why there is none.
type program struct {
	path string
	err  error
}

var (
	errNotInstalled = errors.New("gcc or FLINT is missing")
	folder          string // of what is compiled, TestMain's
	checker         = sync.OnceValue(func() program { return compile("verify", "-O2", "../../verify/src/*.c") })
)

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if folder, err = os.MkdirTemp("", "verify"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// compile makes a program of C files, against FLINT 3 or FLINT 2 with Arb under either of its names.
func compile(name, options string, globs ...string) program {
	cc, err := exec.LookPath("gcc")
	if err != nil {
		return program{err: errNotInstalled}
	}
	args := append([]string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", filepath.Join(folder, name)}, strings.Fields(options)...)
	for _, glob := range globs {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			return program{err: fmt.Errorf("no sources %s: %v", glob, err)}
		}
		args = append(args, files...)
	}
	var said []byte
	for _, libraries := range [][]string{{"-lflint-arb", "-lflint"}, {"-larb", "-lflint"}, {"-lflint"}} {
		if said, err = exec.Command(cc, append(append(args, libraries...), "-lm")...).CombinedOutput(); err == nil {
			return program{path: filepath.Join(folder, name)}
		}
	}
	if strings.Contains(string(said), "arb.h: No such file") || strings.Contains(string(said), "cannot find -l") {
		return program{err: errNotInstalled}
	}
	return program{err: fmt.Errorf("%s does not compile: %v\n%s", name, err, said)}
}

// check runs the checker on a text.
func check(t *testing.T, checker, text string) (code int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, checker, "-")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if *trace && cmd.ProcessState != nil {
		t.Logf("%v of processor time", cmd.ProcessState.UserTime())
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode(), string(out)
	case err != nil:
		t.Fatalf("the checker ended with %v\n%s\n%s", err, out, text)
	}
	return 0, string(out)
}

// certify asks for the certificate of a plan.
func certify(text string, delta float64) (string, service.EpsilonAt, error) {
	var q service.EpsilonRequest
	q.Plan = service.PlanText(text)
	q.Delta = service.Decimals{service.Decimal(strconv.FormatFloat(delta, 'g', -1, 64))}
	q.Certificate = true
	a, err := service.Ask[service.EpsilonAnswer](context.Background(), service.New(nil), q)
	if err != nil {
		return "", service.EpsilonAt{}, err
	}
	return a.Certificate, a.Results[0], nil
}

// A sample is a plan with its certificate.
type sample struct {
	kind, relation, text, certificate string
	steps                             []string
	records                           int
	delta                             float64
	answer                            service.EpsilonAt
}

// next draws a plan whose ε is in [1e-3, 100], and certifies it.
func (d draw) next(t *testing.T, i int) sample {
	t.Helper()
	for range 200 {
		k := kinds[i%len(kinds)]
		s := sample{kind: k.name, records: max(1, records[k.name]), delta: d.log(1e-12, 1e-2)}
		if d.IntN(4) == 0 {
			s.delta = d.log(1e-30, 1e-12)
		}
		s.relation, s.steps = k.plan(d)
		if s.certify(t) && s.answer.Epsilon.Lower >= 1e-3 && s.answer.Epsilon.Upper <= 100 {
			return s
		}
	}
	t.Fatal("200 draws gave no plan with ε in [1e-3, 100]")
	return sample{}
}

func (s *sample) planText() string {
	text := fmt.Sprintf("neighbors: %s\nrecords-per-person: %d\nsteps:\n", s.relation, s.records)
	for _, step := range s.steps {
		text += "  - " + step + "\n"
	}
	return text
}

func (s *sample) certify(t *testing.T) bool {
	t.Helper()
	s.text = s.planText()
	var err error
	s.certificate, s.answer, err = certify(s.text, s.delta)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.text)
	}
	// Wide intervals are those of a limit, of which there is nothing to learn here.
	e := s.answer.Epsilon
	return len(s.answer.Warnings) == 0 && e.Upper-e.Lower <= 1e-3*e.Upper
}

// size is how many certificates of each sort are tried.
func size() int {
	if slow.All() {
		return 300
	}
	return len(kinds)
}

func TestTrueCertificatesAreProved(t *testing.T) {
	checker := build(t)
	d := draw{newRand(1)}
	good, uncovered := 0, map[string]int{}
	for i := 0; good < size(); i++ {
		if i > 2*size() {
			t.Fatalf("only %d of %d certificates are covered: not checked %v", good, i, uncovered)
		}
		s := d.next(t, i)
		switch code, said := check(t, checker, s.certificate); code {
		case proved:
			good++
			if *trace {
				t.Logf("%s proved\n%s", s.kind, s.text)
			}
		case notChecked:
			uncovered[s.kind]++
			if *trace {
				t.Logf("%s\n%s%s", s.kind, s.text, said)
			}
		default:
			t.Errorf("%s: exit %d\n%s%s\n%s", s.kind, code, s.text, said, s.certificate)
		}
	}
	t.Logf("%d proved; not checked: %v", good, uncovered)
}

// seal puts the right hash under a text.
func seal(text string) string {
	body := text[:strings.LastIndex(text, "sha256 ")]
	return body + fmt.Sprintf("sha256 %x\n", sha256.Sum256([]byte(body)))
}

// with replaces the value of a line.
func with(text, key, value string) string {
	return seal(regexp.MustCompile(`(?m)^`+key+` .*$`).ReplaceAllString(text, key+" "+value))
}

// claiming has other ends.
func (s sample) claiming(lower, upper float64) string {
	return with(with(s.certificate, "lower", decimal.Hex(lower)), "upper", decimal.Hex(upper))
}

// counting has other runs of the first step.
func (s sample) counting(more int) string {
	first := regexp.MustCompile(`(?m)^step (\d+)`)
	n, _ := strconv.Atoi(first.FindStringSubmatch(s.certificate)[1])
	done := false
	return seal(first.ReplaceAllStringFunc(s.certificate, func(line string) string {
		if done {
			return line
		}
		done = true
		return fmt.Sprintf("step %d", n+more)
	}))
}

// parameter is a number of a step in hexadecimal.
var parameter = regexp.MustCompile(`(noise-multiplier|rate|epsilon|probability) (0x\S+)`)

func scaled(text string, by float64) string {
	done := false
	return seal(parameter.ReplaceAllStringFunc(text, func(m string) string {
		if done {
			return m
		}
		done = true
		p := parameter.FindStringSubmatch(m)
		x, _ := strconv.ParseFloat(p[2], 64)
		return p[1] + " " + decimal.Hex(x*by)
	}))
}

// sabotages change a certificate, and say with what exit codes it may be refused. An empty text says that it does not apply.
var sabotages = []struct {
	name  string
	codes []int
	do    func(d draw, s sample) string
}{
	{"both ends too high", []int{refuted}, func(d draw, s sample) string {
		lo, hi := float64(s.answer.Epsilon.Lower), float64(s.answer.Epsilon.Upper)
		return s.claiming(hi+1.5*(hi-lo)+1e-12*hi, 2*hi)
	}},
	{"both ends too low", []int{refuted}, func(d draw, s sample) string {
		lo, hi := float64(s.answer.Epsilon.Lower), float64(s.answer.Epsilon.Upper)
		return s.claiming(lo/2, lo-1.5*(hi-lo)-1e-12*lo)
	}},
	{"a parameter larger", []int{refuted}, func(d draw, s sample) string {
		if !parameter.MatchString(s.certificate) {
			return ""
		}
		return scaled(s.certificate, 1.003)
	}},
	{"a parameter smaller", []int{refuted}, func(d draw, s sample) string {
		if !parameter.MatchString(s.certificate) {
			return ""
		}
		return scaled(s.certificate, 0.997)
	}},
	{"the other direction", []int{refuted}, func(d draw, s sample) string {
		other := map[string]string{"remove": "add", "add": "remove"}[s.answer.WorstDirection]
		if other == "" || s.relation == "substitute" || !(s.kind == "dp-sgd" || s.kind == "two phases" || s.kind == "laplace on samples") {
			return "" // both directions are alike
		}
		return with(s.certificate, "direction", other)
	}},
	{"one run more", []int{refuted}, func(d draw, s sample) string { return s.counting(1) }},
	{"one run less", []int{refuted}, func(d draw, s sample) string {
		if strings.Contains(s.certificate, "\nstep 1 ") {
			return "" // of one run nothing would be left
		}
		return s.counting(-1)
	}},
	{"another relation", []int{refuted}, func(d draw, s sample) string {
		if s.relation != "substitute" || s.kind == "pure" {
			return ""
		}
		text := with(s.certificate, "neighbors", "add-remove")
		return seal(strings.NewReplacer("direction forward", "direction remove", "direction backward", "direction add").Replace(text))
	}},
	{"a smaller delta", []int{refuted}, func(d draw, s sample) string {
		// Near the largest loss δ falls to 0 within the width of the interval, which then holds for both.
		if _, a, err := certify(s.text, s.delta*0.99); err != nil || a.Epsilon.Lower <= s.answer.Epsilon.Upper {
			return ""
		}
		return with(s.certificate, "delta", decimal.Hex(s.delta*0.99))
	}},
	{"truncated", []int{badInput}, func(d draw, s sample) string { return s.certificate[:d.IntN(len(s.certificate))] }},
	{"a bit", []int{badInput}, func(d draw, s sample) string {
		b := []byte(s.certificate)
		b[d.IntN(len(b))] ^= 1 << d.IntN(8)
		return string(b)
	}},
	{"a bit, sealed again", []int{refuted, badInput, notChecked}, func(d draw, s sample) string {
		// In what is claimed: the version, the engine, its line and the budget are no part of it.
		b := []byte(s.certificate)
		from, to := strings.Index(s.certificate, "step "), strings.Index(s.certificate, "direction ")
		i := from + d.IntN(to-from)
		// A late digit moves ε by less than a wide interval has room for: the claim would still be true.
		e := s.answer.Epsilon
		if word := s.certificate[strings.LastIndexAny(s.certificate[:i], " \n")+1 : i]; strings.Contains(word, ".") && len(word) > strings.Index(word, ".")+3 || e.Upper-e.Lower > 1e-8*e.Upper {
			return ""
		}
		b[i] ^= 1 << d.IntN(4)
		text := seal(string(b))
		for _, line := range []string{"lower", "upper"} {
			// A weaker claim is true.
			at := strings.Index(s.certificate, "\n"+line)
			if i > at && i < at+40 {
				return ""
			}
		}
		return text
	}},
	{"doubled line", []int{badInput}, func(d draw, s sample) string {
		lines := strings.SplitAfter(s.certificate, "\n")
		i := d.IntN(len(lines) - 1)
		if strings.HasPrefix(lines[i], "step") {
			return ""
		}
		return seal(strings.Join(lines[:i+1], "") + lines[i] + strings.Join(lines[i+1:], ""))
	}},
}

func TestSabotagedCertificatesAreRefused(t *testing.T) {
	checker := build(t)
	d := draw{newRand(2)}
	codes := map[int]int{}
	for i, done := 0, 0; done < size(); i++ {
		s := d.next(t, i)
		if code, _ := check(t, checker, s.certificate); code == notChecked {
			continue
		}
		for range 3 {
			x := sabotages[d.IntN(len(sabotages))]
			text := x.do(d, s)
			if text == "" || text == s.certificate {
				continue
			}
			code, said := check(t, checker, text)
			ok := false
			for _, c := range x.codes {
				ok = ok || c == code
			}
			if !ok {
				t.Errorf("%s, %s: exit %d\n%s%s\n%s\nof\n%s", x.name, s.kind, code, s.text, said, text, s.certificate)
			}
			codes[code]++
			done++
		}
	}
	t.Logf("refuted %d, bad input %d, not checked %d", codes[refuted], codes[badInput], codes[notChecked])
}

// TestFarClaimsAreRefuted: where a transform falls slowly a tolerance that would be too fine to reach is not needed to refute.
func TestFarClaimsAreRefuted(t *testing.T) {
	slow.Test(t)
	checker := build(t)
	for _, c := range []struct {
		plan     string
		delta    float64
		sabotage func(sample) string
	}{
		{"neighbors: substitute\nsteps: [{mechanism: {laplace: {noise-multiplier: 3.68}}, count: 95}]", 1.21e-8,
			func(s sample) string {
				return s.claiming(float64(s.answer.Epsilon.Lower)/2, float64(s.answer.Epsilon.Lower)*(1-1e-9))
			}},
		{"neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 0.224}}, sampling: {poisson: {rate: 0.00511}}}]", 1.91e-4,
			func(s sample) string { return s.counting(1) }},
	} {
		s := sample{text: c.plan, delta: c.delta}
		var err error
		if s.certificate, s.answer, err = certify(c.plan, c.delta); err != nil {
			t.Fatal(err)
		}
		text := c.sabotage(s)
		if code, said := check(t, checker, text); code != refuted {
			t.Errorf("exit %d\n%s\n%s", code, said, text)
		}
	}
}

func TestOthersAreNotChecked(t *testing.T) {
	checker := build(t)
	for _, c := range []struct{ name, text string }{
		{"two mechanisms of which one chooses", "neighbors: substitute\nsteps: [{mechanism: {exponential: {epsilon: 1}}, count: 3}, {mechanism: {gaussian: {noise-multiplier: 2}}}]"},
		{"another record, allocated", "neighbors: substitute\nsteps: [{mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {random-allocation: {steps: 10}}}]"},
		{"a guarantee, allocated", "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 1}}, sampling: {random-allocation: {steps: 10}}, count: 2}]"},
		{"several uses", "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {random-allocation: {steps: 10, uses: 2}}}]"},
		{"a vector of Laplace noise", "neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 2, l2-sensitivity: 0.25}}, count: 3}]"},
		{"a vector of whole numbers", "neighbors: add-remove\nsteps: [{mechanism: {discrete-gaussian: {noise-multiplier: 5, sensitivity: 2}}, count: 10}]"},
		{"persons", "neighbors: add-remove\nrecords-per-person: 2\nsteps: [{mechanism: {laplace: {noise-multiplier: 5}}, sampling: {poisson: {rate: 0.1}}, count: 10}]"},
		{"a search that is cut off", searches("geometric, mean: 10, max: 20")},
		{"a search of a Poisson law", searches("poisson, mean: 10")},
		{"a search inside of a search", "neighbors: add-remove\nsteps: [{selection: {law: geometric, mean: 2}, steps: [{selection: {law: geometric, mean: 2}, mechanism: {gaussian: {noise-multiplier: 9}}}]}]"},
		{"choices in a menu", strings.Replace(menus(6, 1), "laplace: {noise-multiplier: 5}", "exponential: {epsilon: 0.5}", 1)},
		{"a threshold of Laplace noise", inFull("add-remove", "threshold: {noise: laplace, scale: 2, threshold: 28}", 1)},
		{"a threshold of an infinite end", inFull("add-remove", "threshold: {noise: gaussian, standard-deviation: 4, threshold: 16, partitions: 3}", 1)},
		{"shuffled batches", "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 5}}, sampling: {shuffle: {batches: 10, redraw: each-epoch}}}]"},
	} {
		certificate, _, err := certify(c.text, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if code, said := check(t, checker, certificate); code != notChecked || !strings.Contains(said, "not checked") {
			t.Errorf("%s: exit %d\n%s\n%.2000s", c.name, code, said, certificate)
		}
	}
	certificate, _, err := certify("neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 1}}}]", 0)
	if err != nil {
		t.Fatal(err)
	}
	if code, said := check(t, checker, certificate); code != notChecked {
		t.Errorf("a delta of 0: exit %d\n%s\n%s", code, said, certificate)
	}
	large := seal(strings.Replace(certificate, "\ndelta", strings.Repeat("\nstep 1 pure epsilon 0x1p+0", 50_000)+"\ndelta", 1))
	if code, said := check(t, checker, large); code != notChecked {
		t.Errorf("a text above 1 MiB: exit %d\n%s", code, said)
	}
	if code, said := check(t, checker, strings.Repeat("no certificate\n", 100_000)); code != badInput {
		t.Errorf("another large file: exit %d\n%s", code, said)
	}
}

// TestLargestLoss: at δ = 0 ends around the largest loss of all runs are proved, and such as are above or below it, or of
// another number of runs, are refuted.
func TestLargestLoss(t *testing.T) {
	checker := build(t)
	const response, whole, list = "randomized-response: {probability: 0.5, categories: 4}", "discrete-laplace: {noise-multiplier: 3, sensitivity: 2}", "finite: {p: [0.5, 0.3, 0.2], q: [0.2, 0.2, 0.6]}"
	for _, c := range []struct{ relation, steps string }{
		{"add-remove", fmt.Sprintf("{mechanism: {%s}, count: 7}, {mechanism: {%s}, sampling: {poisson: {rate: 0.1}}, count: 20}", response, whole)},
		{"substitute", fmt.Sprintf("{mechanism: {%s}, sampling: {poisson: {rate: 0.3}}, count: 1000}", whole)},
		{"zero-out", fmt.Sprintf("{mechanism: {%s}, count: 3}, {mechanism: {%s}, sampling: {poisson: {rate: 0.01}}}", list, response)},
	} {
		certificate, a, err := certify(fmt.Sprintf("neighbors: %s\nsteps: [%s]", c.relation, c.steps), 0)
		if err != nil {
			t.Fatal(err)
		}
		low, high := float64(a.Epsilon.Lower), float64(a.Epsilon.Upper)
		s := sample{certificate: certificate}
		for _, x := range []struct {
			name, text string
			code       int
		}{
			{"as it is", certificate, proved},
			{"its answer", s.claiming(low*(1-1e-14), high*(1+1e-14)), proved},
			{"above", s.claiming(high*(1+1e-12), high*(1+2e-12)), refuted},
			{"below", s.claiming(low*(1-2e-12), low*(1-1e-12)), refuted},
			{"a run more", s.counting(1), refuted},
			{"a run less", s.counting(-1), refuted},
		} {
			if code, said := check(t, checker, x.text); code != x.code {
				t.Errorf("%s, %s: exit %d, want %d\n%s%s", c.relation, x.name, code, x.code, said, x.text)
			}
		}
	}
}

// TestZero: an upper end of 0 is as provable as any. The interval has no width then, and of a sampled run the outcome whose loss is 0
// may be in the middle of all.
func TestZero(t *testing.T) {
	slow.Test(t)
	checker := build(t)
	const gaussian, laplace = "gaussian: {noise-multiplier: %v}", "laplace: {noise-multiplier: %v}"
	step := func(mechanism string, noise float64, rest string) string {
		return "{mechanism: {" + fmt.Sprintf(mechanism, noise) + "}, " + rest + "}"
	}
	all := []string{"add-remove", "substitute"}
	for _, c := range []struct {
		name, steps string
		relations   []string
		records     int
	}{
		{"one sampled run", step(gaussian, 1, "sampling: {poisson: {rate: 0.01}}"), all, 1},
		{"one sampled run of a person", step(gaussian, 1, "sampling: {poisson: {rate: 0.01}}"), all, 4},
		{"one run of Laplace noise", step(laplace, 1, "sampling: {poisson: {rate: 0.01}}"), all[:1], 1},
		{"dp-sgd", step(gaussian, 1, "sampling: {poisson: {rate: 0.001}}, count: 1000"), all, 1},
		{"dp-sgd of a person", step(gaussian, 2, "sampling: {poisson: {rate: 0.001}}, count: 500"), all[1:], 3},
		{"batches", step(gaussian, 4, "sampling: {without-replacement: {population: 10000, batch: 10}}, count: 1000"), all[:1], 1},
		{"laplace on samples", step(laplace, 2, "sampling: {poisson: {rate: 0.002}}, count: 1000"), all[:1], 1},
		{"noises", step(gaussian, 30, "count: 100") + ", " + step(laplace, 20, "count: 20"), all, 1},
		{"full", step(gaussian, 30, "count: 100"), all, 1},
		{"discrete", step("discrete-gaussian: {noise-multiplier: %v, dimension: 1}", 30, "count: 10"), all, 1},
		{"listed", step("pure: {epsilon: %v}", 0.01, "count: 10") + ", " + step("randomized-response: {probability: %v, categories: 3}", 0.99, "count: 10"), all[:1], 1},
	} {
		for _, relation := range c.relations {
			name := c.name + ", " + relation
			text := fmt.Sprintf("neighbors: %s\nrecords-per-person: %d\nsteps: [%s]", relation, c.records, c.steps)
			var q service.DeltaRequest
			q.Plan = service.PlanText(text)
			q.Epsilon = service.Decimals{"0"}
			at, err := service.Ask[service.DeltaAnswer](context.Background(), service.New(nil), q)
			if err != nil {
				t.Fatal(err)
			}
			atZero := at.Results[0].Delta
			certificate, a, err := certify(text, float64(atZero.Upper)*1.001)
			if err != nil {
				t.Fatal(err)
			}
			if a.Epsilon.Upper > 0 || atZero.Upper > 0.8 {
				t.Errorf("%s: at δ = %v is %v", name, atZero, a.Epsilon)
			}
			if code, said := check(t, checker, certificate); code != proved {
				t.Errorf("%s: exit %d\n%s%s\n%s", name, code, said, text, certificate)
			}
			if code, said := check(t, checker, with(certificate, "delta", decimal.Hex(float64(atZero.Lower)*0.999))); code != refuted {
				t.Errorf("%s, a smaller delta: exit %d\n%s%s", name, code, said, text)
			}
		}
	}
}

// TestForm: a number has one form, and no text that a terminal obeys gets through.
func TestForm(t *testing.T) {
	checker := build(t)
	good, _, err := certify("neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: -0.0}}, count: 2}, {mechanism: {gaussian: {noise-multiplier: 2}}, count: 3}]", 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if code, said := check(t, checker, good); code != proved {
		t.Fatalf("exit %d\n%s\n%s", code, said, good)
	}
	for _, c := range [][2]string{
		{"epsilon 0x0p+0", "epsilon -0x0p+0"}, {"discretization 0x0p+0", "discretization -0x0p+0"}, {"epsilon 0x0p+0", "epsilon 0x0p-0"}, {"step 3 gaussian", "step 03 gaussian"},
		{"multiplier 0x1p+1", "multiplier 0x2p+0"}, {"multiplier 0x1p+1", "multiplier 0X1P+1"}, {"multiplier 0x1p+1", "multiplier 0x1.0p+1"}, {"multiplier 0x1p+1", "multiplier 2"},
		{"\nversion ", "\nversion \x1b[2J"}, {"\nversion ", "\nversion \r"}, {"\nversion ", "\nversion \t"}, {"\nversion ", "\nversion \x7f"}, {"\nversion ", "\nversion \u009b"}, {"\nversion ", "\nversion \u202e"},
		{"\ndelta", "\nstep 1 other \x1b[2J\ndelta"}, {"\ndelta", "\nstep 1 other \u009b\ndelta"}, {"\ndelta", "\n\x1bstep 1 other\ndelta"},
	} {
		text := seal(strings.Replace(good, c[0], c[1], 1))
		if text == good {
			t.Fatalf("%q is not in\n%s", c[0], good)
		}
		if code, said := check(t, checker, text); code != badInput || strings.ContainsFunc(said, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) {
			t.Errorf("%q for %q: exit %d\n%q", c[1], c[0], code, said)
		}
	}
}

// TestPageExample: the certificate of docs/reference/certificates.md is true, and has the form of today.
func TestPageExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/certificates.md")
	if err != nil {
		t.Fatal(err)
	}
	const first = "accountant certificate 3\n"
	_, text, ok := strings.Cut(string(page), "```text\n"+first)
	text, _, ends := strings.Cut(first+text, "```")
	if !ok || !ends {
		t.Fatal("the page has no certificate")
	}
	now, _, err := certify("neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1.1}}, sampling: {poisson: {rate: 0.01}}, count: 1000}]", 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`[a-z-]+ `)
	plain := func(s string) string { // without numbers, the version and the hash
		s = regexp.MustCompile(`(?m)^(version|sha256) .*$`).ReplaceAllString(s, "$1 x")
		return strings.Join(words.FindAllString(s, -1), "")
	}
	if plain(now) != plain(text) {
		t.Errorf("the page has\n%s\nand today's is\n%s", text, now)
	}
	if code, said := check(t, build(t), text); code != proved {
		t.Errorf("exit %d\n%s", code, said)
	}
}

// TestTie: where both directions are about as bad, the upper end may be of one and the lower end of the other, and the
// certificate names the one that attains the lower end. The place is found by bisection, with a pair that is worse the other way.
func TestTie(t *testing.T) {
	at := func(a float64) (string, service.EpsilonAt) {
		text := fmt.Sprintf("neighbors: add-remove\nsteps:\n  - {mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}, count: 1000}\n  - {mechanism: {finite: {p: [%v, %v], q: [0.5, 0.5]}}, count: 8}\n", a, 1-a)
		certificate, answer, err := certify(text, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		return certificate, answer
	}
	lo, hi := 0.5, 0.9
	_, low := at(lo)
	if _, high := at(hi); low.WorstDirection == high.WorstDirection {
		t.Fatalf("at both ends %s is the worse direction", low.WorstDirection)
	}
	for range 60 {
		a := (lo + hi) / 2
		certificate, answer := at(a)
		if !strings.Contains(certificate, "\ndirection "+answer.WorstDirection+"\n") {
			if code, said := check(t, build(t), certificate); code != proved {
				t.Errorf("exit %d\n%s\n%s", code, said, certificate)
			}
			return
		}
		if answer.WorstDirection == low.WorstDirection {
			lo = a
		} else {
			hi = a
		}
	}
	t.Errorf("between %v and %v no two ends are of two directions", lo, hi)
}

// TestPartsAreOneStep: lines of parts that differ do not count as one step, nor is one left out.
func TestPartsAreOneStep(t *testing.T) {
	checker := build(t)
	t.Setenv("VERIFY_SECONDS", "0.5") // of what is neither proved nor refuted
	text, _, err := certify(menus(12, 1), 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	menu := regexp.MustCompile(`(?m)^step 1 adaptive.*\n(?:type .*\n|inner .*\n)+`).FindString(text)
	for _, c := range []struct {
		name, old, new string
		code           int
	}{
		{"twice", menu, menu + menu, proved},
		{"a type less", "types 2", "types 1", badInput},
		{"a type more", "types 2", "types 3", badInput},
		{"a step less", "\ninner 1 laplace", "\nstep 1 laplace", badInput},
		{"no units", "units 12", "units 0", badInput},
		{"a cost of 0", "cost 3", "cost 0", badInput},
		{"a menu inside", "inner 1 gaussian noise-multiplier 0x1p+3", "inner 1 adaptive units 1 types 1\ntype cost 1 steps 1\ninner 1 gaussian noise-multiplier 0x1p+3", badInput},
		{"an unknown part", "inner 1 laplace noise-multiplier 0x1.4p+2", "inner 1 other", notChecked},
	} {
		claim := strings.Replace(text, c.old, c.new, 1)
		if claim == text {
			t.Fatalf("%s: %q is not in\n%s", c.name, c.old, text)
		}
		code, said := check(t, checker, seal(claim))
		if c.code == proved && code == proved || c.code != proved && code != c.code {
			t.Errorf("%s: exit %d\n%s\n%s", c.name, code, said, claim)
		}
	}
}

// TestOlderForm: a certificate of version 1 is read and proved.
func TestOlderForm(t *testing.T) {
	text, err := os.ReadFile("../../cmd/accountant/testdata/before/plan.certificate")
	if err != nil {
		t.Fatal(err)
	}
	if code, said := check(t, build(t), string(text)); code != proved {
		t.Errorf("exit %d\n%s", code, said)
	}
}
