package main

import (
	"fmt"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/labeldp"
)

// labelPicture draws the output law of each label.
func labelPicture(r *labeldp.Randomizer) figure.Picture {
	pic := figure.Law(r.Labels(), r.Outputs(), r.Row)
	pic.Title = fmt.Sprintf("Output law per label: %s, ε = %v", r.Name(), r.Epsilon())
	return pic
}
