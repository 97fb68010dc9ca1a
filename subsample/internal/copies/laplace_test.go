package copies

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/profiles"
)

// The public choice of Laplace profiles, its transform with it, is a profile.
func TestLaplaceChoice(t *testing.T) {
	for _, law := range []Law{WithReplacement(3, 3), MustWW(3, 2, 3)} {
		p := must(GroupMixture(must(profiles.NewLaplaceMechanism(0.5)), law, profiles.Substitute))
		profiletest.Run(t, p, nil, profiletest.Grid(p, 2))
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
