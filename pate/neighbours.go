// The laws of a query's whole output, check and answer, at the data set that voted and at each
// of its neighbours. They assume that the partition of the data ignores its contents, so that
// one example changes one teacher's vote, and that the noises are independent.

package pate

import (
	"encoding/binary"
	"slices"
)

// histogramKey is equal for histograms that are equal but for the order of the classes.
func histogramKey(votes []int64) string {
	w := slices.Clone(votes)
	slices.Sort(w)
	var key []byte
	for _, n := range w {
		key = binary.AppendUvarint(key, uint64(n))
	}
	return string(key)
}

// A neighbour is a move and the statistic of the check after it.
type neighbour struct {
	move
	statistic float64
}

// neighbours returns all that moving a vote can make of query i, each once. Where some rows of
// the table have fewer votes than teachers, votes may also be withdrawn and cast.
func (l *Ledger) neighbours(i int) []neighbour {
	row := l.votes.Row(i)
	abstain := l.votes.Short() > 0
	arrive := abstain && sum(row) < l.votes.Teachers()
	h := newHistogram(row)
	var out []neighbour
	if a, ok := l.aggregator.(Interactive); ok {
		return a.neighbours(row, l.scores.Row(i), l.votes.Teachers(), abstain, arrive)
	}
	for _, m := range h.moves(abstain, arrive) {
		top := h.value[0]
		if m.from == top && h.class[0] == 1 {
			top--
			if len(h.value) > 1 {
				top = max(top, h.value[1])
			}
		}
		top = max(top, m.to+1)
		out = append(out, neighbour{m, float64(top)})
	}
	return out
}

// neighbours compares every pair of classes: the student's scores tell classes of the same count
// apart.
func (c Interactive) neighbours(row []int64, scaled []float64, teachers int64, abstain, arrive bool) (out []neighbour) {
	known := map[neighbour]bool{}
	w := slices.Clone(row)
	add := func(a, b int) {
		m := nobody
		if a >= 0 {
			m.from = w[a]
			w[a]--
		}
		if b >= 0 {
			m.to = row[b]
			w[b]++
		}
		n := neighbour{m, c.statistic(w, scaled, teachers)}
		if a >= 0 {
			w[a]++
		}
		if b >= 0 {
			w[b]--
		}
		if !known[n] {
			known[n] = true
			out = append(out, n)
		}
	}
	for a, n := range row {
		if n >= 1 {
			for b := range row {
				if b != a {
					add(a, b)
				}
			}
			if abstain {
				add(a, -1)
			}
		}
		if arrive {
			add(-1, a)
		}
	}
	return out
}

// winner returns the laws of query i's answer, or false where they are not worked out.
func (l *Ledger) winner(h histogram) (winner, bool) {
	if x := l.q.lnmax; x != nil {
		return newLaplaceLaw(h, x.Gamma)
	}
	return newGaussLaw(h, l.sigma2())
}

// laws are the laws of query i at the data set that voted and at its neighbours: of the answer,
// of the check, and of both; checks and joint are nil without a check. ok is false where
// there are none, because gaps are too wide.
func (l *Ledger) laws(i int) (answers, checks, joint []pair, ok bool) {
	h := newHistogram(l.votes.Row(i))
	w, ok := l.winner(h)
	if !ok {
		return nil, nil, nil, false
	}
	near := l.neighbours(i)
	moves := make([]move, 0, len(near))
	at := map[move]int{}
	for _, n := range near {
		if _, ok := at[n.move]; !ok {
			at[n.move] = len(moves)
			moves = append(moves, n.move)
		}
	}
	answers = pairs(w, h, moves)
	if l.q.check == nil {
		return answers, nil, nil, true
	}
	for _, n := range near {
		c := l.confident().checkPair(l.q.statistic[i], n.statistic)
		checks = append(checks, c)
		joint = append(joint, joined(c, answers[at[n.move]]))
	}
	return answers, checks, joint, true
}
