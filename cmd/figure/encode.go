// A picture in the format of a file's ending.

package figure

import (
	"path/filepath"
	"slices"
	"strings"
)

// Formats are the endings of files that pictures are written to.
var Formats = []string{"svg", "png", "pdf"}

// Format returns the format of a file by its ending, none if it is no picture's.
func Format(path string) string {
	if ext := strings.ToLower(filepath.Ext(path)); ext != "" && slices.Contains(Formats, ext[1:]) {
		return ext[1:]
	}
	return ""
}

// Encode returns the picture in one of the Formats.
func (pic *Picture) Encode(format string, size Size) ([]byte, error) {
	p, err := pic.Plot(size)
	if err != nil {
		return nil, err
	}
	return Write(p, size, format)
}
