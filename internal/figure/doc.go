// Package figure draws what the command and the experiments show: one description of a
// picture, and ways to write it as SVG, PNG, PDF, text for a terminal and a page that
// answers under the pointer. It computes nothing: what a line claims between its points
// is what its Joint says.
//
// Files, in order:
//
//	law.go        the picture of a randomizer's output laws
//	rows.go       the picture of a list of intervals
//	encode.go     a picture in the format of a file's ending
//	html.go       a page of its own
//	fieldpage.go  a field on it
//	term.go       text for a terminal
//	plot.go       a picture by gonum
//	heat.go       a field by gonum
//	legend.go     where the legend hides no curve
//	save.go       plots of gonum, and the numbers that they show, as files
//	picture.go    what a picture is, and its lines cut at the axes
//	contour.go    the lines along which a field has a value
//	field.go      a quantity over a plane, and its colours
//	joint.go      lines that stay on the proved side of a curve between its points
//	axis.go       an axis, and what a line is proved to be
//	ticks.go      places and labels on axes
//	text.go       powers of ten in text
//	palette.go    what each method looks like
package figure
