// Package copies has the profiles of a mechanism on a batch that can hold a record several times. It
// has the law of the number of copies, and what is proved for it. All sections § are of
// docs/theory/subsampling.md.
//
// A [Law] says how often a record is in the batch. Gaussian noise has standard deviation 1, and
// each copy moves the mean by theta. For each scheme there is a bound from above (§4 draws with
// replacement, §6 two stages) and an attack (§7, pair B). The paper's pair (§7, pair A) is no
// bound.
//
// Package subsample says which profile bounds which scheme under which relation; nothing here
// checks that.
package copies
