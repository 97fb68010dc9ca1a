package service

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/labeldp"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
	"github.com/dpaccountant/accountant/subsample/shuffler"
)

// ask returns an answer as JSON, or the message of its error.
func ask(t *testing.T, s *Service, format string, args ...any) string {
	t.Helper()
	a := s.Answer(t.Context(), fmt.Appendf(nil, format, args...))
	if a.Error != nil {
		return a.Error.Message
	}
	text, err := Marshal(a.Result)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func asJSON(t *testing.T, err error, x any) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReleases: an operation is the library's own run of the mechanism, which a seed shows; the laws are tested there. Without a
// seed the noise is new.
func TestReleases(t *testing.T) {
	s := New(nil)
	c := choice.Candidates{Scores: []float64{1, 2, 3, 2.5}, Sensitivity: 0.5}
	for seed := range uint64(20) {
		src := func() rand.Source { return random.Seeded(seed) }
		for name, run := range map[string]func(float64, rand.Source) (int, error){"exponential": c.Exponential, "permute-and-flip": c.PermuteAndFlip} {
			want, err := run(0.7, src())
			if got := ask(t, s, `{"op":"release","mechanism":{%q:{"epsilon":"7/10"}},"values":[1,2,3,2.5],"sensitivity":0.5,"test-seed":%d}`, name, seed); got != asJSON(t, err, map[string]int{"chosen": want}) {
				t.Errorf("%s: %s, want %d", name, got, want)
			}
		}
		want, err := c.NoisyMax("laplace", 0.7, src())
		if got := ask(t, s, `{"op":"release","mechanism":{"noisy-max":{"noise":"laplace","epsilon":0.7}},"values":[1,2,3,2.5],"sensitivity":0.5,"test-seed":%d}`, seed); got != asJSON(t, err, map[string]int{"chosen": want}) {
			t.Errorf("noisy-max: %s, want %d", got, want)
		}
		th, err := choice.NewThreshold("gaussian", 2, 9, 1)
		if err != nil {
			t.Fatal(err)
		}
		var shown []*float64
		for from, count := src(), int64(7); count < 12; count++ {
			ok, noisy, err := th.Release(count, from)
			if err != nil {
				t.Fatal(err)
			}
			if shown = append(shown, nil); ok {
				shown[len(shown)-1] = &noisy
			}
		}
		if got := ask(t, s, `{"op":"release","mechanism":{"threshold":{"noise":"gaussian","standard-deviation":2,"threshold":9}},"values":[7,8,9,10,11],"test-seed":%d}`, seed); got != asJSON(t, nil, map[string]any{"values": shown}) {
			t.Errorf("threshold: %s", got)
		}
		// The scale is 1.5·2 and an ulp, which is no other point of a grid of 2^-29.
		noisy, err := profiles.AddGaussian(src(), 7, 3, 0x1p-29)
		if got := ask(t, s, `{"op":"release","mechanism":{"gaussian":{"noise-multiplier":1.5}},"values":[7],"sensitivity":2,"test-seed":%d}`, seed); got != asJSON(t, err, map[string]any{"values": []float64{noisy}}) {
			t.Errorf("gaussian: %s, want %v", got, noisy)
		}
		half, err := darrm.Constant(3, 1)
		if err != nil {
			t.Fatal(err)
		}
		bit, err := darrm.Release(half, []bool{true, true, false}, src())
		if got := ask(t, s, `{"op":"release","mechanism":{"majority":{"mechanisms":3,"epsilon":0.1,"allowance":3,"gamma":"constant"}},"queries":[[1,1,0]],"test-seed":%d}`, seed); got != asJSON(t, err, map[string]any{"answers": []int{map[bool]int{true: 1}[bit]}}) {
			t.Errorf("majority: %s, want %v", got, bit)
		}
		conf, err := pate.NewConfident(60, 20, 10)
		if err != nil {
			t.Fatal(err)
		}
		var labels PateLabels
		for from, row := src(), 0; row < 3; row++ {
			a, err := conf.Label([][]int64{{95, 3, 2}, {40, 35, 25}, {60, 40, 0}}[row], 0, nil, from)
			if err != nil {
				t.Fatal(err)
			}
			labels.Labels, labels.Answered = append(labels.Labels, a.Class), append(labels.Answered, a.Answered)
		}
		if got := ask(t, s, `{"op":"pate-answer","votes":[[95,3,2],[40,35,25],[60,40,0]],"mechanism":"confident","threshold":60,"sigma1":20,"sigma2":10,"test-seed":%d}`, seed); got != asJSON(t, nil, labels) {
			t.Errorf("confident: %s, want %v", got, labels)
		}
		column, _, err := labeldp.Plan{Labels: []float64{0, 1, 2}, Epsilon: 2, PriorEpsilon: 0.5, Floor: 0.25}.RandomizeColumn(t.Context(), []float64{0, 1, 2, 1}, nil, src())
		if got := ask(t, s, `{"op":"label-apply","column":[0,1,2,1],"labels":[0,1,2],"epsilon":2,"prior-epsilon":0.5,"floor":0.25,"test-seed":%d}`, seed); !strings.HasPrefix(got, `{"column":`+asJSON(t, err, column)) {
			t.Errorf("label-apply: %s, want %v", got, column)
		}
	}
	const plain = `{"op":"release","mechanism":{"laplace":{"noise-multiplier":1}},"values":[0,0],"sensitivity":1}`
	if one, other := ask(t, s, plain), ask(t, s, plain); one == other || !strings.HasPrefix(one, `{"values":`) {
		t.Errorf("%s, and again %s", one, other)
	}
}

// TestPateAnswers: the student is reinforced without an answer of the teachers, and the largest number of answers ends them.
func TestPateAnswers(t *testing.T) {
	s := New(nil)
	const interactive = `{"op":"pate-answer","votes":[[1000,0],[500,500],[0,1000]],"mechanism":"interactive","threshold":300,"sigma1":1,"sigma2":1,"baseline":[[0.1,0.9],[0.5,0.5],[0.02,0.98]],"confidence":0.95%s}`
	for more, want := range map[string]string{``: `{"labels":[0,-1,1],"answered":[true,false,false]}`, `,"rounded":true`: `{"labels":[0,-1,1],"answered":[true,false,false]}`} {
		if got := ask(t, s, interactive, more); got != want {
			t.Errorf("%s: %s, want %s", more, got, want)
		}
	}
	if got, want := ask(t, s, `{"op":"pate-answer","votes":[[1000,0],[0,1000],[0,1000]],"mechanism":"lnmax","gamma":1,"max-answers":2}`), `{"labels":[0,1,-1],"answered":[true,true,false]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// play runs a search whose n-th candidate has the n-th score, and returns how many ran and the end.
func play(t *testing.T, s *Service, open string, scores []float64) (tried int, end string) {
	t.Helper()
	var r RunHandle
	if got := ask(t, s, "%s", open); json.Unmarshal([]byte(got), &r) != nil {
		return 0, got
	}
	got := ask(t, s, `{"op":"run-next","run":%q}`, r.Run)
	for got == `{"try":true}` {
		got = ask(t, s, `{"op":"run-next","run":%q,"score":%v}`, r.Run, scores[tried])
		tried++
	}
	if again := ask(t, s, `{"op":"run-next","run":%q}`, r.Run); !strings.HasPrefix(again, "run: has ended") {
		t.Errorf("after the end: %s", again)
	}
	ask(t, s, `{"op":"run-close","run":%q}`, r.Run)
	return tried, got
}

// TestSearches: a search is the library's own, which a seed shows.
func TestSearches(t *testing.T) {
	s := New(nil)
	scores := make([]float64, 2000)
	draw := rand.New(random.Seeded(1))
	for i := range scores {
		scores[i] = draw.Float64()
	}
	law, err := selection.Config{Law: "geometric", Mean: 10}.Build()
	if err != nil {
		t.Fatal(err)
	}
	capped, err := selection.Config{Law: "geometric", Gamma: 0.1, Max: 20}.Build()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(30) {
		ran := 0
		trial := func(context.Context, *rand.Rand) (int, float64, error) { ran++; return ran - 1, scores[ran-1], nil }
		check := func(open string, found []int, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			want := `{}`
			if len(found) > 0 {
				want = asJSON(t, nil, map[string]any{"found": found})
			}
			tried, end := play(t, s, fmt.Sprintf(`{"op":"run-open",%s,"test-seed":%d}`, open, seed), scores)
			if tried != ran || end != want {
				t.Errorf("%s: %d tries and %s, want %d and %s", open, tried, end, ran, want)
			}
			ran = 0
		}
		one, err := selection.Best(t.Context(), law, trial, selection.Options{Source: random.Seeded(seed)})
		check(`"kind":"best","selection":{"law":"geometric","mean":10}`, []int{one.Payload}, err)
		padded, err := selection.Best(t.Context(), capped, trial, selection.Options{Source: random.Seeded(seed), Padding: true})
		check(`"kind":"best","padding":true,"selection":{"law":"geometric","gamma":0.1,"max":20}`, []int{padded.Payload}, err)
		first, err := selection.FirstAbove(t.Context(), law, 0.9, trial, selection.Options{Source: random.Seeded(seed)})
		var found []int
		if first.Found {
			found = []int{first.Payload}
		}
		check(`"kind":"first-above","threshold":0.9,"selection":{"law":"geometric","mean":10}`, found, err)
		all, err := selection.Top(t.Context(), law, 3, random.Seeded(seed), trial)
		found = nil
		for _, r := range all {
			found = append(found, r.Payload)
		}
		check(`"kind":"top","top":3,"selection":{"law":"geometric","mean":10}`, found, err)
	}
	// Probabilities far on both sides of ½: the third is found whatever the noise.
	if tried, end := play(t, s, `{"op":"run-open","kind":"sparse-vector","percentile":0.5,"candidate-epsilon":0.01,"epsilon":10,"queries":9}`, []float64{1e-300, 0, 1, 0}); tried != 3 || end != `{"found":[2]}` {
		t.Errorf("sparse-vector: %d tries, %s", tried, end)
	}
	if tried, end := play(t, s, `{"op":"run-open","kind":"sparse-vector","percentile":0.5,"candidate-epsilon":0.01,"epsilon":10,"queries":2}`, []float64{0, 0, 1}); tried != 2 || end != `{}` {
		t.Errorf("sparse-vector: %d tries, %s", tried, end)
	}
}

// TestRuns: prices, correlated noise, adaptive calls, and what is refused.
func TestRuns(t *testing.T) {
	s := New(nil)
	open := func(keys string) (r RunOpened) {
		t.Helper()
		if got := ask(t, s, `{"op":"run-open",%s}`, keys); json.Unmarshal([]byte(got), &r) != nil {
			t.Fatal(got)
		}
		return r
	}
	law, err := selection.Config{Law: "geometric", Mean: 10}.Build()
	if err != nil {
		t.Fatal(err)
	}
	eps, delta, err := selection.PriceOfTop(law, 2, 0.1, 0)
	if r := open(`"kind":"top","top":2,"candidate-epsilon":0.1,"selection":{"law":"geometric","mean":10}`); err != nil || *r.Epsilon != eps || *r.Delta != delta {
		t.Errorf("top: %v, want %v, %v", r, eps, delta)
	}
	pure, err := selection.PriceOfBest(law).Pure(0.1)
	if r := open(`"kind":"best","candidate-epsilon":0.1,"selection":{"law":"geometric","mean":10}`); err != nil || *r.Epsilon != pure || *r.Delta != 0 {
		t.Errorf("best: %v, want %v", r, pure)
	}
	square, err := matrix.SquareRoot(3)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := matrix.NewStream(matrix.Config{NoiseMultiplier: 2, Steps: 3, Strategy: square, Participation: matrix.Single()}, 0.5, 2, random.Seeded(4))
	if err != nil {
		t.Fatal(err)
	}
	r := open(`"kind":"matrix","clip":0.5,"dimension":2,"test-seed":4,"mechanism":{"matrix":{"noise-multiplier":2,"steps":3,"strategy":{"square-root":{}},"participation":{"epochs":1}}}`)
	for range 3 {
		want, err := stream.Next([]float64{1, 2})
		if got := ask(t, s, `{"op":"run-next","run":%q,"x":[1,2]}`, r.Run); got != asJSON(t, err, map[string]any{"values": want}) {
			t.Errorf("matrix: %s, want %v", got, want)
		}
	}
	if got := ask(t, s, `{"op":"run-next","run":%q,"x":[1,2]}`, r.Run); !strings.HasPrefix(got, "steps: all 3 are done") {
		t.Errorf("a step too many: %s", got)
	}
	a := open(`"kind":"adaptive","hits":2,"candidate-epsilon":0.1,"delta":1e-6`)
	cost, _, err := selection.AdaptiveCost(0.1, 2, 1e-6)
	if err != nil || *a.Epsilon != cost {
		t.Errorf("adaptive: %v, want %v", a, cost)
	}
	for i, c := range []string{`{"left":2}`, `{"found":[1],"left":1}`, `{"left":1}`, `{"found":[3],"left":0}`, `run: has ended; another one has its own cost`} {
		if got := ask(t, s, `{"op":"run-next","run":%q,"score":%d,"threshold":1}`, a.Run, i%2); got != c {
			t.Errorf("adaptive %d: %s, want %s", i, got, c)
		}
	}
	b := open(`"kind":"best","selection":{"law":"fixed","max":2}`)
	for _, c := range [][2]string{
		{fmt.Sprintf(`"op":"run-next","run":%q,"score":1`, b.Run), "score: is given, no candidate was asked for"},
		{fmt.Sprintf(`"op":"run-next","run":%q`, b.Run), `{"try":true}`},
		{fmt.Sprintf(`"op":"run-next","run":%q`, b.Run), "score: is missing; a candidate was asked for"},
		{fmt.Sprintf(`"op":"run-next","run":%q,"x":[1]`, b.Run), "x: must be given to a matrix, and to nothing else"},
		{fmt.Sprintf(`"op":"run-close","run":%q`, b.Run), fmt.Sprintf(`{"run":%q}`, b.Run)},
		{fmt.Sprintf(`"op":"run-next","run":%q`, b.Run), fmt.Sprintf("run: %q is not open", b.Run)},
		{`"op":"run-open","kind":"best"`, "missing selection, which best needs"},
		{`"op":"run-open","kind":"best","selection":{"law":"geometric","mean":3},"hits":2`, "hits is of no use to best"},
		{`"op":"run-open","kind":"best","padding":true,"selection":{"law":"geometric","mean":4}`, "padding: law geometric(gamma=0.25) has no largest number of runs; set max"},
		{`"op":"run-open","kind":"worst"`, `kind: "worst" is not best, first-above, top, adaptive, sparse-vector or matrix`},
		{`"op":"run-open","kind":"first-above","threshold":1,"selection":{"law":"poisson","mean":4}`, "law: "},
		{`"op":"release","mechanism":{"gaussian":{"noise-multiplier":1}},"values":[1]`, "sensitivity: is missing; must be the L2"},
		{`"op":"release","mechanism":{"gaussian":{"standard-deviation":1,"partitions":1,"per-partition":1,"clamp":[0,1]}},"values":[1],"sensitivity":1`, "sensitivity: is of no use to gaussian with a standard-deviation"},
		{`"op":"release","mechanism":{"unary":{"epsilon":1,"categories":3}},"values":[1]`, "mechanism: unary answers with a message"},
		{`"op":"release","mechanism":{"k-rr":{"epsilon":1,"categories":3}},"values":[1,3]`, "values[1]: "},
		{`"op":"release","mechanism":{"threshold":{"noise":"laplace","scale":1,"threshold":3}},"values":[1,1.5]`, "values[1]: 1.5 is not a whole number in [0, 2^53]"},
		{`"op":"release","mechanism":{"majority":{"mechanisms":3,"epsilon":0.1,"allowance":1}},"queries":[[1,1,0],[1,1,1]]`, "answers: 2 are more than 1"},
		{`"op":"release","mechanism":{"majority":{"mechanisms":3,"epsilon":0.1,"allowance":1}},"queries":[[1,1,2]]`, "queries[0]: votes[2]: 2 is not 0 or 1"},
		{`"op":"release","mechanism":{"exponential":{"epsilon":-1}},"values":[1]`, "mechanism.exponential.epsilon: -1 is not in"},
		{`"op":"release","mechanism":{"threshold":{"noise":"laplace","scale":1,"threshold":3}},"values":[1],"sensitivity":2`, "sensitivity: and monotone are of no use to threshold"},
		{`"op":"release","mechanism":{"laplace":{"noise-multiplier":1}},"values":[1],"sensitivity":2,"monotone":true`, "monotone: is of no use to laplace"},
		{`"op":"release","mechanism":{"majority":{"mechanisms":3,"epsilon":0.1,"allowance":1}},"queries":[]`, "values or queries: a majority takes the second"},
		{`"op":"run-open","kind":"adaptive","hits":2,"candidate-epsilon":-1,"delta":1e-6`, "candidate-epsilon: -1 is not in (0, 20]"},
		{`"op":"pate-answer","votes":[[1,2]],"mechanism":"gnmax","sigma2":1,"confidence":0.5`, "confidence is of no use to gnmax"},
		{`"op":"label-apply","column":[0],"labels":[0,1],"weights":[1],"epsilon":1`, "weights: has 1 entries, must have as many as labels (2)"},
	} {
		if got := ask(t, s, `{%s}`, c[0]); !strings.HasPrefix(got, c[1]) {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
	if n := len(s.runs.open); n != 4 {
		t.Errorf("%d runs are open, want 4", n)
	}
}

// TestWholeReleases: whole-number noise is that of the library, of the scale that is priced; randomized response has its law.
func TestWholeReleases(t *testing.T) {
	s := New(nil)
	for mechanism, draw := range map[string]func(rand.Source) ([]int64, error){
		`"discrete-gaussian":{"noise-multiplier":2,"sensitivity":3}`: func(src rand.Source) ([]int64, error) {
			return profiles.DrawIntegerNoise(src, "discrete-gaussian", 1, 6, 3)
		},
		`"discrete-laplace":{"noise-multiplier":"5/2","sensitivity":2}`: func(src rand.Source) ([]int64, error) {
			return profiles.DrawIntegerNoise(src, "discrete-laplace", 1, 5, 3)
		},
		`"discrete-laplace":{"noise-multiplier":2,"sensitivity":4,"l2-sensitivity":2}`: func(src rand.Source) ([]int64, error) {
			return profiles.DrawIntegerNoise(src, "discrete-laplace", 1, 8, 3)
		},
		`"skellam":{"standard-deviation":4,"sensitivity":2}`: func(src rand.Source) ([]int64, error) { return profiles.DrawIntegerNoise(src, "skellam", 1, 4, 3) },
		`"summed-noise":{"noise":"discrete-gaussian","clients":9,"missing":2,"standard-deviation":3,"sensitivity":1}`: func(src rand.Source) ([]int64, error) {
			return profiles.DrawIntegerNoise(src, "discrete-gaussian", 7, 3, 3)
		},
	} {
		noise, err := draw(random.Seeded(5))
		if err != nil {
			t.Fatal(err)
		}
		want := asJSON(t, nil, map[string]any{"values": []int64{noise[0] - 7, noise[1], noise[2] + 1<<40}})
		if got := ask(t, s, `{"op":"release","mechanism":{%s},"values":[-7,0,%d],"test-seed":5}`, mechanism, int64(1<<40)); got != want {
			t.Errorf("%s: %s, want %s", mechanism, got, want)
		}
	}
	for mechanism, want := range map[string]func(rand.Source) (float64, error){
		`"gaussian":{"standard-deviation":3,"partitions":1,"per-partition":1,"clamp":[0,1]}`: func(src rand.Source) (float64, error) { return profiles.AddGaussian(src, 7, 3, 0x1p-29) },
		`"laplace":{"scale":5,"partitions":1,"per-partition":1,"clamp":[0,1]}`:               func(src rand.Source) (float64, error) { return profiles.AddLaplace(src, 7, 5, 0x1p-28) },
		`"k-rr":{"epsilon":2,"categories":9}`: func(src rand.Source) (float64, error) {
			r, err := shuffler.NewKRR(2, 9)
			if err != nil {
				return 0, err
			}
			m, err := r.Sample(7, src)
			return float64(m[0]), err
		},
	} {
		y, err := want(random.Seeded(5))
		if got := ask(t, s, `{"op":"release","mechanism":{%s},"values":[7],"test-seed":5}`, mechanism); got != asJSON(t, err, map[string]any{"values": []float64{y}}) {
			t.Errorf("%s: %s, want %v", mechanism, got, y)
		}
	}
	y, err := profiles.AddLaplace(random.Seeded(5), 7, 4, 0x1p-28)
	if got := ask(t, s, `{"op":"release","mechanism":{"laplace":{"noise-multiplier":2,"l2-sensitivity":0.5}},"values":[7],"sensitivity":2,"test-seed":5}`); got != asJSON(t, err, map[string]any{"values": []float64{y}}) {
		t.Errorf("laplace with both norms: %s, want %v", got, y)
	}
	// Of 30,000 answers the truth has 1 − p + p/k, another category p/k: six standard deviations are 500 at most.
	values := make([]int, 30000)
	for i := range values {
		values[i] = 2
	}
	var got ReleaseAnswer
	if text := ask(t, s, `{"op":"release","mechanism":{"randomized-response":{"probability":0.75,"categories":4}},"values":%s}`, asJSON(t, nil, values)); json.Unmarshal([]byte(text), &got) != nil {
		t.Fatal(text)
	}
	seen := [4]int{}
	for _, v := range got.Values {
		seen[int(*v)]++
	}
	for v, n := range seen {
		if want := map[bool]int{true: 13125, false: 5625}[v == 2]; n < want-500 || n > want+500 {
			t.Errorf("randomized response: %d of value %d, want %d", n, v, want)
		}
	}
}

// TestCharges: a ledger is charged the steps of the plan that prices a run, and what does not fit shows nothing.
func TestCharges(t *testing.T) {
	const search = `"op":"run-open","selection":{"law":"geometric","mean":10}`
	law, err := selection.Config{Law: "geometric", Mean: 10}.Build()
	if err != nil {
		t.Fatal(err)
	}
	pure, err := selection.PriceOfBest(law).Pure(0.125)
	if err != nil {
		t.Fatal(err)
	}
	twenty := 20.0
	half := xmath.Down(twenty/math.Sqrt2, 2)
	for _, c := range [][2]string{
		{`"op":"release","mechanism":{"exponential":{"epsilon":0.5}},"values":[1,2]`, `[{"mechanism": {"exponential":{"epsilon":0.5}}}]`},
		{`"op":"release","mechanism":{"majority":{"mechanisms":3,"epsilon":0.1,"allowance":3,"gamma":"constant"}},"queries":[[1,1,0]]`, `[{"mechanism": {"majority":{"mechanisms":3,"epsilon":0.1,"allowance":3,"gamma":"constant"}}}]`},
		{`"op":"pate-answer","votes":[[9,1],[1,9]],"mechanism":"gnmax","sigma2":20`, fmt.Sprintf(`[{"mechanism": {"gaussian": {"noise-multiplier": %v}}, "count": 2}]`, half)},
		{`"op":"pate-answer","votes":[[0,1],[1,0],[1,1]],"labels":true,"classes":2,"mechanism":"lnmax","gamma":0.25`, `[{"mechanism": {"pure": {"epsilon": 0.5}}, "count": 2}]`},
		{`"op":"pate-answer","votes":[[9,1],[1,9],[5,5]],"mechanism":"confident","threshold":5,"sigma1":30,"sigma2":20,"max-answers":2`,
			fmt.Sprintf(`[{"mechanism": {"gaussian": {"noise-multiplier": %v}}, "count": 2}, {"mechanism": {"gaussian": {"noise-multiplier": 30}}, "count": 3}]`, half)},
		{`"op":"label-apply","column":[0,1],"labels":[0,1],"weights":[1,1],"epsilon":0.75`, `[{"mechanism": {"pure": {"epsilon": 0.75}}}]`},
		{search + `,"kind":"best","candidate-epsilon":0.125`, fmt.Sprintf(`[{"mechanism": {"pure": {"epsilon": %v}}}]`, pure)},
		{`"op":"run-open","kind":"sparse-vector","percentile":0.5,"candidate-epsilon":0.1,"epsilon":0.5,"queries":9`, `[{"mechanism": {"pure": {"epsilon": 0.5}}}]`},
	} {
		for _, relation := range []string{"substitute", "add-remove"} {
			want := asJSON(t, nil, map[string]string{"charge": fmt.Sprintf(`{"neighbors": %q, "steps": %s}`, relation, c[1])})
			if strings.Contains(c[0], "label-apply") && relation == "add-remove" {
				want = "ledger: is under add-remove, must be under substitute, under which labels are private"
			}
			got := ask(t, New(nil), `{%s,"charge":%q}`, c[0], relation)
			if cut := strings.Index(got, `"charge"`); strings.Contains(c[0], "run-open") && cut > 0 {
				got = "{" + got[cut:] // without the price
			}
			if got != want {
				t.Errorf("%s: charged %s, want %s", c[0], got, want)
			}
		}
		// The budget is enough once, and then for nothing.
		s := New(nil)
		open := ask(t, s, `{"op":"ledger-create","mode":"planned","neighbors":"substitute","epsilon":40,"delta":1e-5}`)
		ask(t, s, `{"op":"ledger-spend","ledger":"ledger-1","plan":{"neighbors":"substitute","steps":[{"mechanism":{"pure":{"epsilon":39}}}]}}`)
		first := ask(t, s, `{%s,"ledger":"ledger-1","note":"by hand"}`, c[0])
		if !strings.HasPrefix(first, "{") || strings.Contains(first, "charge") {
			t.Errorf("%s %s: %s", open, c[0], first)
		}
		ask(t, s, `{"op":"ledger-spend","ledger":"ledger-1","plan":{"neighbors":"substitute","steps":[{"mechanism":{"pure":{"epsilon":0.2}}}]}}`)
		for range 30 {
			if first = ask(t, s, `{%s,"ledger":"ledger-1"}`, c[0]); !strings.HasPrefix(first, "{") {
				break
			}
		}
		if !strings.Contains(first, "it would bring ε to") || len(s.runs.open) > 30 {
			t.Errorf("%s: %s", c[0], first)
		}
	}
	// The candidate of a search is a plan of any text.
	got := ask(t, New(nil), `{%s,"kind":"best","plan":"neighbors: substitute\nsteps:\n- {mechanism: {gaussian: {noise-multiplier: 4}}, count: 3}\n- mechanism: {pure: {epsilon: 0.1}}\n","charge":"substitute"}`, search)
	want := "neighbors: substitute\nsteps:\n  - selection: {\"law\":\"geometric\",\"mean\":10}\n    steps:\n      - mechanism: {gaussian: {noise-multiplier: 4}}\n        count: 3\n      - mechanism: {pure: {epsilon: 0.1}}\n"
	if got != asJSON(t, nil, map[string]string{"charge": want}) {
		t.Errorf("candidate: %s", got)
	}
	const one = "neighbors: substitute\nsteps: [{name: x, mechanism: {laplace: {noise-multiplier: 1e-6}}}]"
	if got := ask(t, New(nil), `{"op":"release","plan":%s,"values":[5],"sensitivity":1,"charge":"substitute"}`, asJSON(t, nil, one)); got != asJSON(t, nil, map[string]string{"charge": one}) {
		t.Errorf("a plan is charged as %s", got)
	}
	if got := ask(t, New(nil), `{"op":"release","plan":%s,"values":[5],"sensitivity":1}`, asJSON(t, nil, one)); !strings.HasPrefix(got, `{"values":[5.0000`) && !strings.HasPrefix(got, `{"values":[4.9999`) {
		t.Errorf("a plan runs as %s", got)
	}
	if got := ask(t, New(nil), `{"op":"plan-check","plan":%s}`, asJSON(t, nil, want)); !strings.Contains(got, `"runs"`) {
		t.Errorf("what a search is charged: %s", got)
	}
	s := New(nil)
	ask(t, s, `{"op":"ledger-create","mode":"planned","neighbors":"add-remove","epsilon":9,"delta":1e-5,"records-per-person":3}`)
	ask(t, s, `{"op":"release","mechanism":{"exponential":{"epsilon":0.5}},"values":[1,2],"ledger":"ledger-1"}`)
	if got := ask(t, s, `{"op":"ledger-status","ledger":"ledger-1"}`); !strings.Contains(got, `"entries":1`) || !strings.Contains(got, `"upper":1.494`) {
		t.Errorf("three records of a person: %s", got)
	}
	for _, c := range [][2]string{
		{search + `,"kind":"first-above","threshold":3,"ledger":"ledger-1"`, "candidate-epsilon: is missing; a ledger is charged by it"},
		{search + `,"kind":"top","top":2,"plan":{"neighbors":"add-remove","steps":[]}`, "plan is of no use to top"},
		{search + `,"kind":"best","candidate-epsilon":1,"plan":{"neighbors":"add-remove","steps":[]}`, "plan and candidate-epsilon exclude each other"},
		{search + `,"kind":"best","candidate-epsilon":0.1,"ledger":"ledger-2"`, `ledger: "ledger-2" is not open`},
		{search + `,"kind":"best","candidate-epsilon":0.1,"ledger":"ledger-1","charge":"substitute"`, "charge and ledger exclude each other"},
		{search + `,"kind":"best","candidate-epsilon":0.1,"charge":"both"`, `charge: "both" is not add-remove, substitute or zero-out`},
		{`"op":"label-apply","column":[0,1],"labels":[0,1],"weights":[1,1],"epsilon":0.75,"ledger":"ledger-1"`, "ledger: is under add-remove, must be under substitute"},
		{`"op":"release","mechanism":{"exponential":{"epsilon":0.5}},"values":[1,2],"sensitivity":-1,"ledger":"ledger-1"`, "sensitivity: -1"},
		{`"op":"release","mechanism":{"discrete-gaussian":{"noise-multiplier":2,"dimension":1}},"values":[1,2],"ledger":"ledger-1"`, "mechanism: dimension: 1 is not that of 2 numbers"},
		{`"op":"release","mechanism":{"discrete-gaussian":{"noise-multiplier":2}},"values":[1,2],"sensitivity":2`, "sensitivity: and monotone are of no use to discrete-gaussian"},
		{`"op":"release","mechanism":{"randomized-response":{"probability":0.5,"categories":3}},"values":[1,3]`, "values[1]: 3 is not a whole number in [0, 2]"},
		{`"op":"release","mechanism":{"discrete-laplace":{"noise-multiplier":2}},"values":[0.5]`, "values[0]: 0.5 is not a whole number in [-2^53, 2^53]"},
		{`"op":"release","mechanism":{"pure":{"epsilon":2}},"values":[0.5]`, "mechanism: pure is not run here; "},
		{`"op":"release","values":[0.5]`, "mechanism: is missing"},
		{`"op":"release","plan":"neighbors: substitute\nsteps: [{mechanism: {laplace: {noise-multiplier: 1}}}]","values":[0],"sensitivity":1,"ledger":"ledger-1"`, "neighbors: "},
		{`"op":"release","plan":"neighbors: substitute\nsteps: [{mechanism: {laplace: {noise-multiplier: 1}}, count: 2}]","values":[0],"sensitivity":1`, "plan: runs its step 2 times, must run it once"},
		{`"op":"release","plan":"neighbors: substitute\nsteps: [{mechanism: {laplace: {noise-multiplier: 1}}}, {mechanism: {pure: {epsilon: 1}}}]","values":[0],"sensitivity":1`, "plan: has several steps"},
		{`"op":"release","plan":"neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.5}}}]","values":[0],"sensitivity":1`, "plan: has a step on a sample"},
		{`"op":"release","plan":"neighbors: add-remove\nsteps: [{steps: [{mechanism: {laplace: {noise-multiplier: 1}}}]}]","values":[0],"sensitivity":1`, "plan: has a step that is made of others"},
	} {
		if got := ask(t, s, `{%s}`, c[0]); !strings.HasPrefix(got, c[1]) {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
	if got := ask(t, s, `{"op":"ledger-status","ledger":"ledger-1"}`); !strings.Contains(got, `"entries":1`) {
		t.Errorf("a wrong request was spent: %s", got)
	}
}
