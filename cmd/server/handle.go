package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dpaccountant/accountant/cmd/service"
)

// One request: who asks, may they, is there room, its body, its turn, its answer. Each of these can end it,
// and whatever does is in the log and in the metrics. The log has no plan, note, key or token.

// Handler returns the whole interface. Every request, of whatever page, has a time in which its body must arrive, also a
// body that nobody wants, which net/http reads to its end; and one in which its answer must leave, which would else be that
// of the request before it on the same connection.
func (s *Server) Handler() http.Handler {
	pages := s.pages()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, now := http.NewResponseController(w), time.Now()
		_ = c.SetReadDeadline(now.Add(s.config.Body))
		_ = c.SetWriteDeadline(now.Add(s.config.Body + s.config.Time + bodyTime))
		pages.ServeHTTP(w, r)
	})
}

func (s *Server) pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { plain(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if !s.ready(r.Context()) {
			plain(w, http.StatusServiceUnavailable, "not ready\n")
			return
		}
		plain(w, http.StatusOK, "ready\n")
	})
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.description)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if _, p := s.access.identify(r); p != nil {
			s.refuse(w, p)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		open, turnedAway := s.connections.now()
		s.meter.write(w, []*lane{s.reads, s.spends}, open, turnedAway, s.ready(r.Context()))
	})
	mux.HandleFunc("/", s.operation)
	return mux
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// ready reports whether requests are taken, and the place of the ledgers is there.
func (s *Server) ready(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(ctx, readyTime)
	defer stop()
	return !s.ending.Load() && (s.ledgers == nil || s.ledgers.ready(ctx))
}

// readyTime is how long a look at the place of the ledgers may take.
const readyTime = 5 * time.Second

// An outcome is what is written down about a request.
type outcome struct {
	op, client, kind string
	status           int
	in, out          int
}

// operation answers what is none of the other pages.
func (s *Server) operation(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	id := requestID(r)
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	o := outcome{op: "other", status: http.StatusOK}
	result, p := s.answer(w, r, id, &o)
	var text []byte
	if p == nil {
		var err error
		if text, err = service.Marshal(result); err != nil {
			p = s.defect(id, err.Error(), "")
		}
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(bodyTime))
	if p != nil {
		o.status, o.kind = p.status, p.err.Kind
		o.out = s.refuse(w, p)
	} else {
		w.Header().Set("Content-Type", "application/json")
		o.out, _ = w.Write(append(text, '\n'))
	}
	took := time.Since(began)
	s.meter.add(o.op, o.status, took)
	s.log.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("id", id), slog.String("client", o.client), slog.String("op", o.op),
		slog.Int("status", o.status), slog.String("kind", o.kind), slog.Float64("seconds", took.Seconds()), slog.Int("in", o.in), slog.Int("out", o.out))
}

// refuse writes a problem, and returns how many bytes.
func (s *Server) refuse(w http.ResponseWriter, p *problem) int {
	text, err := service.Marshal(struct {
		Error *service.Error `json:"error"`
	}{p.err})
	if err != nil {
		text = []byte(`{"error":{"kind":"internal","message":"internal error"}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	switch p.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="accountant"`)
	case http.StatusMethodNotAllowed:
		h.Set("Allow", http.MethodPost)
	}
	w.WriteHeader(p.status)
	n, _ := w.Write(append(text, '\n'))
	return n
}

// defect returns the problem of a fault of this program, of which the log has the text.
func (s *Server) defect(id, message, stack string) *problem {
	s.log.Error("internal error", "id", id, "message", message, "stack", stack)
	return refuse(http.StatusInternalServerError, service.KindInternal, "", "internal error; the log of the server has more under the request "+id)
}

// answer runs a request and returns its result.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, id string, o *outcome) (any, *problem) {
	name, ok := strings.CutPrefix(r.URL.Path, "/v1/")
	i := slices.IndexFunc(s.operations, func(op service.Operation) bool { return op.Name == name })
	if !ok || i < 0 {
		return nil, refuse(http.StatusNotFound, kindTransport, "", "there is nothing here; /openapi.json lists what there is")
	}
	op := s.operations[i]
	o.op = op.Name
	if r.Method != http.MethodPost {
		return nil, refuse(http.StatusMethodNotAllowed, kindTransport, "", "an operation takes POST")
	}
	if s.ending.Load() {
		w.Header().Set("Connection", "close")
		return nil, refuse(http.StatusServiceUnavailable, kindUnavailable, "", "the server is about to end")
	}
	who, p := s.access.identify(r)
	if p != nil {
		return nil, p
	}
	o.client = who.Name
	if !who.may(op.Scope) {
		return nil, refuse(http.StatusForbidden, kindAccess, "", fmt.Sprintf("%s needs the scope %s", op.Name, op.Scope))
	}
	// No other type: a page in a browser can send text to this machine unasked, and JSON only when the
	// server agrees, which it never does.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, refuse(http.StatusUnsupportedMediaType, kindTransport, "Content-Type", "must be application/json")
	}
	lane := s.reads
	if op.Scope != service.ScopeRead {
		lane = s.spends
	}
	leave, p := lane.enter(who.Name)
	if p != nil {
		return nil, p
	}
	defer leave()
	body, p := s.body(w, r)
	if p != nil {
		return nil, p
	}
	o.in = len(body)
	return s.run(r, id, op, lane, who, body)
}

// body reads a request's body, within its size and time.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, *problem) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.config.MaxBody))
	var long *http.MaxBytesError
	switch {
	case err == nil:
		// The connection is read while the request is at work, to notice that the client has gone.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		return body, nil
	case errors.As(err, &long):
		return nil, refuse(http.StatusRequestEntityTooLarge, kindTransport, "request", fmt.Sprintf("is longer than %d bytes", s.config.MaxBody))
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, refuse(http.StatusRequestTimeout, service.KindTimeout, "request", "its body took too long")
	}
	return nil, refuse(http.StatusBadRequest, kindTransport, "request", "its body ended early")
}

// run waits for the request's turn and has the service answer.
func (s *Server) run(r *http.Request, id string, op service.Operation, lane *lane, who *client, body []byte) (any, *problem) {
	ctx, stop := context.WithTimeout(r.Context(), s.config.Time)
	defer stop()
	late := refuse(http.StatusRequestTimeout, service.KindTimeout, "timeout", fmt.Sprintf("there is no answer after the %v that a request may take here", s.config.Time))
	done, err := lane.start(ctx, who.Name)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, refuse(http.StatusServiceUnavailable, kindUnavailable, "", "other requests took all of the time that this one has")
		}
		return nil, answered(&service.Error{Kind: service.KindCancelled, Message: "cancelled"})
	}
	defer done()
	v := &visit{who: who}
	ctx = service.WithMost(context.WithValue(ctx, visitKey{}, v), s.config.Memory, s.config.Work)
	a := s.service.AnswerTo(ctx, op.Name, body)
	if op.Scope == service.ScopeSpend {
		s.spent(a)
	}
	switch {
	case a.Error == nil:
		return a.Result, nil
	case v.denied:
		return nil, &problem{status: http.StatusForbidden, err: &service.Error{Kind: kindAccess, Message: a.Error.Message, Field: a.Error.Field}}
	case a.Error.Kind == service.KindInternal:
		return nil, s.defect(id, a.Error.Message, a.Stack)
	case (a.Error.Kind == service.KindCancelled || a.Error.Kind == service.KindTimeout) && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, late
	case a.Error.Kind == service.KindStorage:
		s.log.Error("storage", "id", id, "message", a.Error.Message)
	}
	return nil, answered(a.Error)
}

// spent counts a spend.
func (s *Server) spent(a service.Response) {
	granted, _ := a.Result.(service.Spent)
	switch {
	case a.Error != nil && a.Error.Kind == service.KindBudget:
		s.meter.spend("refused")
	case granted.Again:
		s.meter.spend("again")
	case granted.Spent:
		s.meter.spend("granted")
	}
}

// shortWord is a name that a client may give to a request.
var shortWord = regexp.MustCompile(`^[\w.-]{1,64}$`)

// requestID returns the client's own name for a request, if it is a short word, or a new one.
func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); shortWord.MatchString(id) {
		return id
	}
	return rand.Text()
}

// A problem is an error with its HTTP status. It is JSON of the form {"error": {…}}.
type problem struct {
	status int
	err    *service.Error
}

// The kinds of errors that only this front end has.
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
	return &problem{cmp.Or(statuses[e.Kind], http.StatusInternalServerError), e}
}

func refuse(status int, kind, field, message string) *problem {
	text := message
	if field != "" {
		text = field + ": " + message
	}
	return &problem{status, &service.Error{Kind: kind, Message: text, Field: field}}
}
