// Package figure draws what the command and the experiments show: one description of a
// picture, and ways to write it as SVG, PNG and PDF. It computes nothing: what a line claims between its points
// is what its Joint says.
package figure
