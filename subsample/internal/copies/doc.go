// Package copies has the profiles of a mechanism on a batch that can hold a record several
// times: the law of the number of copies, and what is proved for it, one file for each
// theorem. All sections § are of docs/theory/subsampling.md.
//
// A [Law] says how often a record is in the batch. Gaussian noise has standard deviation 1,
// and each copy moves the mean by theta. Package subsample says which profile bounds which
// scheme under which relation; nothing here checks that.
//
// The files, each of which uses only those before it:
//
//   - law.go, law_schemes.go: the law of the copies (§1);
//   - logsum.go, public_choice.go, shifts.go, fast_sums.go: sums over the copies, in
//     logarithms and, where they agree, in plain numbers;
//   - gaussian_attack.go: all others agree with the substitute (§7, pair B), attained;
//   - gaussian_opposite.go: the paper's pair (§7, pair A), which is no bound;
//   - gaussian_wr.go, gaussian_wr_search.go: the coupling of copies for draws with
//     replacement (§4), above;
//   - gaussian_ww.go: two stages with replacement (§6), above;
//   - gaussian_ww_segments.go, gaussian_ww_table.go: the same from a table, for composition;
//   - laplace_mixture.go, laplace_attack.go: Laplace noise, above and attained;
//   - group.go, group_mixture.go: group profiles, and Theorem 5 of Zhao and Liu 2023, above;
//   - transform.go, transform_laplace.go: transforms of all of these.
package copies
