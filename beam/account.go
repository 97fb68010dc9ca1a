package beam

// This file answers questions about plans: each line is a request as `accountant serve
// --stdio` reads it, and its answer is the line that the command writes.

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/dpaccountant/accountant/cmd/service"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[accountFn]())
}

// pure are the operations whose answer is a function of the request. The others draw noise,
// which a bundle that runs twice would draw twice, or keep a ledger, which is one file of
// one machine.
var pure = map[string]bool{
	"version": true, "epsilon": true, "delta": true, "dpsgd": true, "risk": true, "curve": true, "profile": true,
	"sampling": true, "calibrate": true, "plan-check": true, "plan-convert": true, "diff": true, "compare": true,
	"gdp": true, "gdp-solve": true, "audit": true, "select": true, "majority": true, "pate": true, "pate-calibrate": true, "label": true,
	"explain": true, "shuffle": true, "filter": true, "matrix-optimize": true,
}

// Account answers the requests of lines. Answers are those of `accountant serve --stdio`,
// for WriteLines. A request that is wrong is a dead row; one that has no answer, because
// nothing meets a budget or time is up, has that for its answer, as the command has.
func Account(s beam.Scope, lines beam.PCollection) (answers, dead beam.PCollection) {
	return beam.ParDo2(s.Scope("Account"), &accountFn{}, lines)
}

type accountFn struct{ service *service.Service }

// Setup makes a service, which remembers the latest plans.
func (fn *accountFn) Setup() { fn.service = service.New(nil) }

// ProcessElement answers one request.
func (fn *accountFn) ProcessElement(ctx context.Context, l Line, emit func(string), refuse func(Dead)) error {
	var head struct {
		Op string `json:"op"`
	}
	if json.Unmarshal([]byte(l.Text), &head) == nil && head.Op != "" && !pure[head.Op] && known(head.Op) {
		refuse(l.dead(fmt.Sprintf("op: %s draws noise or keeps state, and a bundle may run twice: use accountant serve", head.Op)))
		return nil
	}
	a := fn.service.Answer(ctx, []byte(l.Text))
	if err := ctx.Err(); err != nil {
		return err // the runner stops: what was refused for that is no answer
	}
	if a.Error != nil && (a.Error.Kind == service.KindInput || a.Error.Kind == service.KindInternal) {
		refuse(l.dead(a.Error.Message))
		return nil
	}
	text, err := service.Marshal(a)
	if err != nil {
		refuse(l.dead(err.Error()))
		return nil
	}
	emit(sortable(l.id(), string(text)))
	return nil
}

func known(op string) bool {
	for _, o := range service.Operations() {
		if o.Name == op {
			return true
		}
	}
	return false
}
