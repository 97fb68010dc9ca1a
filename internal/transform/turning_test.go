package transform

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What lies beyond the nodes on a line is below turningTail, by a sum over a fine grid with angles that are followed along
// a. Without the share of the angle that is still to come (a rate of 0) the bound would be false, and in far
// fewer cases would the whole remaining angle do.
func TestTurningTail(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	tried, needed, better := 0, 0, 0
	for range 60 {
		records := 2 + r.IntN(40)
		q, sigma := math.Pow(10, -3*r.Float64())*0.9, math.Pow(10, 1.3*r.Float64()-0.2)
		m := binomialPair(records, q, sigma, true).(*mixture)
		theta, a := 3*r.Float64(), m.width()*math.Pow(10, -2*r.Float64())
		level := m.levelFor(min(0.2/sigma, a))
		lo, hi, ok := m.cut(theta, level, ends{-20, -20}, -20, 1<<14)
		if !ok {
			continue
		}
		s := m.tilt(theta, level, lo, hi)
		table := m.angles(a)
		freq := math.Pow(10, 3*r.Float64()-1)
		for _, right := range []bool{false, true} {
			j, way := 0, -1.0
			if right {
				j, way = len(s.nodes)-1, 1
			}
			p, q := m.turn(&s.nodes[j], float64(s.lo+j)*s.h, table, nil)
			now := imLoss(p, q, a) + p.slack + q.slack
			most := imLoss(p, turn{component: m.minQ}, a) + p.slack
			if right {
				most = imLoss(turn{component: m.maxP}, q, a) + q.slack
			}
			got := s.turningTail(freq, a, a, right, now, most)
			if math.IsInf(got, 1) {
				continue
			}
			// ∫ P^{θ+1}·|Q(x + iaσ²)|^{−θ}·e^{t·Im L} beyond the node, by steps of σ/4: the least value of each.
			truth, last := math.Inf(-1), math.Inf(1)
			for i := range 160 {
				x := m.x(float64(s.lo+j)*s.h) + way*float64(i)*0.25*sigma
				d := (x - m.x0) * m.inv2
				logP, _ := m.logSide(d, true)
				logQ, _ := m.logSide(d, false)
				n := -x*x*m.inv2/2 - m.logSigma - 0.9189385332
				_, argP := followed(m.logShares(d, true), a)
				modQ, argQ := followed(m.logShares(d, false), a)
				v := n + (theta+1)*logP - theta*(logQ+modQ) + freq*(argP+argQ)
				if i > 0 {
					truth = logSumUp(truth, min(v, last)+math.Log(0.25*sigma))
				}
				if last = v; v < truth-12 {
					break
				}
			}
			tried++
			if truth > got {
				t.Errorf("k=%d σ=%v θ=%v a=%v t=%v right=%v: log of the integral %v is above its bound %v", records, sigma, theta, a, freq, right, truth, got)
			}
			whole := s.tailOn(a, right) + freq*most
			if truth > s.tailOn(a, right)+freq*now {
				needed++
			}
			if got < whole-10 {
				better++
			}
		}
	}
	t.Log(tried, needed, better)
	if tried < 60 || needed < 5 || better < 10 {
		t.Errorf("of %d bounds %d need what is still to come and %d are better for it: too few to test", tried, needed, better)
	}
}

// logShares returns the logarithms of the shares of the means 0, 1, … (or 0, −1, …, whose angle is the opposite).
func (m *mixture) logShares(d float64, p bool) []float64 {
	logs := make([]float64, int(max(m.spanP, m.spanQ))+1)
	for i := range logs {
		logs[i] = math.Inf(-1)
	}
	logs[0] = m.logQ0
	if p {
		logs[0] = m.logP0
	}
	for i := range m.cs {
		if l := m.cs[i].log(p); !math.IsInf(l, -1) {
			logs[int(math.Abs(m.cs[i].mean))] = m.cs[i].mean*d + m.cs[i].offset + l
		}
	}
	return logs
}
