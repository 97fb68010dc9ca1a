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
// names the source of its pair. docs/concepts.md explains the words.
//
// Whatever may take long has a context as its first parameter, and returns soon
// with the context's error when that is cancelled; nothing is changed then.
//
// Do not use it to combine guarantees of different neighbouring relations, or
// for persons with several records without WithRecordsPerPerson.
//
// Files, each of which uses only those below it; accountant.go and answer.go are the ones to read
// first:
//
//	compare.go     Compare: other methods of accounting
//	groups.go      GroupEpsilon, and Compare's row: persons by the curve of one record
//	gdp.go         GDP, CalibrateGDP: μ of Gaussian differential privacy
//	risk.go        Risk: what an attacker can do
//	calibrate.go   Calibrate: the value of a quantity that meets a budget
//	knob.go        Goal: what can be turned in a plan, and the budget
//	curve.go       DeltaCurve, EpsilonCurve, StepsCurve
//	rdp.go         RDP: the Rényi curve of a plan
//	tradeoff.go    TradeOff: the best test at each false-positive rate
//	accountant.go  Accountant: the running total; Epsilon and Delta
//	question.go    which sums answer a question
//	recursion.go   ε and δ of a total, narrowed by the recursion over data configurations
//	best.go        what the best of several runs costs
//	best_kept.go   what a search keeps of them
//	answer.go      Interval, and the sums that it is read from
//	steps.go       Step, Plan, and the ways through them
//	options.go     Option, FieldError
package accountant
