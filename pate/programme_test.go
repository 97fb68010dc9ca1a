package pate

import (
	"context"
	"testing"
)

func testRunA(t *testing.T) {
	v := s1(t, 250, 10, 640)
	l, err := Account(context.Background(), v, GNMax{40}, Options{Price: Exact})
	if err != nil {
		t.Fatal(err)
	}
	c := cost(t, l, Joint, nil)
	near(t, "forward", at(t, c.Forward, 14), .450772743492, 1e-11)
	near(t, "reverse", at(t, c.Reverse, 14), .464966205612, 1e-11)
	e, o, _ := Improved.Epsilon(c.Forward, 1e-5)
	e2, o2, _ := Improved.Epsilon(c.Reverse, 1e-5)
	t.Log(e, o, e2, o2)
	i := cost(t, l, DataIndependent, nil)
	e3, o3, err := i.Epsilon(i.Total, Improved, 1e-5)
	t.Log(e3, o3, err)
	f, r, err := l.ExactEpsilon(context.Background(), 1e-5)
	t.Log(f, r, err)
	b, err := Account(context.Background(), v, GNMax{40}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c = cost(t, b, Worst, nil)
	e, o, _ = Improved.Epsilon(c.Forward, 1e-5)
	e2, o2, _ = Improved.Epsilon(c.Reverse, 1e-5)
	t.Log(e, o, e2, o2)
}

func TestPublishRunA(t *testing.T) {
	v := s1(t, 250, 10, 640)
	l, err := Account(context.Background(), v, GNMax{40}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Publish(context.Background(), Publication{12, .02, .15, .95}, 1e-5, nil)
	t.Logf("%+v %v", p, err)
	l, err = Account(context.Background(), v, Confident{200, 150, 40}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err = l.Publish(context.Background(), Publication{12, .02, .15, .95}, 1e-5, nil)
	t.Logf("%+v %v", p, err)
}
