package campaign

// A long campaign in parts: a file of JSON lines, each of them what some hundred plans came to. A campaign that
// was ended goes on after the last plan of its seed; files of several machines, each with a seed of its own, are put
// together with cat.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/dpaccountant/accountant/internal/strictjson"
	"github.com/dpaccountant/accountant/lab/try"
)

// inParts runs what a file of parts does not have yet, adds a line to the file after each part, and returns the sum of
// the whole file. Without a path it is one part, and there is no file.
func (c campaign) inParts(ctx context.Context, path string, size uint64) *result {
	if path == "" {
		return c.run(ctx)
	}
	f := try.Must(os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644))
	defer f.Close()
	sum := sumOf(f)
	end, before := c.first+c.n, len(sum.Violations)
	for c.first = max(c.first, sum.Seeds[c.seed]); c.first < end && len(sum.Violations)-before < c.most && !c.isOver(); c.first = sum.Seeds[c.seed] {
		c.n = min(size, end-c.first)
		part := c.run(ctx)
		if ctx.Err() != nil { // plans that were under way are not examined: the part is tried again
			return sum
		}
		line := try.Must(json.Marshal(part))
		try.Must(f.Write(append(line, '\n')))
		sum.join(part)
	}
	try.Check(f.Close())
	return sum
}

// sumOf adds up the lines of a file, and leaves the file where the next is written: a last line without an end, of
// a program that was killed while it wrote, is written over.
func sumOf(f *os.File) *result {
	text := try.Must(io.ReadAll(f))
	whole := bytes.LastIndexByte(text, '\n') + 1
	sum, n := newResult(), 0
	for line := range bytes.Lines(text[:whole]) {
		n++
		part := newResult()
		if err := strictjson.Decode(line, part); err != nil {
			try.Check(fmt.Errorf("%s: line %d: %w", f.Name(), n, err))
		}
		sum.join(part)
	}
	try.Check(f.Truncate(int64(whole)))
	try.Must(f.Seek(int64(whole), io.SeekStart))
	return sum
}
