package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/tables"
	"github.com/dpaccountant/accountant/labeldp"
)

// This file reads a CSV file row by row, counts its column of labels or writes it anew with
// noisy ones. Every row comes out, in its place, or none does.

// A labelPass reads the column once: to count it, or to randomize it.
type labelPass struct {
	job  *labelJob
	r    *labeldp.Randomizer // its labels are those of the column
	src  rand.Source
	read func(bytes int) // tells how far the file is read
	n    int64

	counts  [][]int64        // by group and label
	groups  map[string]int   // the groups met, or those to expect
	methods []labeldp.Method // by group; r for all of them if there are none

	seen map[string]int // texts of labels met
}

// maxGroups bounds the groups of a file.
const maxGroups = 1 << 16

// group returns the number of a group, which is new only where groups are counted.
func (p *labelPass) group(text string) (int, error) {
	g, ok := p.groups[text]
	if ok {
		return g, nil
	}
	if p.methods != nil {
		return 0, fmt.Errorf("%s is new, it was not there when groups were counted", show(text))
	}
	if g = len(p.groups); g >= maxGroups {
		return 0, fmt.Errorf("more than %d groups", maxGroups)
	}
	p.groups[strings.Clone(text)] = g
	p.counts = append(p.counts, make([]int64, len(p.r.Labels())))
	return g, nil
}

// printer returns what draws a noisy label, as text, from the label of index i or, for
// continuous ones, from y.
func (p *labelPass) printer(m labeldp.Method) func(i int, y float64) (string, error) {
	r, ok := m.(*labeldp.Randomizer)
	if !ok {
		return func(_ int, y float64) (string, error) {
			v, err := m.Sample(y, p.src)
			return strconv.FormatFloat(v, 'g', -1, 64), err
		}
	}
	var texts []string
	for _, v := range r.Outputs() {
		if text := strconv.FormatFloat(v, 'g', -1, 64); p.job.names == nil {
			texts = append(texts, text)
		} else {
			texts = append(texts, p.job.names[int(v)])
		}
	}
	return func(i int, _ float64) (string, error) { return texts[r.SampleIndex(i, p.src)], nil }
}

// labelSeen bounds how many spellings of labels are remembered.
const labelSeen = 1 << 14

func (p *labelPass) rows(ctx context.Context, w io.Writer) error {
	if p.job.stdin != nil {
		return p.rowsOf(ctx, bytes.NewReader(p.job.stdin), w)
	}
	f, err := openInput(p.job.in)
	if err != nil {
		return err
	}
	defer f.Close()
	return p.rowsOf(ctx, f, w)
}

// rowsOf is rows for the contents of the file. It is long because a row is read, judged and
// written in one pass.
func (p *labelPass) rowsOf(ctx context.Context, r io.Reader, w io.Writer) error {
	path := inputName(p.job.in)
	blank := blankLines{r: r}
	lines := bufio.NewReaderSize(&blank, 1<<16)
	mark := ""
	if start, _ := lines.Peek(len(tables.ByteOrderMark)); string(start) == tables.ByteOrderMark {
		mark = tables.ByteOrderMark
		lines.Discard(len(mark))
	}
	in := csv.NewReader(lines)
	in.ReuseRecord = true
	header, err := in.Read()
	if err == io.EOF {
		return fault.New(path, "is empty, must have a header")
	}
	if err != nil {
		return labelCSVError(path, err)
	}
	blank.after(in, header)
	place := func(flag, column string) (int, error) {
		at := slices.Index(header, column)
		if at < 0 {
			// What the first line has is private where it is no header, and is not shown.
			hint := fmt.Sprintf("its first line has %d columns", len(header))
			if near := nearest.Word(column, header); near != "" {
				hint = fmt.Sprintf("did you mean %s?", show(near))
			}
			return at, fmt.Errorf("--%s: %s is not in %s; %s", flag, show(column), path, hint)
		}
		return at, nil
	}
	at, err := place("column", p.job.column)
	if err != nil {
		return err
	}
	byGroup := -1
	if p.job.group != "" {
		if byGroup, err = place("group", p.job.group); err != nil {
			return err
		}
	}
	var out *csv.Writer
	var draw []func(int, float64) (string, error)
	if w == nil {
		p.groups, p.counts = map[string]int{}, nil
	} else {
		if _, err := io.WriteString(w, mark); err != nil {
			return err
		}
		out = csv.NewWriter(w)
		if err := out.Write(header); err != nil {
			return err
		}
		for _, m := range p.methods {
			draw = append(draw, p.printer(m))
		}
		if p.methods == nil {
			draw, byGroup = append(draw, p.printer(p.r)), -1
		}
	}
	p.seen = make(map[string]int)
	rounder := labeldp.NewRounder(p.r)
	for p.n = 0; ; p.n++ {
		rec, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return labelCSVError(path, err)
		}
		if line := blank.before(in); line > 0 {
			return fmt.Errorf("%s:%d: is blank, must be a row", path, line)
		}
		blank.after(in, rec)
		i, y, err := p.label(rec[at], rounder)
		if err != nil {
			line, _ := in.FieldPos(at)
			return fmt.Errorf("%s:%d: %s: %w; what stands there is private and not shown", path, line, p.job.column, err)
		}
		g := 0
		if byGroup >= 0 || out == nil {
			text := ""
			if byGroup >= 0 {
				text = rec[byGroup]
			}
			if g, err = p.group(text); err != nil {
				line, _ := in.FieldPos(max(byGroup, 0))
				return fmt.Errorf("%s:%d: %s: %w", path, line, p.job.group, err)
			}
		}
		if out == nil {
			p.counts[g][i]++
		} else {
			if rec[at], err = draw[g](i, y); err != nil {
				line, _ := in.FieldPos(at)
				return fmt.Errorf("%s:%d: %s: %w", path, line, p.job.column, err)
			}
			if err := out.Write(rec); err != nil {
				return err
			}
		}
		if p.n%4096 == 0 {
			p.read(int(in.InputOffset()))
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	if p.n == 0 {
		return fault.New(path, "has no rows below the header")
	}
	// Blank lines at the end are no rows, unless a row is one label.
	if line := blank.last(); line > 0 && len(header) == 1 {
		return fmt.Errorf("%s:%d: %s: is empty", path, line, p.job.column)
	}
	p.read(int(in.InputOffset()))
	if out != nil {
		out.Flush()
		return out.Error()
	}
	return nil
}

// blankLines finds the blank lines of a CSV file, which encoding/csv leaves out. In
// a file of one column each is a row with an empty label.
type blankLines struct {
	r     io.Reader
	feeds int  // line feeds read
	inner bool // whether the last line read has no line feed
	next  int  // the line after the latest record
}

// Read implements io.Reader.
func (b *blankLines) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.feeds += bytes.Count(p[:n], []byte("\n"))
	if n > 0 {
		b.inner = p[n-1] != '\n'
	}
	return n, err
}

// after is told a record that was read.
func (b *blankLines) after(in *csv.Reader, rec []string) {
	line, _ := in.FieldPos(len(rec) - 1)
	b.next = line + 1 + strings.Count(rec[len(rec)-1], "\n")
}

// before returns the line of a blank line above the record that was read, or 0.
func (b *blankLines) before(in *csv.Reader) int {
	if line, _ := in.FieldPos(0); line > b.next {
		return b.next
	}
	return 0
}

// last returns the line of a blank line at the end of the file, or 0.
func (b *blankLines) last() int {
	lines := b.feeds
	if b.inner {
		lines++
	}
	if lines >= b.next {
		return b.next
	}
	return 0
}

// label returns the index of the label a text stands for, rounded if asked, and the label
// itself. The label is private: no error shows it.
func (p *labelPass) label(text string, rounder labeldp.Rounded) (int, float64, error) {
	labels := p.r.Labels()
	if i, ok := p.seen[text]; ok {
		return i, labels[i], nil
	}
	i, y, ok := 0, 0.0, false
	if p.job.names != nil {
		i = slices.Index(p.job.names, strings.TrimSpace(text))
		if ok = i >= 0; !ok {
			return 0, 0, fmt.Errorf("is not one of the %d classes", len(p.job.names))
		}
		y = labels[i]
	} else {
		var err error
		if y, err = labelNumber(text); err != nil {
			return 0, 0, errors.New("is not a finite number")
		}
		i, ok = slices.BinarySearchFunc(labels, y, cmp.Compare[float64])
	}
	if ok {
		if len(p.seen) < labelSeen {
			p.seen[strings.Clone(text)] = i
		}
		return i, y, nil
	}
	if p.job.round {
		i, err := rounder.Round(y, p.src)
		if err != nil {
			return 0, 0, fmt.Errorf("is not in [%v, %v]", labels[0], labels[len(labels)-1])
		}
		return i, y, nil
	}
	return 0, 0, fmt.Errorf("is not one of the %d labels in [%v, %v] (--round allows labels between)", len(labels), labels[0], labels[len(labels)-1])
}
