package random_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/random"
)

// Two counts with noise are compared as real numbers are, and one is released on a grid.
func ExampleNoisy() {
	src := rand.NewPCG(1, 2) // a release takes random.Source(nil)
	a := random.Noisy(1000, 2, random.Laplace(src))
	b := random.Noisy(10, 2, random.Normal(src))
	fmt.Println(b.Less(a), a.Nearest(1024))
	// Output: true 1024
}
