package fourier_test

import (
	"context"
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
	r, err := sum.Epsilon(context.Background(), 1e-15)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("ε(1e-15) in [%.1f, %.1f]\n", r.Lower, r.Upper)
	d, err := sum.Delta(context.Background(), r.Upper)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("which δ confirms:", d.Lower <= 1e-15)
	fmt.Println("by a Chernoff bound alone ε is at most 32:", sum.Proves(context.Background(), 32, 1e-15))
	// Output:
	// ε(1e-15) in [28.8, 28.8]
	// which δ confirms: true
	// by a Chernoff bound alone ε is at most 32: true
}

func ExampleDefaultOptions() {
	o := fourier.DefaultOptions()
	fmt.Println(o.Relative, o.Absolute)
	o.Relative = 1e-6 // narrower intervals, longer transforms
	sum := fourier.New(o)
	gaussian, _ := profiles.NewGaussian(10)
	_ = sum.Add(gaussian, 100)
	r, err := sum.Epsilon(context.Background(), 1e-5)
	fmt.Printf("ε = %.4f, width below a millionth: %v, %v\n", r.Estimate, r.Upper-r.Lower < 1e-6*r.Upper, err)
	// Output:
	// 0.001 1e-06
	// ε = 4.3772, width below a millionth: true, <nil>
}
