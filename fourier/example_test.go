package fourier_test

import (
	"fmt"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
)

func ExampleSum() {
	laplace, err := profiles.NewLaplace(10)
	if err != nil {
		fmt.Println(err)
		return
	}
	sum := fourier.New(fourier.Options{Relative: 1e-4})
	if err := sum.Add(laplace, 1000); err != nil {
		fmt.Println(err)
		return
	}
	r, err := sum.Epsilon(1e-15)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("ε(1e-15) in [%.1f, %.1f]\n", r.Lower, r.Upper)
	d, err := sum.Delta(r.Upper)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("which δ confirms:", d.Lower <= 1e-15)
	fmt.Println("by a Chernoff bound alone ε is at most 32:", sum.Proves(32, 1e-15))
	// Output:
	// ε(1e-15) in [28.8, 28.8]
	// which δ confirms: true
	// by a Chernoff bound alone ε is at most 32: true
}
