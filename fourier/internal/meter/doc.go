// Package meter watches what one question to a composition may still take: work, memory,
// and the patience of whoever asks.
//
// It assumes nothing about the engine that spends. It returns how much is left, why a question
// must end (one of the errors below, or the cause of the context), and the words of the warning
// for an interval that had to stay wider than asked.
package meter
