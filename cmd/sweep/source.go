package sweep

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/plan"
)

// Where plans come from: in order, one at a time, from any place on. A source keeps one plan.

// A Source hands out the plans from one on, counted from 0. What is wrong with a plan is in the variant; an error is about
// the source, and comes last.
type Source func(from int64) iter.Seq2[plan.Variant, error]

// OfGrid returns the plans of a grid.
func OfGrid(g *plan.Grid) Source {
	return func(from int64) iter.Seq2[plan.Variant, error] {
		return func(yield func(plan.Variant, error) bool) {
			for i := from; i < g.Len(); i++ {
				if !yield(g.At(i), nil) {
					return
				}
			}
		}
	}
}

// OfLines returns the plans of a text with one on each line, as JSON or YAML in braces.
// A blank line is a plan with an error, so that the index of an answer is that of its line.
func OfLines(r io.ReadSeeker) Source {
	return func(from int64) iter.Seq2[plan.Variant, error] {
		return func(yield func(plan.Variant, error) bool) {
			_, err := r.Seek(0, io.SeekStart)
			in := bufio.NewReaderSize(r, 1<<16)
			for i := int64(0); err == nil; i++ {
				var line []byte
				var long bool
				line, long, err = ReadLine(in, plan.MaxSize+2)
				switch {
				case err == io.EOF && len(line) == 0 && !long: // no last line without an end
					return
				case err != nil && err != io.EOF, i < from:
				case !yield(onLine(line, long), nil):
					return
				}
			}
			if err != io.EOF {
				yield(plan.Variant{}, err)
			}
		}
	}
}

// onLine returns the plan of a line, or of one that is longer than a plan may be.
func onLine(line []byte, long bool) plan.Variant {
	if long {
		return plan.Variant{Err: &plan.Error{Problem: fmt.Sprintf("is larger than %d bytes", plan.MaxSize)}}
	}
	return plan.ParseVariant(bytes.TrimRight(line, "\r\n"))
}

// ReadLine returns a line of at most so many bytes with its line feed, or tooLong after the end of one that is.
func ReadLine(r *bufio.Reader, most int) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > most {
			line, tooLong = nil, true
		}
		if err != bufio.ErrBufferFull {
			return line, tooLong, err
		}
	}
}

// Plans that share a running total: those of one shape, the shortest first. Adding what the next
// one has more costs less than starting anew, because tables of transforms serve it too.

// maxChain bounds the plans that share a total, so that other cores have work as well. It is
// part of what answers depend on, in their last digits.
const maxChain = 256

// A task is a plan of a window and its answers. done is closed when they are there.
type task struct {
	plan.Variant
	runs    []leaf
	answers []Answer // none where err is set
	err     error
	done    chan struct{}
	skip    bool // its answers are not told
}

// A leaf is a step that no other step contains, and how often it runs in all.
type leaf struct {
	step  accountant.Step
	path  string
	count int64
}

// leaves appends the leaves of steps that run so many times. A plan that was read has no more
// than 2^53 runs, so that no product overflows.
func leaves(steps []accountant.Step, times int64, path string, to []leaf) []leaf {
	for i, s := range steps {
		at := fmt.Sprintf("%ssteps[%d]", path, i)
		count := times * max(s.Count, 1)
		if s.Mechanism == nil && s.Selection == nil && s.Disjoint == nil {
			to = leaves(s.Steps, count, at+": ", to)
			continue
		}
		s.Count = 1
		to = append(to, leaf{s, at, count})
	}
	return to
}

// compareRuns orders plans of one shape by their counts.
func compareRuns(a, b *task) int {
	return slices.CompareFunc(a.runs, b.runs, func(x, y leaf) int { return cmp.Compare(x.count, y.count) })
}

// chains splits the tasks of a window into those that share a total, in the order of their
// first plans. Calibrations share none.
func (q Question) chains(window []*task) [][]*task {
	var all [][]*task
	at := map[string]int{}
	for _, t := range window {
		if t.Err != nil || len(q.Goals) > 0 {
			all = append(all, []*task{t})
			continue
		}
		i, ok := at[t.Shape]
		if !ok || len(all[i]) == maxChain {
			i = len(all)
			at[t.Shape] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], t)
	}
	return all
}

// answer answers the tasks of a chain, and closes each of them.
func (q Question) answer(ctx context.Context, chain []*task) {
	for _, t := range chain {
		if t.Err == nil {
			t.runs = leaves(t.Plan.Steps, 1, "", nil)
		}
	}
	slices.SortStableFunc(chain, compareRuns)
	var total *accountant.Accountant
	var held *task // what total holds
	for _, t := range chain {
		switch {
		case t.Err != nil:
			t.err = t.Err
		case len(q.Goals) > 0:
			t.answers = q.calibrate(ctx, t.Plan)
		case held != nil && compareRuns(held, t) == 0:
			t.answers, t.err = held.answers, held.err
		default:
			if held != nil && !contains(t.runs, held.runs) {
				total, held = nil, nil
			}
			if total, t.answers, t.err = q.next(ctx, total, held, t); total == nil {
				held = nil
			} else {
				held = t
			}
		}
		close(t.done)
	}
}

// contains reports whether each leaf of a plan runs at least as often as in another of its shape.
func contains(runs, others []leaf) bool {
	for i, r := range runs {
		if r.count < others[i].count || r.step.Disjoint != nil && r.count != others[i].count { // each run is on the same parts
			return false
		}
	}
	return true
}

// next answers about a plan by a total that holds a shorter one, or by a new one if there is
// none. It returns the total, nil after an error.
func (q Question) next(ctx context.Context, total *accountant.Accountant, held, t *task) (*accountant.Accountant, []Answer, error) {
	var answers []Answer
	err := guarded(func() (err error) {
		if total == nil {
			total = t.Plan.Accountant(q.Options...)
		}
		for i, r := range t.runs {
			more := r.count
			if held != nil {
				more -= held.runs[i].count
				r = held.runs[i] // the same mechanism, which the total may know by its pointer
				t.runs[i].step = r.step
			}
			if more == 0 {
				continue
			}
			if err := total.Add(ctx, r.step, more); err != nil {
				return fault.In(r.path, err)
			}
		}
		answers, err = q.curve(ctx, total)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return total, answers, nil
}
