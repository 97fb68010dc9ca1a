// Package beam runs the accountant's large jobs on Apache Beam: a million questions, a billion
// labels, a billion votes. It runs on Prism, Flink, Spark or Dataflow.
//
// It is a module of its own, so that users of the library do not depend on Beam. Its command is
// beam/cmd/accountant-beam. docs/reference/beam.md says how to run it, and what it costs.
//
// # At least once, and one look
//
// A runner may run any bundle of rows twice: because a worker died, because it was slow, or because
// a message came again. A mechanism that draws fresh noise each time would then show two noisy
// versions of one label. Here every draw is a function of a secret key of the run and of what is
// being drawn for ([Key]). The same row draws the same noise, however often and wherever it is
// drawn. A row, label or design that differs draws noise of its own. So using a key twice costs at
// most what two runs cost.
//
// Rows that cannot be used leave as [Dead] rows with their file, line and reason. They are never
// dropped, and end no pipeline.
//
// Do not use it for what one machine does in minutes: `accountant label apply` makes ten million
// labels private in ten seconds on one core.
//
// DoFns are registered by reflection. The generic functions of Beam's package register are faster
// to call, but twenty of them take the compiler minutes and 5 GB.
package beam
