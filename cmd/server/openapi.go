package server

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/dpaccountant/accountant/cmd/service"
)

// The description of the interface, in OpenAPI 3.1. It is made of the table of operations and the types
// of requests and answers, so that it says what the server does; no part of it is written twice.

type object = map[string]any

// offered are the operations that this front end has.
func offered() (all []service.Operation) {
	for _, o := range service.Operations() {
		if o.Scope != service.ScopeOwn {
			all = append(all, o)
		}
	}
	return all
}

// OpenAPI returns the description of the interface as JSON.
func OpenAPI(version string) ([]byte, error) {
	types := service.Schemas{Under: "#/components/schemas/", Defined: map[string]any{}}
	failure := object{"description": "What is wrong.", "content": jsonOf(object{
		"type": "object", "required": []any{"error"}, "additionalProperties": false,
		"properties": object{"error": types.Of(reflect.TypeFor[service.Error]())},
	})}
	responses := object{}
	own := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusTooManyRequests}
	for _, status := range slices.AppendSeq(own, maps.Values(statuses)) {
		responses[strconv.Itoa(status)] = object{"$ref": "#/components/responses/error"}
	}
	paths := object{}
	for _, o := range offered() {
		answers := maps.Clone(responses)
		answers["200"] = object{"description": o.Answer, "content": jsonOf(types.Of(o.Result))}
		paths["/v1/"+o.Name] = object{"post": object{
			"operationId": o.Name,
			"summary":     o.Answer,
			"description": "Needs the scope " + string(o.Scope) + ".",
			"requestBody": object{"required": true, "content": jsonOf(types.RequestSchema(o))},
			"responses":   answers,
		}}
	}
	for path, what := range map[string]string{"/healthz": "the process answers", "/readyz": "requests are taken"} {
		paths[path] = object{"get": object{"operationId": path[1:], "summary": what, "security": []any{},
			"responses": object{"200": object{"description": "yes"}, "503": object{"description": "no"}}}}
	}
	return json.MarshalIndent(object{
		"openapi": "3.1.0",
		"info":    object{"title": "accountant", "version": version, "description": "Differential privacy accounting with certified bounds. 409 is a spend that a ledger refused: the plan must not run."},
		"paths":   paths,
		"components": object{
			"schemas":         types.Defined,
			"responses":       object{"error": failure},
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}, "certificate": object{"type": "mutualTLS"}},
		},
		"security": []any{object{"token": []any{}}, object{"certificate": []any{}}, object{}},
	}, "", "  ")
}

func jsonOf(schema any) object { return object{"application/json": object{"schema": schema}} }
