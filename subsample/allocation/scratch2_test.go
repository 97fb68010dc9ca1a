package allocation

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/profiles"
)

func TestTrunc(t *testing.T) {
	for _, k := range []struct {
		n     int64
		q     float64
		b     int64
		sigma float64
		steps int64
		delta float64
	}{{50001, .01, 600, 1, 2000, 1e-6}, {50001, .01, 50001, 1, 2000, 1e-6}, {50001, .01, 550, 1, 2000, 1e-6}, {50001, .01, 512, 1, 2000, 1e-6}, {60001, 256. / 60000, 288, 1.1, 14062, 1e-5}} {
		s := must(NewTruncated(k.q, k.b, k.n))
		fmt.Printf("%+v\n", s.overflow(k.n))
		b := must(profiles.NewGaussianMechanism(k.sigma))
		for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
			m := must(s.Apply(b, r))
			st := time.Now()
			lo, hi := interval(t, m.Directions[0], k.steps, k.delta)
			fmt.Println(k, r, lo, hi, time.Since(st))
		}
	}
	s := must(NewTruncated(.01, 550, 50000))
	st := time.Now()
	fmt.Println(s.SmallestCap(context.Background(), must(profiles.NewGaussianMechanism(1)), profiles.AddRemove, 2000, 1e-6, .01))
	fmt.Println(time.Since(st))
}

func TestShuf(t *testing.T) {
	for _, k := range []struct {
		sigma float64
		t, e  int64
		delta float64
		rd    Redraw
	}{{1, 1000, 1, 1e-6, EachEpoch}, {1, 100, 1, 1e-6, EachEpoch}, {1, 1000, 10, 1e-6, EachEpoch}, {1.1, 234, 60, 1e-5, EachEpoch}, {2.5, 78, 90, 8e-7, EachEpoch}, {2, 100, 10, 1e-5, EachEpoch}, {5, 1000, 30, 1e-5, EachEpoch}, {1.1, 234, 60, 1e-5, Once}} {
		b := must(profiles.NewGaussianMechanism(k.sigma))
		for _, r := range []profiles.Relation{profiles.ZeroOut, profiles.Substitute, profiles.AddRemove} {
			st := time.Now()
			m := must(must(must(must(NewShuffle(k.t)).WithEpochs(k.e, k.rd)).For(Target{k.delta, 1e-3})).Apply(b, r))
			el := time.Since(st)
			lo, hi := interval(t, m.Directions[0], 1, k.delta)
			lo2, _ := interval(t, m.Directions[1], 1, k.delta)
			fmt.Println(k, r, lo, lo2, hi, el)
		}
	}
}
