// Package accountant computes what (ε, δ) a sequence of differentially private mechanisms costs.
// The answer is a certified interval: the true value lies between Lower and Upper, floating-point
// error included.
//
//	acct := accountant.New(profiles.AddRemove)
//	err := acct.Add(ctx, step, 14062)
//	iv, err := acct.Epsilon(ctx, 1e-5)
//
// Upper is proved for every pair of neighbouring data sets. Lower is attained by a concrete pair.
// Steps are fixed in advance: no step's parameters may depend on outputs of earlier ones. Where
// they do, only a filter may be used, of package rdp or of package menu.
//
// The product of dominating pairs bounds what was run (Zhu, Dong and Wang, AISTATS 2022, Theorem
// 10). Each mechanism and each sampling scheme names the source of its pair. docs/guide/concepts.md
// explains the words.
//
// A function that may take long has a context as its first parameter. When that is cancelled, the
// function returns soon with the context's error, and nothing has changed.
//
// Do not use it to combine guarantees of different neighbouring relations, or for users with
// several records without Options.RecordsPerPerson.
package accountant
