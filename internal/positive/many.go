package positive

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file makes laws of very many sources that are alike, on grids that they share. Like grid.go it proves nothing.

const (
	alikeLog   = 0.04 // steers: by how much ln S of sources with the same grids differs at most
	coarsest   = 8.0  // steers: the largest width that is aimed at
	manyShare  = 2.0  // steers: of the width asked, what laws of a node take by an estimate that is about twice too large
	fewerAtoms = 0.5  // steers: width for the points of the result, each of which the composition looks at
)

// A manner is how the laws of programs that are alike are made.
type manner struct {
	shapes []shape
	aim    float64
	many   bool // many laws are composed
}

type mannersKey struct{}

// Many returns a context in which RunFor makes laws of very many programs, one after the other. Those whose noise is about
// the same share their shapes, and all but the first of them are as wide as asked, where laws are mostly a few times finer.
func Many(ctx context.Context) context.Context {
	return context.WithValue(ctx, mannersKey{}, map[string]*manner{})
}

// manner returns how laws are made of a program. first says that others like it follow.
func (p *Program) manner(ctx context.Context, t Target) (m *manner, first bool, err error) {
	known, many := ctx.Value(mannersKey{}).(map[string]*manner)
	key := ""
	if many {
		for i, n := range p.nodes {
			if g, ok := n.source.(LogNormal); ok {
				p.nodes[i].source = LogNormal{S: math.Exp(alikeLog * math.Round(xmath.Log(g.S)/alikeLog))}
			} else if n.source != nil {
				many = false
			}
		}
		key = fmt.Sprint(p.nodes, t)
	}
	if m := known[key]; many && m != nil {
		return m, false, nil
	}
	shapes, err := p.shapes(ctx, t)
	m = &manner{shapes: shapes, aim: firstAim / 2, many: many}
	if many && err == nil {
		known[key] = m
	}
	return m, many, err
}

// learn sets the aim by the width between the first laws of a program's node. To first order the composition is as wide as ∫ψ(k)
// times the difference of E(X − k)₊, ψ counting all copies.
func (m *manner) learn(node int, lower, upper *Law) {
	s, width, last := m.shapes[node], 0.0, 0.0
	for i, k := range s.x {
		v := s.psi[i] * (upper.Above(k) - lower.Above(k))
		if i > 0 {
			width += (v + last) / 2 * (k - s.x[i-1])
		}
		last = v
	}
	if width > 0 {
		m.aim = min(m.aim*max(1, manyShare/width), coarsest)
	}
}
