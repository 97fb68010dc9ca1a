// Package votes reads and writes files of teachers' votes, for the experiments that need real ones.
// A file is gzip-compressed text. Lines that begin with # say where the votes are from. Every other
// line is a query: its right label, a blank, and the votes of the teachers in their order, one
// digit each ("7 77717").
package votes

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"

	"github.com/dpaccountant/accountant/lab/try"
)

// A Query is one image with its right label and the label that each teacher votes for.
type Query struct {
	Label int
	Votes []int
}

// Counts returns how many teachers vote for each of so many labels.
func (q Query) Counts(labels int) []int {
	out := make([]int, labels)
	for _, v := range q.Votes {
		out[v]++
	}
	return out
}

// Read returns the queries of a file. Labels and votes are in [0, 9], and each query has the
// same number of votes.
func Read(path string) (out []Query, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return out, lines(path, data, func(line string) error {
		label, cast, ok := strings.Cut(line, " ")
		if !ok || len(label) != 1 || strings.Trim(label+cast, "0123456789") != "" || len(out) > 0 && len(cast) != len(out[0].Votes) {
			return fmt.Errorf("%q is not a label and votes", line)
		}
		q := Query{Label: int(label[0] - '0')}
		for _, v := range cast {
			q.Votes = append(q.Votes, int(v-'0'))
		}
		out = append(out, q)
		return nil
	})
}

// Write writes the queries, with lines about them, to a file: whole or not at all.
func Write(path string, about []string, queries []Query) {
	write(path, about, func(b *bytes.Buffer) {
		for _, q := range queries {
			fmt.Fprintf(b, "%d ", q.Label)
			for _, v := range q.Votes {
				fmt.Fprintf(b, "%d", v)
			}
			b.WriteByte('\n')
		}
	})
}

// lines is read for what a file of this path holds.
func lines(path string, data []byte, each func(line string) error) error {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	lines := bufio.NewScanner(z)
	for n := 1; lines.Scan(); n++ {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		if err := each(lines.Text()); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return lines.Err()
}

// write writes a compressed file: lines about it as comments, then what fill writes.
func write(path string, about []string, fill func(b *bytes.Buffer)) {
	var text, b bytes.Buffer
	for _, line := range about {
		fmt.Fprintf(&text, "# %s\n", line)
	}
	fill(&text)
	z := try.Must(gzip.NewWriterLevel(&b, gzip.BestCompression))
	try.Must(z.Write(text.Bytes()))
	try.Check(z.Close())
	part := path + ".part"
	try.Check(os.WriteFile(part, b.Bytes(), 0o644))
	try.Check(os.Rename(part, path))
}
