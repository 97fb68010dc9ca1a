package votes

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dpaccountant/accountant/lab/logit"
	"github.com/google/go-cmp/cmp"
)

func TestWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.gz")
	want := []Row{{7, []int{7, 7, 1}}, {0, []int{0, 9, 0}}}
	Write(path, []string{"a test"}, want)
	got, err := Read(path, 0, 9)
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if c := got[0].Counts(10); c[7] != 2 || c[1] != 1 {
		t.Error(c)
	}
	Write(path, nil, []Row{{7, []int{7, 7}}, {7, []int{7}}})
	if _, err := Read(path, 0, 9); err == nil {
		t.Error("queries of unlike numbers of votes are read")
	}
	for _, bad := range []Row{{10, []int{7}}, {-1, []int{7}}, {7, []int{10}}, {7, []int{-1}}, {7, nil}} {
		Write(path, nil, []Row{bad})
		if _, err := Read(path, 0, 9); err == nil {
			t.Errorf("%+v is read", bad)
		}
	}
	if err := os.WriteFile(path, []byte(`{"Rows": [[7, 7, 7]]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, 0, 9); err == nil {
		t.Error("text that is not compressed is read")
	}
}

// The files that the lab/digits program has written: their sizes, and that the
// teachers know something.
func TestShippedVotes(t *testing.T) {
	for _, c := range []struct {
		file              string
		queries, teachers int
		labels            int
		least             float64
	}{
		{"digits-100.gz", 1000, 100, 10, .8},
		{"digits-250.gz", 1000, 250, 10, .75},
		{"digits-choosing.gz", 1000, 100, 10, .8},
		{"digits-58-shards.gz", 250, 11, 2, .85},
		{"digits-58-private.gz", 250, 11, 2, .6},
	} {
		qs, err := Read(filepath.Join("testdata", c.file), 0, c.labels-1)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for _, q := range qs {
			if len(q.Numbers) != c.teachers || q.Label >= c.labels {
				t.Fatalf("%s: %+v", c.file, q)
			}
			n := q.Counts(c.labels)
			best := 0
			for l := range n {
				if n[l] > n[best] {
					best = l
				}
			}
			if best == q.Label {
				right++
			}
		}
		share := float64(right) / float64(len(qs))
		t.Logf("%s: %.3f of the pluralities are right", c.file, share)
		if len(qs) != c.queries || share < c.least {
			t.Errorf("%s: %d queries, %v right", c.file, len(qs), share)
		}
	}
}

// Pictures come back with their pixels rounded, and those that are shipped are the queries in the
// order of the votes, and as many for the test.
func TestImages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "i.gz")
	x := make([]float64, logit.Pixels)
	x[0], x[1], x[48] = -1.98, .51, 3
	WriteImages(path, []string{"a test"}, []logit.Image{logit.New(x, 4)})
	got, err := ReadImages(path)
	x[0], x[1], x[48] = -2, .5, 2
	if want := []logit.Image{logit.New(x, 4)}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	Write(path, nil, []Row{{7, []int{7, 7}}})
	if _, err := ReadImages(path); err == nil {
		t.Error("votes are read as a picture")
	}
	images, err := ReadImages("testdata/digits-images.gz")
	if err != nil || len(images) != 2000 {
		t.Fatal(len(images), err)
	}
	qs, err := Read("testdata/digits-100.gz", 0, 9)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range qs {
		if images[i].Label != q.Label {
			t.Fatalf("query %d is a %d, its picture a %d", i, q.Label, images[i].Label)
		}
	}
}
