package beam

// This file has the lines of files, and what becomes of those that cannot be used.

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpaccountant/accountant/cmd/service"
)

// A Line is a line of a file, without its end. Offset is that of its first byte, in the
// uncompressed file: file and offset are the line's identity, which no retry changes.
type Line struct {
	File   string
	Offset int64
	Text   string
}

// id returns the identity of the line, ascending with the offset.
func (l Line) id() string { return fmt.Sprintf("%s\x00%016x", l.File, l.Offset) }

// dead refuses the line.
func (l Line) dead(reason string) Dead {
	return Dead{File: l.File, Offset: l.Offset, Reason: reason, Text: l.Text}
}

// A Dead row could not be used. Line is the number of its line from 1, 0 before
// [NumberLines] has counted. Text is the line as it was read: as private as the input.
type Dead struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`
	Offset int64  `json:"offset"`
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

// JSON returns the row as a line.
func (d Dead) JSON() string {
	text, err := service.Marshal(d)
	if err != nil { // strings and integers: it cannot be
		panic(err)
	}
	return string(text)
}

// sortable puts a key in front of a text, for WriteLines to order by. Line feeds, which
// separate the two, are taken out of the key.
func sortable(key, text string) string {
	return strings.ReplaceAll(key, "\n", " ") + "\n" + text
}

func init() {
	beam.RegisterType(reflect.TypeFor[Line]())
	beam.RegisterType(reflect.TypeFor[Dead]())
	register.Emitter1[Line]()
	register.Emitter1[Dead]()
	register.Emitter1[string]()
	register.Iter1[string]()
	register.Iter1[Dead]()
	beam.RegisterDoFn(deadLine)
}

// deadLine orders dead rows by file and offset.
func deadLine(d Dead) string {
	return sortable(Line{File: d.File, Offset: d.Offset}.id(), d.JSON())
}

// DeadLines returns the rows as JSON lines for WriteLines.
func DeadLines(s beam.Scope, dead beam.PCollection) beam.PCollection {
	return beam.ParDo(s.Scope("DeadLines"), deadLine, dead)
}
