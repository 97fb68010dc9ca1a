//go:build training

// Stands for narrow.go in the page's first module, whose questions never ask for the recursion over data
// configurations.

package subsample

import (
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

func (s FixedSize) together(profiles.Mechanism, profiles.Profile, copies.Law) profiles.Together {
	return nil
}
