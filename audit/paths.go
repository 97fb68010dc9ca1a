package audit

import (
	"context"
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file tests one value of ε by all thresholds at once. docs/audit.md#all-thresholds has the proof. Down the list of all
// scores a path counts i members and j others above a threshold. Under every (ε, δ)-private mechanism the path is dominated by that of
// the extremal pair, whose law is exact: some members at the very top, the others and those non-members that fall beside
// them in random order. The test rejects where the likelihood ratio of some (i, j) is large, and its p-value is the chance that
// the extremal path ever has one as large: a sum of positive terms.

// A path has the numbers of members, n, and of others, m, and where the thresholds of an attack are: at t others, over[t]
// members, for each number of others from 0 to len(over)−1.
type path struct {
	n, m int
	over []int
}

// A path looks at half of the others, or, for the time it takes, at as many as make cells with the members, but at leastOthers.
const (
	cells       = 1 << 23
	leastOthers = 256
)

// pathOf returns the path of ascending scores. Members count only above a threshold that no other's score equals.
func pathOf(in, out []float64) path {
	p := path{n: len(in), m: len(out)}
	for j := range min((len(out)+1)/2, max(leastOthers, cells/len(in))) {
		// Before the next other down.
		p.over = append(p.over, len(in)-upTo(in, out[len(out)-1-j]))
	}
	return p
}

// upTo returns how many of ascending numbers are at most t.
func upTo(ys []float64, t float64) int {
	if math.IsInf(t, 1) {
		return len(ys)
	}
	return len(ys) - atLeast(ys, math.Nextafter(t, math.Inf(1)))
}

// A pairTest is the test of (ε, δ) with n members and m others.
type pairTest struct {
	n, m       int
	ratio, del float64 // e^ε, δ
}

// statistic is the signed root of the likelihood ratio of i of n and j of m against the rates that (ε, δ) allows, 0 where they are
// allowed, less up to 1 or so where j is far from 3 of 100: an attack is mostly best there. Where δ alone allows one member or more, i counts
// without as many as it allows but rarely. It grows with i. Which function it is steers, and so does its rounding.
func (t pairTest) statistic(i, j int) float64 {
	n, m := float64(t.n), float64(t.m)
	x, y := float64(i)-n*t.del, float64(j)
	if n*t.del >= 1 {
		x -= 3 * math.Sqrt(n*t.del*(1-t.del))
	}
	if x/n <= t.ratio*y/m {
		return 0
	}
	b := (x+y)*(1+t.ratio) + (n-x)*t.ratio + (m - y)
	f := 2 * (x + y) / (b + math.Sqrt(max(0, b*b-4*t.ratio*(n+m)*(x+y))))
	if f <= 0 || t.ratio*f >= 1 {
		return 0
	}
	l := part(x, n, t.ratio*f) + part(y, m, f)
	return math.Sqrt(2*max(0, l)) - math.Abs(xmath.Log((y+1)/(m*0.03+1)))/6
}

// part is the log likelihood of k of n at its own rate, less that at p.
func part(k, n, p float64) float64 {
	l := 0.0
	if k > 0 {
		l += k * xmath.Log(k/(n*p))
	}
	if k < n {
		l += (n - k) * xmath.Log((n-k)/(n*(1-p)))
	}
	return l
}

// least returns the smallest i at which the statistic at j is at least c, n+1 where there is none.
func (t pairTest) least(j int, c float64) int {
	return sort.Search(t.n+1, func(i int) bool { return t.statistic(i, j) >= c })
}

// rejects reports whether the chance that the extremal path of (ε, δ) has a statistic as large as that of p is at most alpha. It says no
// where a bound of that chance is above.
func (p path) rejects(epsilon, delta, alpha float64) bool {
	t := pairTest{n: p.n, m: p.m, ratio: math.Exp(epsilon), del: delta}
	c := 0.0
	for j, i := range p.over {
		c = max(c, t.statistic(i, j))
	}
	if !(c > 0) {
		return false
	}
	// A lower c only adds to the chance, and what is far beyond doubt takes no time. Where p has c, it has least[j] members however
	// statistics are rounded: they grow by far more than that from one i to the next, so that those of at least c are all from some i on.
	c = min(c*(1-1e-12), 1.5+math.Sqrt(-2*xmath.Log(alpha)))
	// A path crosses where it has least[j] members before other j+1, and so where it has as many earlier.
	least := make([]int, len(p.over))
	for j := len(least) - 1; j >= 0; j-- {
		least[j] = t.least(j, c)
		if j < len(least)-1 {
			least[j] = min(least[j], least[j+1])
		}
	}
	return t.crossing(least, alpha) <= alpha
}

// crossing bounds the chance that the extremal path reaches least[j] members before other j+1, for some j; it may stop above enough.
// How many members are at the very top is told apart as far as it matters.
func (t pairTest) crossing(least []int, enough float64) float64 {
	tail := func(k int) float64 { _, up := upperTail(t.n, k, t.del, 1-t.del); return up }
	lo, hi := 0, 0
	if t.del > 0 {
		little := enough / 100
		for step := t.n; step > 0; step /= 2 {
			for hi+step <= t.n && tail(hi+step) > little {
				hi += step
			}
		}
		lo = int(max(0, float64(t.n)*t.del-4*math.Sqrt(float64(t.n)*t.del)-3)) // those below count as lo
	}
	sum := 0.0
	if t.del > 0 && hi < t.n {
		sum = tail(hi + 1)
	}
	width := 1 + (hi-lo)/6
	for a, from := lo, 0; a <= hi && sum <= enough; a += width {
		// Members from … top are at the very top: as many as top, and no fewer beside the others.
		top, chance := min(hi, a+width-1), 1.0
		if t.del > 0 {
			chance = tail(from)
			if from == top {
				l, err := logMass(t.n, top, t.del, 1-t.del)
				chance = math.Exp(l+err) * (1 + 1e-14)
			}
		}
		sum += chance * t.cross(least, top, t.n-from, enough)
		from = top + 1
	}
	return sum
}

// cross is crossing where a path begins with atoms members and has members more. The chance of a beginning of i of these and
// j others, in any order, is r(i, j) = Σ_k P[Bin(m, c) = k]·(members)_i·(k)_j/(members+k)_{i+j}, c = (1−δ)/e^ε the share of the others beside them. The
// beginnings that do not cross are counted by the chance of a path of independent coins, which is p^i·(1−p)^j for each of them.
func (t pairTest) cross(least []int, atoms, members int, enough float64) float64 {
	if atoms >= least[0] {
		return 1
	}
	share := min(1, (1-t.del)/t.ratio)
	p := float64(members) / (float64(members) + float64(t.m)*share)
	beside, weights, rest := t.beside(share)
	x := make([]float64, t.n+2)
	x[atoms] = 1
	low, total, most, lost, i := atoms, 0.0, 1.0, 0.0, 0
	trifle := 1e-9 * enough / float64(len(least))
	slack := 1 + 32*xmath.U*float64(len(least)+t.n+16)
	for j, b := range least {
		left := float64(members - i)
		if j > 0 {
			for k, n := range beside {
				if others := n - float64(j-1); others > 0 {
					weights[k] *= others / ((left + others) * (1 - p))
				} else {
					weights[k] = 0
				}
			}
		}
		top := min(b-1, t.n)
		last := 0.0
		for k := low; k <= top; k++ {
			last = x[k] + p*last
			x[k] = last
		}
		for low < top && x[low] < trifle {
			lost += x[low]
			low++
		}
		if b > atoms+members || b > t.n {
			break
		}
		for ; i < b-atoms; i++ {
			left := float64(members - i)
			for k, n := range beside {
				if others := n - float64(j); others >= 0 {
					weights[k] *= left / ((left + others) * p)
				}
			}
		}
		sum := 0.0
		for _, w := range weights {
			sum += w
		}
		most = max(most, sum)
		if total += p * x[b-1] * sum; total > enough {
			break
		}
		for k := low; k <= top; k++ {
			x[k] *= 1 - p
		}
	}
	return (total+(lost+1e-270)*most)*slack + rest
}

// besideBins is into how many parts the number of others beside the members is cut.
const besideBins = 48

// beside returns a law of how many of m others fall into a share of them, where each number stands for those from it to the next, and a bound of
// the chance of all that it leaves out. Fewer others beside the members make the path higher.
func (t pairTest) beside(share float64) (numbers, chances []float64, rest float64) {
	if share >= 1 {
		return []float64{float64(t.m)}, []float64{1}, 0
	}
	mean, off := float64(t.m)*share, 1-share
	reach := 5.5*math.Sqrt(mean*off) + 10
	from := int(max(0, mean-reach))
	to := int(min(float64(t.m), mean+reach))
	width := 1 + (to-from)/besideBins
	for k := from; k <= to; k++ {
		l, err := logMass(t.m, k, share, off)
		if (k-from)%width == 0 {
			numbers, chances = append(numbers, float64(k)), append(chances, 0)
		}
		chances[len(chances)-1] += math.Exp(l+err) * (1 + 1e-14)
	}
	// Those above to count as the last number.
	_, up := upperTail(t.m, to+1, share, off)
	chances[len(chances)-1] += up
	if from > 0 {
		_, up := upperTail(t.m, t.m-from+1, off, share)
		rest = up
	}
	return numbers, chances, rest
}

// The lattices on which lowest looks for ε: multiples of 2^k·finest. The tests of the finest have nearly all of the failure.
const (
	finest   = 0.001
	lattices = 11
)

// lowest returns an ε such that the chance of an ε above the truth is at most alpha.
//
// Proof: let ε* be the truth, and e_k the smallest multiple of 2^k·finest that is at least ε*. The mechanism is (e_k, δ)-private. An
// answer above ε* was reached by a step that passed ε*, on the lattice of some k; that step ended at e_k, which was rejected at
// the share of k. The shares add up to alpha.
func (p path) lowest(ctx context.Context, delta, alpha float64) (float64, error) {
	at := 0 // in units of finest
	for k := lattices - 1; k >= 0; k-- {
		share := 0.03 * alpha / (lattices - 1)
		if k == 0 {
			share = 0.97 * alpha
		}
		step := 1 << k
		for at += step; at < 700_000; at += step {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			if !p.rejects(float64(at)*finest, delta, share) {
				break
			}
		}
		at -= step
	}
	// What was tested is e^ε rounded, (1 − δ)/e^ε rounded twice: 4u, and finest·1e-12 is 9u.
	return max(0, float64(at)*finest*(1-1e-12)), nil
}
