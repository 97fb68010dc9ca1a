// Package accountant tells what (ε, δ) a sequence of differentially private
// mechanisms costs, as a certified interval: the true value lies between Lower
// and Upper, floating-point error included.
//
//	acct := accountant.New(accountant.AddRemove)
//	err := acct.Add(ctx, step, 14062)
//	iv, err := acct.Epsilon(ctx, 1e-5)
//
// Upper is proved for every pair of neighbouring data sets; Lower is attained by
// a concrete pair. Steps are fixed in advance: no step's parameters may depend
// on outputs of earlier ones. When they do, only the Rényi filter of package rdp
// may be used. That the product of dominating pairs bounds what was run is Zhu,
// Dong and Wang (AISTATS 2022), Theorem 10; each mechanism and each sampling scheme
// names the source of its pair. docs/guide/concepts.md explains the words.
//
// Whatever may take long has a context as its first parameter, and returns soon
// with the context's error when that is cancelled; nothing is changed then.
//
// Do not use it to combine guarantees of different neighbouring relations, or
// for persons with several records without WithRecordsPerPerson.
package accountant
