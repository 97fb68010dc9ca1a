// The picture of the output laws of a randomizer of labels.

package figure

import (
	"cmp"
	"slices"
)

// Law returns the picture of the output law of a randomizer for each of its labels: a
// row for each, with discs whose area is the probability of an output, and a
// cross at the label itself. Labels ascend; row returns the probabilities of the
// outputs for label i.
func Law(labels, outputs []float64, row func(i int) []float64) Picture {
	discs := Band{Method: OptimalUnbiased}
	for i, y := range labels {
		for j, p := range row(i) {
			discs.X, discs.Proved, discs.Area = append(discs.X, outputs[j]), append(discs.Proved, y), append(discs.Area, p)
		}
	}
	self := Band{Method: TwoPoint, X: labels, Proved: labels, Crosses: true}
	pic := Picture{
		X: Axis{Label: "output (area of a disc: its probability; ×: the label)"}, Y: Axis{Label: "label"},
		Bands: []Band{discs, self},
	}
	span := cmp.Or(labels[len(labels)-1]-labels[0], 1)
	room := span/float64(2*len(labels)) + span/20
	pic.Y.Min, pic.Y.Max = labels[0]-room, labels[len(labels)-1]+room
	if len(labels) <= 12 {
		pic.Y.At = labels
	}
	lo, hi := min(slices.Min(outputs), labels[0]), max(slices.Max(outputs), labels[len(labels)-1])
	reach := max((hi-lo)/30, span/20)
	pic.X.Min, pic.X.Max = lo-reach, hi+reach
	return pic
}
