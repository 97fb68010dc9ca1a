package selection

import (
	"context"
	"errors"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
)

// Once its context is done a call asks the candidate no further question and
// returns the context's error.
func TestCancelled(t *testing.T) {
	g := gaussianBound(2)
	curve := must(rdp.Gaussian(2))
	law := must(withMean(1, 10))
	for name, call := range map[string]func(ctx context.Context, b Bound) error{
		"Epsilon": func(ctx context.Context, b Bound) error { _, err := b.Epsilon(ctx, 1e-5); return err },
		"Discretize": func(ctx context.Context, b Bound) error {
			_, err := b.Discretize(ctx, 1e-3, -60)
			return err
		},
		"Profile": func(ctx context.Context, b Bound) error { _, err := PriceOfBest(law).Profile(ctx, b); return err },
		"Mechanism": func(ctx context.Context, b Bound) error {
			_, err := PriceOfBest(law).Bounds(ctx, "search", profiles.AddRemove, b.Candidate(b, [2]func(float64) (float64, float64){}, nil), 1e-3, -60)
			return err
		},
		"Curve": func(ctx context.Context, b Bound) error {
			_, err := PriceOfBest(must(newPoisson(10))).Curve(ctx, curve, b)
			return err
		},
		"KoskelaRedbergWang": func(ctx context.Context, b Bound) error {
			_, err := KoskelaRedbergWang(ctx, b, law, 0.5)
			return err
		},
	} {
		if err := call(context.Background(), g); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// Cancelled by its first question.
		ctx, cancel := context.WithCancel(context.Background())
		asked := 0
		err := call(ctx, func(eps float64) float64 {
			asked++
			cancel()
			return g(eps)
		})
		if !errors.Is(err, context.Canceled) || asked != 1 {
			t.Errorf("%s: %v after %d questions", name, err, asked)
		}
	}
}

// The price of a long search asks nothing where the answer is known: the best of a
// million runs has δ next to 1 up to an ε of thousands.
func TestFewQuestions(t *testing.T) {
	g := gaussianBound(2)
	for _, law := range []Law{must(withMean(1, 1e6)), must(newPoisson(1e6))} {
		asked := 0
		b, err := PriceOfBest(law).Profile(context.Background(), func(eps float64) float64 { asked++; return g(eps) })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Epsilon(context.Background(), 1e-5); err != nil || asked > 55 {
			t.Errorf("%v: %v after %d questions", law, err, asked)
		}
	}
}
