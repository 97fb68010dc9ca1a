package subsample

import (
	"sync"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// Profiles build their tables when asked; asking at once must give the same.
func TestConcurrentTails(t *testing.T) {
	base := map[string]profiles.Mechanism{"gaussian": must(profiles.NewGaussianMechanism(4)), "laplace": must(profiles.NewLaplaceMechanism(4))}
	for name, b := range base {
		for _, s := range []FixedSize{must(NewWithReplacement(1000, 50)), must(NewMustOW(1000, 100, 50)), must(NewMustWW(1000, 100, 50))} {
			first, second := must(s.Apply(b, profiles.Substitute)).Directions[0], must(s.Apply(b, profiles.Substitute)).Directions[0]
			for i, p := range []profiles.Profile{first.Upper, first.Lower} {
				q := []profiles.Profile{second.Upper, second.Lower}[i]
				var wg sync.WaitGroup
				for k := range 4 {
					wg.Add(1)
					go func() {
						defer wg.Done()
						for e := -3.0; e < 3; e += 0.37 {
							if got, want := p.Tails(e*float64(1-2*(k%2)), 0), q.Tails(e*float64(1-2*(k%2)), 0); got != want {
								t.Errorf("%s %s at %v: %v, %v", name, s.Name(), e, got, want)
							}
						}
					}()
				}
				wg.Wait()
			}
		}
	}
}
