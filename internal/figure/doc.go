// Package figure draws what the command and the experiments show: one description of a
// picture, and ways to write it as SVG, PNG, PDF, text for a terminal and a page that
// answers under the pointer. It computes nothing: what a line claims between its points
// is what its Joint says.
//
// Files, in order:
//
//	law.go     the picture of a randomizer's output laws
//	rows.go    the picture of a list of intervals
//	encode.go  a picture in the format of a file's ending
//	html.go    a page of its own
//	term.go    text for a terminal
//	plot.go    a picture by gonum
//	legend.go  where the legend hides no curve
//	save.go    plots of gonum, and the numbers that they show, as files
//	picture.go what a picture is, and its lines cut at the axes
//	joint.go   lines that stay on the proved side of a curve between its points
//	ticks.go   places and labels on axes
//	text.go    powers of ten in text
//	palette.go what each method looks like
package figure
