// Package meter is the work budget of one question to a composition: work, memory, and the time
// that the caller allows.
//
// It assumes nothing about the engine that spends. It returns how much is left, and why a question
// must end: one of the errors below, or the cause of the context. It also has the words of the
// warning for an interval that had to stay wider than asked.
package meter
