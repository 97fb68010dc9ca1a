package votes

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.gz")
	want := []Query{{7, []int{7, 7, 1}}, {0, []int{0, 9, 0}}}
	if err := Write(path, []string{"a test"}, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if c := got[0].Counts(10); c[7] != 2 || c[1] != 1 {
		t.Error(c)
	}
	if err := Write(path, nil, []Query{{7, []int{7, 7}}, {7, []int{7}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil {
		t.Error("queries of unlike numbers of votes are read")
	}
	if err := os.WriteFile(path, []byte("7 77"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil {
		t.Error("text that is not compressed is read")
	}
}

// The files that the experiments/digits program has written: their sizes, and that the
// teachers know something.
func TestShippedVotes(t *testing.T) {
	for _, c := range []struct {
		file              string
		queries, teachers int
		labels            int
		least             float64
	}{
		{"digits-100.gz", 1000, 100, 10, .8},
		{"digits-58-shards.gz", 250, 11, 2, .85},
		{"digits-58-private.gz", 250, 11, 2, .6},
	} {
		qs, err := Read(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for _, q := range qs {
			if len(q.Votes) != c.teachers || q.Label >= c.labels {
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
