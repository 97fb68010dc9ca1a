package ballots

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// npy builds a file from a header dictionary and its data.
func npy(version byte, header string, data ...byte) string {
	b := []byte(npyMagic)
	b = append(b, version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return string(append(append(b, header...), data...))
}

func dict(descr, fortran, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, fortran, shape)
}

// §7.8 item 12: CSV and NPY, of every type and order, give the same table.
func TestFormatsAgree(t *testing.T) {
	v := must(SynthS1(250, 10, 640))
	same := func(name string, w *Votes) {
		t.Helper()
		if w.Queries() != 640 || w.Classes() != 10 || w.Teachers() != 250 {
			t.Fatalf("%s: shape (%d, %d) of %d teachers", name, w.Queries(), w.Classes(), w.Teachers())
		}
		for i, n := range w.cells {
			if n != v.cells[i] {
				t.Fatalf("%s: entry %d is %d, want %d", name, i, n, v.cells[i])
			}
		}
	}
	var b bytes.Buffer
	if err := v.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	same("CSV", must(ReadVotes(strings.NewReader("# a comment\n\n"+strings.ReplaceAll(b.String(), "\n", " \r\n")), Format{})))
	same("CSV with a header", must(ReadVotes(strings.NewReader("\ufeffzero,one,\"two, or 2\",three,four,five,six,seven,eight,_9\n"+b.String()), Format{})))
	b.Reset()
	if err := v.WriteNPY(&b); err != nil {
		t.Fatal(err)
	}
	if at := bytes.IndexByte(b.Bytes(), '\n') + 1; at%64 != 0 {
		t.Errorf("the data starts at byte %d", at)
	}
	same("NPY", must(ReadVotes(&b, Format{})))
	for _, d := range []string{"|u1", "<u2", ">u2", "<i2", "<u4", ">u4", "<i4", "<u8", "<i8", ">i8", "<f4", "<f8", ">f8"} {
		for _, fortran := range []bool{false, true} {
			for version := byte(1); version <= 3; version++ {
				typ := must(parseDescr(d))
				var data []byte
				put := func(n int64) {
					x := reflect.ValueOf(n).Convert(typ.of)
					data = must(binary.Append(data, typ.order, x.Interface()))
				}
				h := dict(d, "False", "(640, 10)")
				if fortran {
					h = `{"shape": (640,10), "fortran_order":True, "descr":"` + d + `"}`
					for j := range 10 {
						for i := range 640 {
							put(v.Row(i)[j])
						}
					}
				} else {
					for _, n := range v.cells {
						put(n)
					}
				}
				same(d, must(ReadVotes(strings.NewReader(npy(version, h, data...)), Format{})))
			}
		}
	}
	// Labels: every teacher's label, one row per teacher.
	labels := make([][]int64, 250)
	for i := range v.Queries() {
		teacher := 0
		for class, n := range v.Row(i) {
			for range n {
				labels[teacher] = append(labels[teacher], int64(class))
				teacher++
			}
		}
	}
	same("labels", must(FromLabels(labels, 10)))
	var text strings.Builder
	for _, row := range labels {
		text.WriteString(strings.Trim(strings.ReplaceAll(fmt.Sprint(row), " ", ","), "[]") + "\n")
	}
	same("labels in CSV", must(ReadVotes(strings.NewReader(text.String()), Format{Labels: true, Classes: 10})))
}

func TestReadAnswered(t *testing.T) {
	for _, c := range []struct {
		text string
		want []bool
	}{
		{"1\n0\n1\n", []bool{true, false, true}},
		{"query\n2\n0\n", []bool{true, false, true}},
		{"1\n", []bool{false, true, false}},
	} {
		got, err := ReadAnswered(strings.NewReader(c.text), 3)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: %v %v, want %v", c.text, got, err, c.want)
		}
	}
}

func TestReadScores(t *testing.T) {
	s := must(ReadScores(strings.NewReader("0.25,0.75\n1,0\n"), 100, false))
	w := must(ReadScores(strings.NewReader("25,75\n100,0\n"), 100, true))
	if fmt.Sprint(s.cells) != "[25 75 100 0]" || fmt.Sprint(w.cells) != fmt.Sprint(s.cells) {
		t.Errorf("%v, %v", s.cells, w.cells)
	}
}

// No row is dropped because it is misspelled: the first line is a header where every cell is a name, and an
// error otherwise.
func TestFirstRow(t *testing.T) {
	labels := Format{Labels: true, Classes: 5}
	for _, first := range []string{
		"x,1", "1,x", "1e999,1", "3;1;0", "3_0,1", "0x3,1", "3 0,1", "1e,1", "NaN,inf", "NA,n/a", "x,x", "\"x,1", "1st,2nd", "class0,1", ",b", "a,", "a,\"b\u0007\"",
	} {
		for _, f := range []Format{{}, labels} {
			v, err := ReadVotes(strings.NewReader("# votes\n"+first+"\n3,1\n"), f)
			if err == nil || !strings.Contains(err.Error(), "line 2: ") {
				t.Errorf("%q: %v, error %v; want one of line 2", first, v, err)
			}
		}
		if s, err := ReadScores(strings.NewReader(first+"\n0.75,0.25\n"), 4, false); err == nil || !strings.Contains(err.Error(), "line 1: ") {
			t.Errorf("%q: %v, error %v; want one of line 1", first, s, err)
		}
	}
	for _, first := range []string{"x", "O", "1e999", "3;1;0", "0_1", "nan", "true", "-", "0b1"} {
		if a, err := ReadAnswered(strings.NewReader(first+"\n1\n0\n"), 3); err == nil || !strings.Contains(err.Error(), "line 1: ") {
			t.Errorf("%q: %v, error %v; want one of line 1", first, a, err)
		}
	}
	for _, header := range []string{"cat,dog", "class 0,class 1", "a,b", "_0,_1", "\"cat, or kitten\",dog", "Katze,Käfer", "\ufeffcat,dog"} {
		v, err := ReadVotes(strings.NewReader(header+"\n03,1\n"), Format{})
		if err != nil || fmt.Sprint(v.Row(0)) != "[3 1]" {
			t.Errorf("%q: %v, error %v; want a header", header, v, err)
		}
	}
	if _, err := ReadVotes(strings.NewReader("a,b,c\n3,1\n"), Format{}); err == nil {
		t.Error("a header of three columns above rows of two is accepted")
	}
}

// zeros is an endless line.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// A line that is too long is an error that says so; nothing of it is dropped.
func TestLongLine(t *testing.T) {
	_, err := ReadVotes(io.MultiReader(strings.NewReader("1,2\n"), zeros{}), Format{})
	if want := "votes: line 2: is longer than 67108864 bytes"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}
