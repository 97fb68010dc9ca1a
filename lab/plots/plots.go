// Package plots has what only the experiments write: pictures, the numbers that they show, and pages.
package plots

import (
	"bytes"
	"encoding/csv"
	"flag"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/try"
)

// Save writes rows of pictures of one size to a file in the format of its extension.
func Save(path string, size figure.Size, rows ...[]figure.Picture) {
	data := try.Must(figure.Tiles(strings.TrimPrefix(filepath.Ext(path), "."), size, rows...))
	try.Check(os.WriteFile(path, data, 0o644))
}

// Numbers returns the points of curves as a table of comma-separated values: of each its
// curve, and x and y under their names, with so many digits.
func Numbers(x, y string, digits int, curves []figure.Band) []byte {
	rows := [][]string{{"curve", x, y}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', digits, 64) }
	for _, c := range curves {
		for i, at := range c.X {
			rows = append(rows, []string{c.Name, number(at), number(c.Proved[i])})
		}
	}
	var b bytes.Buffer
	try.Check(csv.NewWriter(&b).WriteAll(rows))
	return b.Bytes()
}

// OutFlag adds the flag -out, the folder that a program writes its pages and pictures into, and returns what
// returns that folder once flags are parsed. Without the flag it is a new temporary folder, whose name is
// printed: tracked, the folder whose pages are kept, is overwritten only where the flag names it.
func OutFlag(tracked string) func() string {
	out := flag.String("out", "", "`folder` to write into, such as "+tracked+" (default: a new temporary one)")
	return func() string {
		if *out == "" {
			folder, err := os.MkdirTemp("", filepath.Base(os.Args[0])+"-")
			if err != nil {
				log.Fatal(err)
			}
			log.Printf("written into %s; -out %s writes the pages that are kept", folder, tracked)
			*out = folder
		}
		return *out
	}
}
