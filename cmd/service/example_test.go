package service_test

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant/cmd/service"
)

const plan = `{"neighbors": "add-remove", "steps": [{"mechanism": {"laplace": {"noise-multiplier": 2}}, "count": 4}]}`

// A request in JSON, as a program on the other end of a pipe sends it.
func Example() {
	s := service.New(nil)
	answer := s.Answer(context.Background(), []byte(`{"id": 1, "op": "calibrate", "plan": `+plan+`, "epsilon": 2.7, "delta": 0, "solve": "count"}`))
	fmt.Println(answer.Error == nil, answer.Result.(service.Answers[service.Solution]).Results[0].Value)
	answer = s.Answer(context.Background(), []byte(`{"id": 2, "op": "epsilon", "plan": `+plan+`, "detla": 0}`))
	text, _ := service.Marshal(answer)
	fmt.Println(string(text))
	// Output:
	// true 5
	// {"id":2,"error":{"kind":"input","message":"request: unknown key \"detla\"; did you mean \"delta\"?","field":"request"}}
}

// A typed request, as a front end written in Go makes it.
func ExampleAsk() {
	answer, err := service.Ask[service.EpsilonAnswer](context.Background(), service.New(nil), service.EpsilonRequest{
		Plan: service.PlanText(plan), Delta: service.Decimals{"0"},
	})
	fmt.Printf("%.9g %v\n", float64(answer.Results[0].Epsilon.Upper), err)
	_, err = service.Ask[service.EpsilonAnswer](context.Background(), service.New(nil), service.EpsilonRequest{
		Plan: service.PlanText(plan), Delta: service.Decimals{"1e400"},
	})
	fmt.Println(err)
	// Output:
	// 2 <nil>
	// delta: 1e400 is too large for a 64-bit floating-point number
}
