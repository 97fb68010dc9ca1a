// Package shuffler prices the shuffle model. Each user randomizes one value and sends one message,
// and a shuffler outputs the messages of a round without their order or their senders.
//
// A [Randomizer] is what each user runs. [Shuffler] is a sampling scheme that turns it into one
// round, in which all users or a secret random cohort report. Rounds compose with every other
// mechanism.
//
// Do not use it where the server, or anybody but the user and the shuffler, learns who reports. Do
// not use it where a user sends several messages in a round, or where randomness is kept from round
// to round. The scheme "shuffle" of package allocation is something else: how a loader cuts a list
// into batches. The theorems are in docs/theory/shuffler.md.
// Proofs are there or end the files.
package shuffler
