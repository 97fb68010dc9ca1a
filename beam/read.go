package beam

// This file turns files into lines, in pieces that runners may split and move, and counts
// the numbers of lines afterwards for the few that are refused.
//
// It is not textio of Beam, which does not return where a line was, which is the only
// identity that a row without an id has, and which ends a compressed file at its compressed
// size.

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
)

const (
	// maxLine bounds a line. A longer one is refused, with its beginning.
	maxLine = 1 << 24
	// shown is how much of a line that is too long a dead row has.
	shown = 1 << 10
	// pieceBytes is how much of a file is read in one piece.
	pieceBytes = 64 << 20
	// unknownEnd is the end of a compressed file, whose length is not known. Trackers add 1
	// to where they are, so that it is not the largest integer.
	unknownEnd = 1 << 62
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[readFn]())
	beam.RegisterDoFn(reflect.TypeFor[numberFn]())
	beam.RegisterDoFn(deadByFile)
}

// ReadLines returns the lines of the files that the glob matches, and those that are no
// lines of the layout: too long, or in a CSV file with another header. Blank lines of JSON
// are no rows and left out.
func ReadLines(s beam.Scope, glob string, l Layout) (lines, dead beam.PCollection) {
	s = s.Scope("ReadLines")
	files := fileio.ReadMatches(s, fileio.MatchFiles(s, glob, fileio.MatchEmptyAllow()))
	return beam.ParDo2(s, &readFn{Layout: l}, files)
}

// Header returns the first line of the first of the files that the glob matches.
func Header(ctx context.Context, glob string) (string, error) {
	fs, err := filesystem.New(ctx, glob)
	if err != nil {
		return "", err
	}
	defer fs.Close()
	files, err := fs.List(ctx, glob)
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", fmt.Errorf("%s: no file matches", glob)
	}
	slices.Sort(files)
	header, err := firstLine(ctx, files[0])
	if err == nil && header == "" {
		err = fmt.Errorf("%s: has no header", files[0])
	}
	return header, err
}

func firstLine(ctx context.Context, name string) (string, error) {
	r, err := open(ctx, name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	line, _, _, err := nextLine(bufio.NewReaderSize(r, 1<<16))
	if err != nil && err != io.EOF {
		return "", err
	}
	return strings.TrimPrefix(line, "\ufeff"), nil
}

func open(ctx context.Context, name string) (io.ReadCloser, error) {
	return fileio.ReadableFile{Metadata: fileio.FileMetadata{Path: name}}.Open(ctx)
}

// nextLine returns a line without its end, how many bytes it took, and whether it is too
// long, in which case it is cut. At the end of the file err is io.EOF, and size that of a
// last line without a line feed.
func nextLine(r *bufio.Reader) (line string, size int64, long bool, err error) {
	var b []byte
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		if !long {
			b = append(b, part...)
		}
		if len(b) > maxLine {
			b, long = b[:shown], true
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && err != io.EOF {
			return "", size, long, err
		}
		text := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
		return text, size, long, err
	}
}

// readFn reads the lines that begin in a piece of a file.
type readFn struct{ Layout Layout }

// CreateInitialRestriction is the whole file. The length of a compressed file is not known.
func (fn *readFn) CreateInitialRestriction(f fileio.ReadableFile) offsetrange.Restriction {
	if path.Ext(f.Metadata.Path) == ".gz" {
		return offsetrange.Restriction{Start: 0, End: unknownEnd}
	}
	return offsetrange.Restriction{Start: 0, End: f.Metadata.Size}
}

// SplitRestriction makes the pieces. A compressed file is read from its beginning, in one.
func (fn *readFn) SplitRestriction(_ fileio.ReadableFile, r offsetrange.Restriction) []offsetrange.Restriction {
	if r.End == unknownEnd {
		return []offsetrange.Restriction{r}
	}
	return r.SizedSplits(pieceBytes)
}

// RestrictionSize is the work in a piece.
func (fn *readFn) RestrictionSize(f fileio.ReadableFile, r offsetrange.Restriction) float64 {
	if r.End == unknownEnd {
		return float64(f.Metadata.Size)
	}
	return r.Size()
}

// CreateTracker tracks what is read of a piece.
func (fn *readFn) CreateTracker(r offsetrange.Restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(offsetrange.NewTracker(r))
}

// ProcessElement returns the lines that begin in the piece, the header left out.
func (fn *readFn) ProcessElement(ctx context.Context, rt *sdf.LockRTracker, f fileio.ReadableFile, emit func(Line), refuse func(Dead)) error {
	header := fn.Layout.Header
	if fn.Layout.Format == CSV {
		var err error
		if header, err = firstLine(ctx, f.Metadata.Path); err != nil {
			return err
		}
	}
	rc, err := f.Open(ctx)
	if err != nil {
		return err
	}
	defer rc.Close()
	in := bufio.NewReaderSize(rc, 1<<16)
	end := rt.GetRestriction().(offsetrange.Restriction).End
	at := rt.GetRestriction().(offsetrange.Restriction).Start
	if at > 0 {
		// The first line that begins here is after the first line feed from one byte before.
		if _, err := io.CopyN(io.Discard, in, at-1); err != nil && err != io.EOF {
			return err
		}
		_, size, _, err := nextLine(in)
		if err != nil && err != io.EOF {
			return err
		}
		at += size - 1
		if err == io.EOF {
			rt.TryClaim(end)
			return nil
		}
	}
	for rt.TryClaim(at) {
		text, size, long, err := nextLine(in)
		if err != nil && err != io.EOF {
			return err
		}
		if size > 0 {
			if at == 0 {
				text = strings.TrimPrefix(text, "\ufeff")
			}
			fn.line(Line{f.Metadata.Path, at, text}, header, long, emit, refuse)
		}
		if err == io.EOF {
			rt.TryClaim(end)
			return nil
		}
		at += size
	}
	return rt.GetError()
}

// line decides what becomes of a line of a file with this header.
func (fn *readFn) line(l Line, header string, long bool, emit func(Line), refuse func(Dead)) {
	switch {
	case fn.Layout.Format == JSON && strings.TrimSpace(l.Text) == "":
	case fn.Layout.Format == CSV && header != fn.Layout.Header:
		refuse(l.dead("header: is not that of the first file"))
	case fn.Layout.Format == CSV && l.Offset == 0:
	case long:
		l.Text = strings.ToValidUTF8(l.Text, "")
		refuse(l.dead(fmt.Sprintf("line: is longer than %d bytes", maxLine)))
	default:
		emit(l)
	}
}

// NumberLines counts the lines before each dead row, by reading the files that have some
// once more.
func NumberLines(s beam.Scope, dead beam.PCollection) beam.PCollection {
	s = s.Scope("NumberLines")
	return beam.ParDo(s, &numberFn{}, beam.GroupByKey(s, beam.ParDo(s, deadByFile, dead)))
}

func deadByFile(d Dead) (string, Dead) { return d.File, d }

type numberFn struct{}

// ProcessElement holds the dead rows of one file in memory.
func (fn *numberFn) ProcessElement(ctx context.Context, file string, rows func(*Dead) bool, emit func(Dead)) error {
	var all []Dead
	for d := (Dead{}); rows(&d); {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Dead) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Text, b.Text))
	})
	if file != "" {
		if err := number(ctx, file, all); err != nil {
			return err
		}
	}
	for _, d := range all {
		emit(d)
	}
	return nil
}

// number fills in the numbers of lines, of rows ascending in their offsets.
func number(ctx context.Context, file string, rows []Dead) error {
	r, err := open(ctx, file)
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewReaderSize(r, 1<<16)
	line, at := int64(1), int64(0)
	for i := range rows {
		for at < rows[i].Offset {
			part, err := in.ReadSlice('\n')
			at += int64(len(part))
			switch {
			case err == nil:
				line++
			case errors.Is(err, bufio.ErrBufferFull):
			case err == io.EOF:
				return fmt.Errorf("%s: is shorter than when it was read", file)
			default:
				return err
			}
		}
		rows[i].Line = line
	}
	return nil
}
