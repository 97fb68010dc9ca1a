package service_test

import (
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
)

// TestTransform: who names a transform gets lattices alone, for one number and for lists;
// both libraries' intervals hold the integral's.
func TestTransform(t *testing.T) {
	const plan = `{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":1}},"sampling":{"poisson":{"rate":0.01}},"count":100}]}`
	s := service.New(nil)
	ask := func(transform string) service.EpsilonAnswer {
		t.Helper()
		q := service.EpsilonRequest{Plan: service.PlanText(plan)}
		q.Delta = []service.Decimal{"1e-5"}
		q.Transform = transform
		a, err := service.Ask[service.EpsilonAnswer](t.Context(), s, q)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	free := ask("").Results[0].Epsilon
	for _, name := range []string{service.GonumTransform, service.GoDSPTransform} {
		a := ask(name).Results[0]
		r := a.Epsilon
		if a.Engine != "lattice" || r.Lower > free.Upper || r.Upper < free.Lower || r.Upper-r.Lower <= free.Upper-free.Lower {
			t.Errorf("%s: %+v, without %+v", name, r, free)
		}
	}
	for _, c := range []struct{ accountant, transform, want string }{
		{"", "x", `transform: "x" is not gonum or go-dsp`},
		{service.RDPAccountant, service.GonumTransform, "transform is of no use to rdp"},
	} {
		q := service.EpsilonRequest{Plan: service.PlanText(plan)}
		q.Delta = []service.Decimal{"1e-5"}
		q.Accountant, q.Transform = c.accountant, c.transform
		if _, err := service.Ask[service.EpsilonAnswer](t.Context(), s, q); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
