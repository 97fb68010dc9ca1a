package labeldp

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// A randomizer that was written and read draws, from the same bits, what the first one draws.
func TestRandomizerIsReadBack(t *testing.T) {
	p, err := NewPrior([]float64{0, 1, 2, 7.25}, []float64{60, 25, 15, 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	optimal, _, err := OptimalUnbiased(context.Background(), p, 1)
	if err != nil {
		t.Fatal(err)
	}
	rr, err := RRWithPrior(p, 0.7, 0)
	if err != nil {
		t.Fatal(err)
	}
	two, err := TwoPoint(p.Labels(), 28)
	if err != nil {
		t.Fatal(err)
	}
	one, err := DebiasedRR([]float64{3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Randomizer{optimal, rr, two, one} {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ReadRandomizer(text)
		if err != nil {
			t.Fatal(r.Name(), err)
		}
		again, _ := json.Marshal(back)
		if string(again) != string(text) || back.Tau() != r.Tau() || back.Name() != r.Name() {
			t.Errorf("%s: read back as %s", text, again)
		}
		a, b := rand.NewChaCha8([32]byte{1}), rand.NewChaCha8([32]byte{1})
		for i := range 4000 {
			label := i % len(r.Labels())
			if x, y := r.Outputs()[r.SampleIndex(label, a)], back.Outputs()[back.SampleIndex(label, b)]; x != y {
				t.Fatalf("%s: draw %d is %v, was %v", r.Name(), i, y, x)
			}
		}
	}
}

func TestRandomizerThatIsNone(t *testing.T) {
	good := `{"name":"x","epsilon":1,"labels":[0,1],"atoms":[{"output":0,"weight":0.2689414213699951,"up":[true,false]},{"output":1,"weight":0.2689414213699951,"up":[false,true]}]}`
	if _, err := ReadRandomizer([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"epsilon":1`, `"epsilon":0`, "epsilon: 0 is not in"},
		{`"epsilon":1`, `"epsilon":2`, "atoms: have probability"},
		{`[0,1]`, `[1,0]`, "labels[0]: 1 is not above"},
		{`[0,1]`, `[]`, "labels: is empty"},
		{`[true,false]`, `[true]`, "atoms[0]: up: has 1 entries"},
		{`"weight":0.2689414213699951`, `"weight":-1`, "atoms[0]: weight: -1 is not in [0, 1]"},
		{`"weight":0.2689414213699951`, `"weight":0.25`, "atoms: have probability"},
		{`"output":0`, `"output":"0"`, "cannot unmarshal"},
	} {
		_, err := ReadRandomizer([]byte(strings.Replace(good, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %s", c.to, c.from, err, c.want)
		}
	}
}
