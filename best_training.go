//go:build training

package accountant

// This file stands for best.go in the page's first module, in which nothing makes a selection.

import (
	"context"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
)

var errBest = fault.New("selection", "is not in this program, which was built with the tag training")

func boundsOfBest(context.Context, selection.Law, profiles.Relation, *selection.Candidate) (profiles.Bounds, error) {
	return profiles.Bounds{}, errBest
}

func curveOfBest(selection.Law, rdp.Curve) (rdp.Curve, error) { return nil, errBest }
