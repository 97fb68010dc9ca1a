package audit

import (
	"context"
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file bounds ε by all thresholds at once. The end of this file has the proof. Down the list of all
// scores a path counts i members and j others above a threshold. Under every (ε, δ)-private mechanism the path is dominated by that of
// the extremal pair, whose law is exact: some members at the very top, the others and those non-members that fall beside
// them in random order. Paths are compared by their reach, the largest ε that the likelihood ratio of some (i, j) speaks against, and the
// chance that the extremal path of some ε reaches as far is a sum of positive terms.

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
	p := min(t.ratio*f, x/n) // it is below, but for its rounding
	l := part(x, n, p) + part(y, m, p/t.ratio)
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

// at returns the test of another ε.
func (t pairTest) at(epsilon float64) pairTest {
	t.ratio = math.Exp(epsilon)
	return t
}

// reaches returns a value that the statistic has somewhere on the extremal path with a chance of roughly alpha. Which it is steers.
func reaches(alpha float64) float64 { return math.Sqrt(-2*xmath.Log(alpha)) - 0.2 }

// reach returns a little less than the largest ε at which the statistic somewhere on p is at least c; 0 where there is none.
func (p path) reach(t pairTest, c float64) (low float64) {
	for j, i := range p.over {
		if t.at(low).statistic(i, j) < c {
			continue
		}
		high := low + 1
		for high < maxReach && t.at(high).statistic(i, j) >= c {
			high *= 2
		}
		low, _ = xmath.Bisect(low, high, 40, func(eps float64) bool { return t.at(eps).statistic(i, j) >= c })
	}
	// A millionth is more than the statistic's rounding (1e-8 of it) moves ε: where it is c, it falls by more than c/10 a unit.
	return max(0, low*(1-1e-6)-1e-6)
}

// boundary returns for each j the least number of members before other j+1 with which a path reaches as far as ε or further. All paths
// that do are counted, and perhaps a few more: the statistic is rounded by less than 1e-7 of it.
func (p path) boundary(t pairTest, c float64) []int {
	least := make([]int, len(p.over))
	for j := len(least) - 1; j >= 0; j-- {
		least[j] = sort.Search(t.n+1, func(i int) bool { return t.statistic(i, j) >= c*(1-1e-7) })
		if j < len(least)-1 {
			least[j] = min(least[j], least[j+1]) // as many members earlier get there
		}
	}
	return least
}

// crossing bounds the chance that the extremal path reaches least[j] members before other j+1, for some j; it may stop above enough.
// How many members are at the very top is told apart as far as it matters.
func (t pairTest) crossing(least []int, enough float64) float64 {
	tail := func(k int) float64 { _, up := xmath.BinomialTail(int64(k), int64(t.n), t.del, 1-t.del); return up }
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
				l, err := xmath.BinomialMass(int64(top), int64(t.n), t.del, 1-t.del)
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
		if float64(j) > beside[len(beside)-1] {
			break // all members are above fewer others
		}
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
		l, err := xmath.BinomialMass(int64(k), int64(t.m), share, off)
		if (k-from)%width == 0 {
			numbers, chances = append(numbers, float64(k)), append(chances, 0)
		}
		chances[len(chances)-1] += math.Exp(l+err) * (1 + 1e-14)
	}
	// Those above to count as the last number.
	_, up := xmath.BinomialTail(int64(to+1), int64(t.m), share, off)
	chances[len(chances)-1] += up
	if from > 0 {
		_, up := xmath.BinomialTail(int64(t.m-from+1), int64(t.m), off, share)
		rest = up
	}
	return numbers, chances, rest
}

// maxReach is the largest ε that is looked at.
const maxReach = 100

// lowest returns an ε such that the chance of an ε above the truth is at most alpha.
//
// Proof: the end of this file. Paths that reach as far as p are the same whatever ε is tested, and their chance grows with ε.
func (p path) lowest(ctx context.Context, delta, alpha float64) (float64, error) {
	t, c := pairTest{n: p.n, m: p.m, del: delta}, reaches(alpha)
	epsilon := p.reach(t, c)
	if epsilon == 0 {
		return 0, nil
	}
	least := p.boundary(t.at(epsilon), c)
	// The logarithm of the chance, less that of alpha, is nearly straight in ε: by secants, which affect sharpness only.
	low, high, step := 0.0, math.Inf(1), 0.02*(1+epsilon)
	var atLow, atHigh float64
	for found := false; ; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		chance := t.at(epsilon).crossing(least, 32*alpha)
		if math.IsNaN(chance) {
			chance = 1 // e^ε is out of range
		}
		if chance <= alpha {
			low, atLow, found = epsilon, xmath.Log(chance/alpha), true
		} else {
			high, atHigh = epsilon, xmath.Log(chance/alpha)
		}
		switch {
		case !found && high == 0, found && (atLow > -0.004 || high-low < 1e-5*high), low >= maxReach:
			// What was tested is e^ε rounded, (1 − δ)/e^ε rounded twice: 4u.
			return max(0, low*(1-1e-12)-8*xmath.U), nil
		case !found:
			epsilon = max(0, high-step)
			step *= 2
		case math.IsInf(high, 1):
			epsilon = low + step
			step *= 2
		default:
			at := (-0.002 - atLow) / (atHigh - atLow)
			if !(at > 0.05) {
				at = 0.05
			}
			epsilon = low + (high-low)*min(0.95, at)
		}
	}
}

// Proof: all thresholds at once.
//
// ε. Go down the list of all scores. N_j is how many members are strictly above the score of other j + 1,
// counted from the highest, as j = 0, 1, … others are above. Let V_j be the chance that a new non-member's score is
// at least that score, ties broken at random, so that V_0 ≤ V_1 ≤ … are the order statistics of m uniform numbers.
// Under (ε, δ) the chance of a member above it is at most h(V_j) with h(x) = min(1, e^ε·x + δ).
//
// The extremal path. Give member i a uniform number U_i such that its score is above s only if U_i is at most the
// chance of that (its rank, with ties at random). Then N_j ≤ N*_j = #{i: U_i ≤ h(V_j)} for all j together, and the
// law of N* is known: a member is at the very top with probability δ (U_i ≤ δ), and else uniform on V < c = (1 −
// δ)/e^ε. So the number A at the top is Bin(n, δ), the number k of others below c is Bin(m, c), and the n − A
// members and k others there come in uniformly random order. A set of paths that is closed upwards is no likelier
// under any (ε, δ)-private mechanism than under the extremal path.
//
// The reach of a path. Each (i, j) has, for each ε, a statistic that grows with i and falls with ε: the signed
// root of the likelihood ratio of i of n and j of m against the rates that (ε, δ) allows, less a little where j is
// far from 3 % of m; where nδ is 1 or more, i counts less nδ + 3√(nδ(1 − δ)). Its reach is the largest ε at which
// the statistic is at least c, a number that the confidence alone determines, and the reach of a path is the largest
// of it. The paths that reach as far as the observed one are those with N_j ≥ b_j for some j, where b_j is the least
// i at which (i, j′), j′ ≥ j, does.
//
// The bound is an ε at which the extremal path reaches as far with a probability of at most α. That probability
// grows with ε, because h does and the path with it. So if the bound is above the truth ε*, the extremal path of ε*
// reaches as far with a probability of at most α, and so does the path of the mechanism, as these sets of paths are
// closed upwards. They are nested, so that the chance of such a reach is at most α. Nothing is paid for the search
// of the ε, which is by secants, nor for c. (The reach is lowered by 1e-6 and b_j found with c lowered by 1e-7 of
// it, more than the rounding of a statistic: a few more paths count. TestAllThresholdsEnumerated counts all
// orders.)
//
// Its probability. A beginning of the random order with i members and j others has, in any order, the probability
// r(i, j) = Σ_k P[Bin(m, c) = k]·(n′)_i·(k)_j/(n′+k)_{i+j}, n′ = n − A and (x)_i = x(x−1)⋯(x−i+1). The number of
// beginnings that reach the boundary first at (b_j, j) is counted by a walk of independent coins, which gives each
// of them the same p^i·(1−p)^j: their sum over j, times r(b_j, j)/(p^{b_j}(1−p)^j), is the answer. All terms are
// positive, so that its rounding is a factor, which is counted; the walk's smallest states are dropped and their
// chance is added. Where A or k have many values, several are taken together with the largest A and the smallest k,
// which put the path higher (taking others away from a path never lowers it). Tails of A and k that are left out
// count as reached. The path ends at half of the others, or earlier where there are many (at 2^23/n of them, and not
// before 256): a choice that the scores do not make.
//
// The complement is tested in the same way from the lowest scores up, with a quarter of 1 − confidence, and the
// larger bound counts.
//
// Simulated a thousand times for each of 12 pairs (20 to 80 members, with and without δ and ties) at confidence
// 0.8, where 200 may be wrong, the bound of ε was above the truth at most 190 times, that of μ 19, the band 105
// (TestAllThresholdsCoverage).
