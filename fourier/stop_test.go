package fourier

import (
	"context"
	"errors"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// slowProfile is a profile without a transform, of which every loss that is looked at takes long: it counts them, and
// ends a context when so many were looked at.
type slowProfile struct {
	profiles.Profile
	n, most int
	end     context.CancelFunc
}

func (s *slowProfile) Tails(t, tol float64) profiles.Tails {
	if s.n++; s.n == s.most && s.end != nil {
		s.end()
	}
	return s.Profile.Tails(t, tol)
}

// TestCoarseLawsEnd: the laws that a question begins with end with its context, whichever engine they are for.
func TestCoarseLawsEnd(t *testing.T) {
	g, err := profiles.NewGaussian(2)
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(context.Context, *Sum) error{
		"ε":     func(ctx context.Context, s *Sum) error { _, err := s.Epsilon(ctx, 1e-250); return err },
		"δ":     func(ctx context.Context, s *Sum) error { _, err := s.Delta(ctx, 60); return err },
		"proof": func(ctx context.Context, s *Sum) error { s.Proves(ctx, 60, 1e-250); return ctx.Err() },
	} {
		for _, mixed := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			p := &slowProfile{Profile: g, most: 100, end: cancel}
			s := New(Options{Relative: 1e-6})
			if err := s.Add(p, 1000); err != nil {
				t.Fatal(err)
			}
			if mixed {
				if err := s.Add(g, 10); err != nil {
					t.Fatal(err)
				}
			}
			if err := ask(ctx, s); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, mixed %v: %v", name, mixed, err)
			}
			// The range and the ends of the law under way.
			if p.n > p.most+100 {
				t.Errorf("%s, mixed %v: %d losses after the end", name, mixed, p.n-p.most)
			}
			t.Log(name, mixed, p.n)
			cancel()
		}
	}
}
