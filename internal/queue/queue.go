// Package queue is a queue that hands out the first of its values in an order of the caller's. It
// serves branch and bound, and the least of the largest numbers seen. It is container/heap with a
// type.
package queue

import "container/heap"

// A Queue holds values of which First comes before all others. Which of two equal ones comes
// first depends on nothing but the calls made before.
type Queue[T any] struct{ h ordered[T] }

// New returns a queue of items, which it keeps, in the order of before.
func New[T any](before func(x, y T) bool, items ...T) *Queue[T] {
	q := &Queue[T]{ordered[T]{items, before}}
	heap.Init(&q.h)
	return q
}

// Len returns how many values there are.
func (q *Queue[T]) Len() int { return len(q.h.items) }

// First returns the first value. There must be one.
func (q *Queue[T]) First() T { return q.h.items[0] }

// All returns the values in no particular order, until the next change.
func (q *Queue[T]) All() []T { return q.h.items }

// Add adds a value.
func (q *Queue[T]) Add(x T) { heap.Push(&q.h, x) }

// Take removes the first value and returns it. There must be one.
func (q *Queue[T]) Take() T { return heap.Pop(&q.h).(T) }

// Replace puts x in the place of the first value, of which there must be one.
func (q *Queue[T]) Replace(x T) {
	q.h.items[0] = x
	heap.Fix(&q.h, 0)
}

// ordered is what container/heap asks for.
type ordered[T any] struct {
	items  []T
	before func(x, y T) bool
}

func (h *ordered[T]) Len() int           { return len(h.items) }
func (h *ordered[T]) Less(i, j int) bool { return h.before(h.items[i], h.items[j]) }
func (h *ordered[T]) Swap(i, j int)      { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *ordered[T]) Push(x any)         { h.items = append(h.items, x.(T)) }
func (h *ordered[T]) Pop() any {
	last := len(h.items) - 1
	x := h.items[last]
	h.items = h.items[:last]
	return x
}
