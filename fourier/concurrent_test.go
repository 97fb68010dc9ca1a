package fourier

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/internal/fault"
)

// failing is a transform that panics every other time.
type failing struct {
	Transform
	calls *atomic.Int64
}

func (f failing) Coefficients(x []float64) []complex128 {
	if f.calls.Add(1)%2 == 0 {
		panic("no transform")
	}
	return f.Transform.Coefficients(x)
}

// Who asks can recover from a panic, whichever of the two laws it comes from: a
// server answers the next request.
func TestPanicReachesTheCaller(t *testing.T) {
	tr := failing{Gonum, new(atomic.Int64)}
	for range 20 {
		func() {
			s := New(Options{Laws: true, Transform: tr})
			if err := s.Add(dpsgd(t, 0.01, 1), 1000); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if p, ok := recover().(*fault.Panic); !ok || p.Value != "no transform" {
					t.Errorf("recovered %v", p)
				}
			}()
			s.Epsilon(t.Context(), 1e-5)
			t.Error("no panic")
		}()
	}
}

// counting adds up the points of transforms at work.
type counting struct {
	Transform
	mu        sync.Mutex
	now, most int
}

func (c *counting) Coefficients(x []float64) []complex128 {
	c.mu.Lock()
	c.now += len(x)
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	time.Sleep(10 * time.Millisecond) // for others to come
	defer func() {
		c.mu.Lock()
		c.now -= len(x)
		c.mu.Unlock()
	}()
	return c.Transform.Coefficients(x)
}

// The limit of points holds for all transforms at work: of two sums asked together,
// each with two laws.
func TestTransformsAtOnceKeepToTheLimit(t *testing.T) {
	const limit = 1 << 14
	c := &counting{Transform: Gonum}
	var wg sync.WaitGroup
	for range 2 {
		s := New(Options{Laws: true, Transform: c, MaxPoints: limit})
		if err := s.Add(dpsgd(t, 0.01, 1), 1000); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { s.Epsilon(t.Context(), 1e-5) })
	}
	wg.Wait()
	if c.most == 0 || c.most > limit {
		t.Errorf("%d points at once", c.most)
	}
}
