package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// pictureFormat checks that the file of a flag has the ending of a picture.
func pictureFormat(flag, path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svg", ".png", ".pdf":
		return nil
	}
	return fmt.Errorf("--%s: %q does not end in .svg, .png or .pdf", flag, path)
}

// savePicture writes a plot, whole or not at all, in the format of the file's
// ending.
func savePicture(p *plot.Plot, width, height vg.Length, path string) error {
	w, err := p.WriterTo(width, height, strings.ToLower(filepath.Ext(path))[1:])
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		return err
	}
	return writeFileAtomic(path, b.Bytes())
}
