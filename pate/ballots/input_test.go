package ballots

import (
	"strings"
	"testing"
)

func TestBadInput(t *testing.T) {
	votes := must(NewVotes([][]int64{{8, 2}, {5, 5}}, 0))
	read := func(s string, f Format) func() error {
		return func() error { _, err := ReadVotes(strings.NewReader(s), f); return err }
	}
	counts := func(s string) func() error { return read(s, Format{}) }
	for i, c := range []struct {
		want string
		do   func() error
	}{
		{"votes: has no rows, must have one per query", func() error { _, err := NewVotes(nil, 0); return err }},
		{"votes: classes: 1 is not in [2, +Inf)", func() error { _, err := NewVotes([][]int64{{3}}, 0); return err }},
		{"votes: row 2: 3 columns are not the 2 of row 1", func() error { _, err := NewVotes([][]int64{{1, 2}, {1, 1, 1}}, 0); return err }},
		{"votes: row 2: column 1: -1 is not in [0, 1000000000]", func() error { _, err := NewVotes([][]int64{{1, 2}, {-1, 4}}, 0); return err }},
		{"votes: row 2: 4 votes are not the 3 of row 1 (give the number of teachers if some abstain)", func() error { _, err := NewVotes([][]int64{{1, 2}, {2, 2}}, 0); return err }},
		{"votes: row 2: 4 votes are not in [0, 3], the number of teachers", func() error { _, err := NewVotes([][]int64{{1, 2}, {2, 2}}, 3); return err }},
		{"votes: row 1: has no votes", func() error { _, err := NewVotes([][]int64{{0, 0}}, 0); return err }},
		{"teachers: -1 is not in [1, 1000000000]", func() error { _, err := NewVotes([][]int64{{1, 0}}, -1); return err }},
		{"votes: row 1: the votes sum to more than 1000000000", func() error { _, err := NewVotes([][]int64{{1e9, 1e9}}, 0); return err }},
		{"queries: 3 is not in [1, 2]", func() error { _, err := votes.First(3); return err }},
		{"labels: row 2: column 1: 2 is not in [0, 1]", func() error { _, err := FromLabels([][]int64{{0}, {2}}, 2); return err }},
		{"labels: row 2: 2 columns are not the 1 of row 1", func() error { _, err := FromLabels([][]int64{{0}, {1, 1}}, 2); return err }},
		{"classes: 1 is not in [2, 1000000]", func() error { _, err := FromLabels([][]int64{{0}}, 1); return err }},
		{"votes: has no rows", counts("")},
		{"votes: has no rows", counts("a,b\n# nothing\n")},
		{"votes: line 3: 3 columns are not the 2 of the first row", counts("a,b\n1,2\n1,2,3\n")},
		{"votes: line 2: column 2: \"x\" is not a finite number", counts("1,2\n1,x\n")},
		{"votes: line 1: column 2: \"NaN\" is not a finite number", counts("1,NaN\n")},
		{"votes: line 1: column 1: \"\" is not a finite number (a header has a name in every column)", counts(",1\n")},
		{"votes: row 1: column 2: 0.5 is not an integer in [0, 1000000000]", counts("1,0.5\n")},
		{"votes: row 1: column 1: 1e+12 is not an integer in [0, 1000000000]", counts("1e12,1\n")},
		{"votes: row 2: column 1: -1 is not in [0, 1000000000]", counts("1,1\n-1,3\n")},
		{"classes: 3 is given, must be absent for counts", read("1,1\n", Format{Classes: 3})},
		{"teachers: 3 is given, must be absent for labels", read("1,1\n", Format{Labels: true, Classes: 3, Teachers: 3})},
		{"classes: 0 is not in [2, 1000000]", read("1,1\n", Format{Labels: true})},
		{"votes: npy: the file ends in its header", counts(npyMagic)},
		{"votes: npy: version: 9 is not in [1, 3]", counts(npy(9, ""))},
		{"votes: npy: header: \"[]\" is not a dictionary", counts(npy(1, "[]"))},
		{"votes: npy: header: it must have the keys descr, fortran_order and shape", counts(npy(1, "{'descr': '<i8'}"))},
		{"votes: npy: header: key \"x\" is not in [descr, fortran_order, shape]", counts(npy(1, "{'x': 1}"))},
		{"votes: npy: header: fortran_order: \"0, 'shape': (1, 2),\" is not in [True, False]", counts(npy(1, dict("<i8", "0", "(1, 2)")))},
		{"votes: npy: header: shape: \"-1\" is not a non-negative integer", counts(npy(2, dict("<i8", "False", "(-1, 2)")))},
		{"votes: npy: descr: \"|O\" is not in [u1, i1, u2, i2, u4, i4, u8, i8, f4, f8] with <, > or |", counts(npy(1, dict("|O", "False", "(1, 2)")))},
		{"votes: npy: shape: 3 dimensions are not 2", counts(npy(1, dict("|u1", "False", "(1, 2, 3)")))},
		{"votes: npy: shape: (1000000000, 1000000000) is not in [1, 100000000] entries", counts(npy(1, dict("|u1", "False", "(1000000000, 1000000000)")))},
		{"votes: npy: the data ends after 1 of 2 entries", counts(npy(1, dict("|u1", "False", "(1, 2)"), 5))},
		{"votes: npy: there is data after the 2 entries of shape (1, 2)", counts(npy(1, dict("|u1", "False", "(1, 2)"), 5, 5, 5))},
		{"votes: npy: entry 1: NaN is not finite", counts(npy(1, dict("<f4", "False", "(1, 2)"), 0, 0, 0xc0, 0x7f, 0, 0, 0, 0))},
		{"votes: npy: header: 16777216 bytes are not in [0, 1048576]", counts(npyMagic + "\x02\x00\x00\x00\x00\x01")},
		{"baseline: row 1: column 2: -0.5 is not in [0, 1]", func() error { _, err := NewScores([][]float64{{1.0, -.5}}, 10, false); return err }},
		{"baseline: row 1: the scores sum to 1.5, must sum to 1", func() error { _, err := NewScores([][]float64{{.75, .75}}, 10, false); return err }},
		{"baseline: has no rows, must have one per query", func() error { _, err := NewScores(nil, 10, false); return err }},
		{"answered: row 1: 7 is not in [0, 1]", func() error { _, err := ReadAnswered(strings.NewReader("7\n"), 2); return err }},
		{"answered: row 2: query 3 is listed twice", func() error { _, err := ReadAnswered(strings.NewReader("3\n3\n"), 5); return err }},
		{"answered: 2 columns are not 1", func() error { _, err := ReadAnswered(strings.NewReader("1,0\n"), 2); return err }},
		{"teachers: 0 is not in [1, 1000000000]", func() error { _, err := SynthS1(0, 10, 10); return err }},
		{"queries: 0 is not in [1, 10000000]", func() error { _, err := SynthS1(250, 10, 0); return err }},
	} {
		err := c.do()
		if err == nil {
			t.Errorf("case %d: no error, want %q", i, c.want)
		} else if msg := err.Error(); msg != c.want && !(strings.HasPrefix(msg, c.want)) {
			t.Errorf("case %d: %q, want %q", i, msg, c.want)
		}
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
