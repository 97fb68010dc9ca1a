package server

import (
	"net/http"

	"github.com/dpaccountant/accountant/cmd/service"
)

// A problem is an error with its HTTP status. It is JSON of the form {"error": {…}}.
type problem struct {
	status int
	err    *service.Error
	retry  bool // may be tried again soon
}

// The kinds of errors that only this door has.
const (
	kindAccess      = "access"      // who asks is not known, or may not do this
	kindTransport   = "transport"   // the request is none of this API
	kindUnavailable = "unavailable" // too many requests, or the server is about to end
)

// statuses are those of the errors of the service. A status stands for one kind wherever a client
// acts on it: 409 is a refused spend alone.
var statuses = map[string]int{
	service.KindInput:      http.StatusBadRequest,
	service.KindBudget:     http.StatusConflict,
	service.KindInfeasible: http.StatusUnprocessableEntity,
	service.KindTimeout:    http.StatusRequestTimeout,
	service.KindCancelled:  http.StatusServiceUnavailable,
	service.KindBusy:       http.StatusServiceUnavailable,
	service.KindStorage:    http.StatusInternalServerError,
	service.KindInternal:   http.StatusInternalServerError,
}

// answered returns the problem of an error of the service.
func answered(e *service.Error) *problem {
	status, ok := statuses[e.Kind]
	if !ok {
		status = http.StatusInternalServerError
	}
	return &problem{status, e, status == http.StatusServiceUnavailable}
}

func refuse(status int, kind, field, message string) *problem {
	text := message
	if field != "" {
		text = field + ": " + message
	}
	retry := status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
	return &problem{status, &service.Error{Kind: kind, Message: text, Field: field}, retry}
}
