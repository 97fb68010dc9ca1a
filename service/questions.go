//go:build !training

package service

import "reflect"

// This file is the second part of the table of operations: what the page in a browser asks beyond
// the form of a training run. It assumes nothing and is left out by the build tag training, with all that
// only these operations use.

var questions = []operation{
	does("epsilon", (*Service).epsilon, "of one δ as one of the results of `epsilon --json`, of a list as all of it").either(reflect.TypeFor[EpsilonAt](), reflect.TypeFor[EpsilonAnswer](), reflect.TypeFor[GroupEpsilons](), reflect.TypeFor[GroupEpsilonAt](), reflect.TypeFor[RDPEpsilons](), reflect.TypeFor[RDPEpsilonAt]()),
	does("delta", (*Service).delta, "of one ε as one of the results of `delta --json`, of a list as all of it").either(reflect.TypeFor[DeltaAt](), reflect.TypeFor[DeltaAnswer](), reflect.TypeFor[RDPDeltaAt](), reflect.TypeFor[RDPDeltas]()),
	does("curve", (*Service).Curve, "as `curve --json`; a plan that is given by `plan` has the name `plan`"),
	does("sampling", (*Service).Sampling, "as `sampling --json`"),
	does("calibrate", (*Service).Calibrate, "as `calibrate --json`"),
	does("plan-check", (*Service).PlanCheck, "as `plan check --json` for one file"),
	does("compare", (*Service).Compare, "as `compare --json`"),
	does("cancel", (*Service).Cancel, "`{\"request\": ID}`, whether there was one or not").needs(ScopeOwn),
}
