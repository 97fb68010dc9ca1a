// Package ballots holds the votes of teachers as tables: what package pate charges for.
//
// A table of [Votes] has a histogram for each query, a table of [Scores] what a student predicts
// for it. Both are read from CSV or NPY ([ReadVotes], [ReadScores], [ReadAnswered]), made from
// rows, or made up by a rule ([SynthS1]). They are checked when they are made and never change.
//
// Do not use it for the labels of students or for training data. What it reads is private: neither
// a table nor a summary of one may be published without noise.
//
// Errors name the table, the row and the column, counted from 1. Files are bounded in size, and NPY
// files of objects are refused, never unpickled.
package ballots
