// Votes by a rule, for results that can be reproduced without data.

package ballots

import "github.com/dpaccountant/accountant/internal/fault"

// SynthS1 returns the synthetic votes of rule S1: histograms of every shape
// from unanimous to spread out, made by integer arithmetic alone, so that
// results can be reproduced without any data set. Query k prefers the class
// (7k+3) mod m, with N − ⌊6N·u³/10^10⌋ votes, u = (7919k+17) mod 1000; each
// following class takes half (rounded up) of what remains.
func SynthS1(teachers int64, classes, queries int) (*Votes, error) {
	if err := CheckTeachers(teachers); err != nil {
		return nil, err
	}
	if classes < 2 || classes > 1_000_000 {
		return nil, fault.New("classes", "%d is not in [2, 1000000]", classes)
	}
	if queries < 1 || queries > maxEntries/classes {
		return nil, fault.New("queries", "%d is not in [1, %d]", queries, maxEntries/classes)
	}
	counts := make([]int64, classes*queries)
	for k := range queries {
		row := counts[k*classes : (k+1)*classes]
		c := (7*k + 3) % classes
		x := int64((7919*k + 17) % 1000)
		top := teachers - 6*teachers*x*x*x/10_000_000_000
		rest := teachers - top
		row[c] = top
		for i := 1; i <= classes-2; i++ {
			n := (rest + 1) / 2
			row[(c+i)%classes] = n
			rest -= n
		}
		row[(c+classes-1)%classes] += rest
	}
	return newVotes(counts, classes, teachers)
}
