package ballots

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// npy returns an NPY file of version 1.
func npyFile(descr string, fortran bool, rows, columns int, data []byte) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %d), }", descr, order, rows, columns)
	head += strings.Repeat(" ", 63-(len(head)+10)%64) + "\n"
	out := append([]byte(npyMagic), 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(head)))
	return append(append(out, head...), data...)
}

func seedTables(f *testing.F) {
	for _, text := range []string{
		"", "5,5\n", "class0,class1\n# a comment\n\n 3 , 7\r\n10,0\n", "\ufeff1,2,3\n4,5\n", "1e3,2\n", "0.5,0.5\n.25,.75\n", "-1,2\n", "nan,1\n", "1\n0\n1\n", "0\n2\n",
		"0,1,2,1\n1,1,2,0\n", "9223372036854775808,1\n", "1,1e309\n", "1,,2\n", strings.Repeat("1,", 300) + "1\n",
	} {
		f.Add([]byte(text), uint8(3), true)
	}
	le := func(v ...int64) (out []byte) {
		for _, x := range v {
			out = binary.LittleEndian.AppendUint64(out, uint64(x))
		}
		return out
	}
	f.Add([]byte(npy(3, dict("<f4", "True", "(1, 2)"), 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40)), uint8(0), false)
	f.Add(npyFile("<i8", false, 2, 2, le(3, 7, 10, 0)), uint8(0), false)
	f.Add(npyFile("<i8", true, 2, 2, le(3, 10, 7, 0)), uint8(0), false)
	f.Add(npyFile("|u1", false, 1, 3, []byte{1, 2, 3}), uint8(2), true)
	f.Add(npyFile("<f8", false, 1, 2, le(int64(math.Float64bits(0.5)), int64(math.Float64bits(0.5)))), uint8(0), true)
	f.Add(npyFile("|O", false, 1, 1, []byte{0x80}), uint8(0), false)
	f.Add(npyFile("<i8", false, 1<<30, 1<<30, nil), uint8(0), false)
	f.Add(npyFile("<i8", false, 3, 3, le(1)), uint8(0), false)
}

// A table of votes is read as one that can be accounted for and written again, or
// refused with an error that names it.
func FuzzReadVotes(f *testing.F) {
	seedTables(f)
	f.Fuzz(func(t *testing.T, data []byte, classes uint8, labels bool) {
		format := Format{Labels: labels}
		if labels {
			format.Classes = int(classes)
		} else if classes%2 == 1 {
			format.Teachers = 20
		}
		v, err := ReadVotes(bytes.NewReader(data), format)
		if err != nil {
			if !strings.Contains(err.Error(), ":") {
				t.Errorf("error without a field: %v", err)
			}
			return
		}
		if v.Queries() < 1 || v.Classes() < 2 || v.Teachers() < 1 {
			t.Fatalf("%d queries, %d classes, %d teachers", v.Queries(), v.Classes(), v.Teachers())
		}
		for i := range v.Queries() {
			sum := int64(0)
			for _, n := range v.Row(i) {
				if n < 0 {
					t.Fatalf("row %d: %v", i, v.Row(i))
				}
				sum += n
			}
			if sum > v.Teachers() || sum < v.Teachers() && format.Teachers == 0 {
				t.Fatalf("row %d: %d votes of %d teachers", i, sum, v.Teachers())
			}
		}
		var out bytes.Buffer
		if err := v.WriteCSV(&out); err != nil {
			t.Fatal(err)
		}
		again, err := ReadVotes(&out, Format{Teachers: v.Teachers()})
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		for i := range v.Queries() {
			for j, n := range v.Row(i) {
				if again.Row(i)[j] != n {
					t.Fatalf("row %d: %v was written, %v read", i, v.Row(i), again.Row(i))
				}
			}
		}
	})
}

// Scores are read as probabilities or votes that sum to their total, or refused.
func FuzzReadScores(f *testing.F) {
	seedTables(f)
	f.Fuzz(func(t *testing.T, data []byte, teachers uint8, votes bool) {
		s, err := ReadScores(bytes.NewReader(data), int64(teachers), votes)
		if err != nil {
			return
		}
		for i := range s.Queries() {
			sum := 0.0
			for _, x := range s.Row(i) {
				if !(x >= 0) {
					t.Fatalf("row %d: %v", i, s.Row(i))
				}
				sum += x
			}
			if !(math.Abs(sum-float64(teachers)) <= 1.1e-3*float64(teachers)) {
				t.Fatalf("row %d: scores sum to %v of %d", i, sum, teachers)
			}
		}
	})
}

// A list of answered queries has one entry for each query, or is refused.
func FuzzReadAnswered(f *testing.F) {
	seedTables(f)
	f.Fuzz(func(t *testing.T, data []byte, n uint8, _ bool) {
		a, err := ReadAnswered(bytes.NewReader(data), int(n))
		if err == nil && len(a) != int(n) {
			t.Fatalf("%d entries for %d queries", len(a), n)
		}
	})
}
