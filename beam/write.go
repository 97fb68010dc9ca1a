package beam

// This file writes lines to files: each whole or not at all, with the same bytes however
// often a bundle is run and in whatever order lines arrive.

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[shardFn]())
	beam.RegisterDoFn(reflect.TypeFor[everyFn]())
	beam.RegisterDoFn(reflect.TypeFor[writeFn]())
	register.Emitter2[int, string]()
}

// WriteLines writes lines to so many files prefix-00000-of-00002suffix, …, ordered by their
// keys. A header, if there is one, is the first line of each. A file is held in memory while
// it is sorted. All files are written, some of them perhaps without lines.
//
// A line comes with its key in front: that of [DeadLines], [PrivateLines] and their kin.
func WriteLines(s beam.Scope, prefix, suffix, header string, shards int, lines beam.PCollection) {
	writeLines(s, writeFn{Prefix: prefix, Suffix: suffix, Header: header, Shards: shards}, lines)
}

// WriteDead writes refused rows to one file of JSON lines. A row is in it as it was read, private
// fields and all, so that nobody but its owner may read the file where it is local; in a store that is
// for the bucket to say.
func WriteDead(s beam.Scope, prefix string, dead beam.PCollection) {
	writeLines(s, writeFn{Prefix: prefix, Suffix: ".jsonl", Shards: 1, Private: true}, DeadLines(s, dead))
}

func writeLines(s beam.Scope, w writeFn, lines beam.PCollection) {
	s = s.Scope("WriteLines")
	byShard := beam.ParDo(s, &shardFn{w.Shards}, lines)
	every := beam.ParDo(s, &everyFn{w.Shards}, beam.Impulse(s))
	grouped := beam.GroupByKey(s, beam.Flatten(s, byShard, every))
	beam.ParDo0(s, &w, grouped)
}

// ShardName is the name of one of the files.
func ShardName(prefix, suffix string, i, of int) string {
	return fmt.Sprintf("%s-%05d-of-%05d%s", prefix, i, of, suffix)
}

type shardFn struct{ Shards int }

// ProcessElement keeps lines of one key together.
func (fn *shardFn) ProcessElement(line string) (int, string) {
	key, _, _ := strings.Cut(line, "\n")
	h := fnv.New64a()
	io.WriteString(h, key)
	return int(h.Sum64() % uint64(fn.Shards)), line
}

type everyFn struct{ Shards int }

// ProcessElement names each shard, so that a file without lines is written as well.
func (fn *everyFn) ProcessElement(_ []byte, emit func(int, string)) {
	for i := range fn.Shards {
		emit(i, "")
	}
}

type writeFn struct {
	Prefix, Suffix, Header string
	Shards                 int
	Private                bool // a local file is its owner's alone
}

// ProcessElement writes one file. What is in the way of a local file is another name until
// it is complete; objects of a store appear when they are closed.
func (fn *writeFn) ProcessElement(ctx context.Context, shard int, lines func(*string) bool) error {
	var all []string
	for line := ""; lines(&line); {
		if line != "" {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	name := ShardName(fn.Prefix, fn.Suffix, shard, fn.Shards)
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	defer fs.Close()
	to := name
	rename, ok := fs.(filesystem.Renamer)
	if ok = ok && !strings.Contains(name, "://"); ok {
		// Two workers may write the same file at once.
		to = name + "." + rand.Text() + ".tmp"
		if fn.Private {
			if err := ownersFile(to); err != nil {
				return err
			}
		}
	}
	err = fn.write(ctx, fs, to, all)
	if ok && err == nil {
		err = rename.Rename(ctx, to, name)
	}
	if rm, can := fs.(filesystem.Remover); err != nil && ok && can {
		rm.Remove(context.WithoutCancel(ctx), to)
	}
	return err
}

// ownersFile makes an empty file that only its owner may read; what opens it to write leaves it so.
func ownersFile(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { // as the file system of Beam does
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (fn *writeFn) write(ctx context.Context, fs filesystem.Interface, name string, lines []string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // an object that was not closed is given up
	f, err := fs.OpenWrite(ctx, name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if fn.Header != "" {
		w.WriteString(fn.Header + "\n")
	}
	for _, line := range lines {
		_, text, _ := strings.Cut(line, "\n")
		w.WriteString(text)
		w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil { // of any write before
		if !strings.Contains(name, "://") {
			f.Close()
		}
		return err
	}
	if file, ok := f.(interface{ Sync() error }); ok {
		if err := file.Sync(); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}
