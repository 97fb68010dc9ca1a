package allocation

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// interval asks for ε(δ) of count runs of one direction.
func interval(t testing.TB, d profiles.Direction, count int64, delta float64) (lo, hi float64) {
	t.Helper()
	a, b := fourier.New(fourier.Options{}), fourier.New(fourier.Options{})
	if err := a.Add(d.Upper, count); err != nil {
		t.Fatal(err)
	}
	hi = must(a.Epsilon(context.Background(), delta)).Upper
	if d.Lower != nil {
		if err := b.Add(d.Lower, count); err != nil {
			t.Fatal(err)
		}
		lo = must(b.Epsilon(context.Background(), delta)).Lower
	}
	return lo, hi
}

func TestScratch(t *testing.T) {
	for _, k := range []struct {
		sigma   float64
		t, k, e int64
		delta   float64
		redraw  Redraw
	}{{1, 1000, 1, 1, 1e-6, EachEpoch}, {1.1, 234, 1, 60, 1e-5, EachEpoch}, {1.1, 234, 1, 60, 1e-5, Once}, {1, 1000, 10, 1, 1e-6, EachEpoch}, {.5, 1000, 10, 1, 1e-6, EachEpoch}, {1, 100, 10, 1, 1e-6, EachEpoch}, {2, 100, 10, 1, 1e-6, EachEpoch}} {
		st := time.Now()
		b := must(profiles.NewGaussianMechanism(k.sigma))
		s := must(must(NewRandom(k.t)).WithEpochs(k.e, k.redraw))
		s = must(must(s.WithUses(k.k)).For(Target{k.delta, 1e-3}))
		m := must(s.Apply(b, profiles.AddRemove))
		el := time.Since(st)
		lo, hi := interval(t, m.Directions[0], 1, k.delta)
		lo2, hi2 := interval(t, m.Directions[1], 1, k.delta)
		fmt.Println(k, lo, hi, lo2, hi2, el, time.Since(st)-el)
		if k.e == 60 && k.redraw == EachEpoch {
			s = must(s.WithEpochs(1, k.redraw))
			st := time.Now()
			m := must(s.Apply(b, profiles.AddRemove))
			el := time.Since(st)
			lo, hi := interval(t, m.Directions[0], 60, k.delta)
			fmt.Println("lattice", lo, hi, el, time.Since(st)-el, len(m.Directions[0].Upper.(*profiles.Discrete).Atoms()))
		}
	}
}

func TestScratchSub(t *testing.T) {
	for _, k := range []struct {
		sigma float64
		t, e  int64
		delta float64
	}{{1, 1000, 1, 1e-6}, {1, 100, 1, 1e-6}, {2, 100, 1, 1e-5}, {2, 100, 10, 1e-5}, {1, 3, 1, 1e-2}, {.5, 100, 1, 1e-6}} {
		st := time.Now()
		b := must(profiles.NewGaussianMechanism(k.sigma))
		s := must(must(must(NewRandom(k.t)).WithEpochs(k.e, EachEpoch)).For(Target{k.delta, 1e-3}))
		m, err := s.Apply(b, profiles.Substitute)
		if err != nil {
			t.Error(k, err)
			continue
		}
		el := time.Since(st)
		lo, hi := interval(t, m.Directions[0], 1, k.delta)
		fmt.Println(k, lo, hi, el, time.Since(st)-el, len(m.Directions[0].Upper.(*profiles.Discrete).Atoms()))
		if k.t == 3 {
			fmt.Println(fmt.Sprint(profiles.LogDelta(m.Directions[0].Upper, .5)))
		}
	}
	l := must(profiles.NewLaplaceMechanism(1))
	m := must(must(NewRandom(2)).Apply(l, profiles.AddRemove))
	fmt.Println(interval(t, m.Directions[0], 1, 1e-1))
}
