package nearest

import "testing"

func TestHint(t *testing.T) {
	keys := []string{"gaussian", "laplace", "discrete-gaussian", "p"}
	for _, c := range []struct{ word, want string }{
		{"gausian", `did you mean "gaussian"?`},
		{"Gaussian", `did you mean "gaussian"?`},
		{"discrete_gaussian", `did you mean "discrete-gaussian"?`},
		{"lapalce", `did you mean "laplace"?`},
		{"staircase", "must be one of gaussian, laplace, discrete-gaussian, p"},
		{"x", "must be one of gaussian, laplace, discrete-gaussian, p"},
		{"discrete", `did you mean "discrete-gaussian"?`},
		{"gauss", `did you mean "gaussian"?`},
		{"gau", `did you mean "gaussian"?`},
		{"ga", "must be one of gaussian, laplace, discrete-gaussian, p"},
		{"P", `did you mean "p"?`},
		{"", "must be one of gaussian, laplace, discrete-gaussian, p"},
	} {
		if got := Hint(c.word, keys); got != c.want {
			t.Errorf("Hint(%q) = %s, want %s", c.word, got, c.want)
		}
	}
	if got, want := Hint("x", []string{"rate"}), "must be rate"; got != want {
		t.Errorf("Hint of one key = %s, want %s", got, want)
	}
}

func TestValue(t *testing.T) {
	allowed := []string{"double", "constant"}
	if got, want := Value("duble", allowed), `"duble" is not one of double, constant; did you mean "double"?`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := Value("best", allowed), `"best" is not one of double, constant`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abd", 1}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ε", "δ", 1},
	} {
		if got := edits(c.a, c.b); got != c.want {
			t.Errorf("edits(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// Words of other libraries are understood, where what they mean is allowed.
func TestSynonyms(t *testing.T) {
	for _, c := range []struct {
		word    string
		allowed []string
		want    string
	}{
		{"sigma", []string{"noise-multiplier", "seed"}, "noise-multiplier"},
		{"replace_one", []string{"add-remove", "substitute", "zero-out"}, "substitute"},
		{"sampling_probability", []string{"sampling-rate"}, "sampling-rate"},
		{"q", []string{"rate"}, "rate"},
		{"q", []string{"population"}, ""},
	} {
		if got := Word(c.word, c.allowed); got != c.want {
			t.Errorf("Word(%q) = %q, want %q", c.word, got, c.want)
		}
	}
	for word, meant := range synonyms {
		if len(meant) == 0 || Word(word, meant[:1]) != meant[0] {
			t.Errorf("%q is not understood", word)
		}
	}
}
