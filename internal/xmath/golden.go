// The search for a minimum of one variable; it proves nothing.

package xmath

// GoldenSection evaluates f on ever smaller sections around a minimum between a
// and b, until they are narrower than tol. It returns nothing: f keeps what it
// wants of the values it saw, which is all that callers need for whom every
// value of f is a valid bound.
func GoldenSection(f func(float64) float64, a, b, tol float64) {
	const r = 0.6180339887498949
	x1, x2 := b-r*(b-a), a+r*(b-a)
	y1, y2 := f(x1), f(x2)
	for b-a > tol {
		if y1 <= y2 {
			b, x2, y2 = x2, x1, y1
			x1 = b - r*(b-a)
			y1 = f(x1)
		} else {
			a, x1, y1 = x1, x2, y2
			x2 = a + r*(b-a)
			y2 = f(x2)
		}
	}
}
