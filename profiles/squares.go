// Ways to write a number as a sum of squares.

package profiles

// eachSumOfSquares calls f for every way to write n as a sum of squares of
// positive whole numbers: count[k] squares of k. f must not keep count.
//
// grow is called before f with the number of the square that is added, and
// shrink after it is taken away again, so that a caller can keep a running
// product of laws.
func eachSumOfSquares(n int, grow func(k int), shrink func(), f func(count []int)) {
	largest := 0
	for (largest+1)*(largest+1) <= n {
		largest++
	}
	count := make([]int, largest+1)
	var with func(k, rest int)
	with = func(k, rest int) {
		if rest == 0 {
			f(count)
			return
		}
		if k > largest || k*k > rest {
			return
		}
		with(k+1, rest)
		added := 0
		for rest >= k*k {
			rest -= k * k
			grow(k)
			added++
			count[k]++
			with(k+1, rest)
		}
		for ; added > 0; added-- {
			shrink()
			count[k]--
		}
	}
	with(1, n)
}

// gcdOf returns the greatest common divisor of the numbers that count lists.
func gcdOf(count []int) int {
	g := 0
	for k, n := range count {
		if n > 0 {
			for a, b := g, k; ; {
				if b == 0 {
					g = a
					break
				}
				a, b = b, a%b
			}
		}
	}
	return g
}
