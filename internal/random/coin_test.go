package random

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// A replay is a coin that follows a given path of outcomes, and then reports by
// what outcomes it could have gone on. It enumerates every path of a sampler.
type replay struct {
	path   []int64 // outcomes to follow
	at     int
	weight *big.Rat // of the path
	more   []branch // of the first outcome beyond it
}

type branch struct {
	outcome int64
	share   *big.Rat
}

type beyond struct{}

func (r *replay) next(branches []branch) int64 {
	if r.at == len(r.path) {
		r.more = branches
		panic(beyond{})
	}
	o := r.path[r.at]
	r.at++
	for _, b := range branches {
		if b.outcome == o {
			r.weight.Mul(r.weight, b.share)
		}
	}
	return o
}

func (r *replay) flip(p *big.Rat) bool {
	q := new(big.Rat).Sub(big.NewRat(1, 1), p)
	var bs []branch
	if p.Sign() > 0 {
		bs = append(bs, branch{1, p})
	}
	if q.Sign() > 0 {
		bs = append(bs, branch{0, q})
	}
	return r.next(bs) == 1
}

// enumerate returns the exact probability of each value over all paths of
// probability at least least, and that of the paths not followed.
func enumerate(draw func(coin func(p *big.Rat) bool) string, least float64) (law map[string]float64, rest float64) {
	law = map[string]float64{}
	var visit func(path []int64)
	visit = func(path []int64) {
		r := &replay{path: path, weight: big.NewRat(1, 1)}
		var value string
		ended := func() (ended bool) {
			defer func() {
				if p := recover(); p != nil {
					if _, ok := p.(beyond); !ok {
						panic(p)
					}
					ended = false
				}
			}()
			value = draw(r.flip)
			return true
		}()
		w, _ := r.weight.Float64()
		switch {
		case ended:
			law[value] += w
		case w < least:
			rest += w
		default:
			for _, b := range r.more {
				visit(append(path[:len(path):len(path)], b.outcome))
			}
		}
	}
	visit(nil)
	return law, rest
}

// The law of the samplers over all their coins, exactly, against the closed form.
func TestCoinsExactly(t *testing.T) {
	slow.Test(t)
	for _, g := range []struct{ num, den int64 }{{0, 1}, {1, 1}, {1, 2}, {3, 8}, {7, 7}} {
		law, rest := enumerate(func(coin func(p *big.Rat) bool) string { return fmt.Sprint(expCoin(coin, big.NewRat(g.num, g.den))) }, 1e-14)
		want := math.Exp(-float64(g.num) / float64(g.den))
		if d := want - law["true"]; d < -1e-13 || d > rest+1e-13 || rest > 1e-12 {
			t.Errorf("e^(−%d/%d): %v, want %v, left %v", g.num, g.den, law["true"], want, rest)
		}
	}
}

func TestCoinsAreExact(t *testing.T) {
	// A source that returns chosen words drives the coins into their slow paths.
	seq := func(words ...uint64) rand.Source { return &words64{words} }
	p := 1.0 / 3 // 0.333… rounded: whole part of p·2^64, then nothing is left
	w := uint64(math.Ldexp(p, 64))
	if Coin(seq(w), p) {
		t.Error("a draw equal to p is not below p")
	}
	if !Coin(seq(w-1), p) {
		t.Error("a draw below p must be true")
	}
	q := math.Ldexp(0.75, -64)
	if !Coin(seq(0, 1<<62), q) || Coin(seq(0, 1<<63|1<<62), q) {
		t.Error("bits beyond the first 64 must decide")
	}
	third := func() (n int) {
		for _, words := range [][]uint64{{0x5555555555555555, 0}, {0x5555555555555555, 0x5555555555555556}, {0x5555555555555555, 0x5555555555555555, 1}} {
			if Fraction(seq(words...), 1.0/3, thirdRat) {
				n++
			}
		}
		return n
	}()
	if third != 2 {
		t.Errorf("1/3: %d of 3, want 2", third)
	}
}

type words64 struct{ w []uint64 }

func (s *words64) Uint64() uint64 {
	x := s.w[0]
	s.w = s.w[1:]
	return x
}

func thirdRat() *big.Rat { return big.NewRat(1, 3) }
