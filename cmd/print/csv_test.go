package print

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
)

func TestCSV(t *testing.T) {
	type ends struct {
		Lower service.Number `json:"lower"`
		Upper service.Number `json:"upper"`
	}
	type item struct {
		Name string `json:"name"`
		ends
		Attack *ends           `json:"attack,omitempty"`
		At     *service.Number `json:"at"`
	}
	type value struct {
		Count int64              `json:"count,omitempty"`
		Gap   bool               `json:"gap,omitempty"`
		Name  string             `json:"name"`
		Items []item             `json:"items"`
		Notes []string           `json:"notes,omitempty"`
		At    [2]float64         `json:"at"`
		Loss  map[string]float64 `json:"loss"`
		own   int
	}
	x := service.Number(1e-5)
	full := value{3, true, "a,b", []item{
		{"one", ends{service.Number(math.Inf(-1)), 0.1}, &ends{1, 2}, &x},
		{"two", ends{1e-300, service.Number(math.Inf(1))}, nil, nil},
	}, []string{"first", "second"}, [2]float64{1, 0.5}, map[string]float64{"z": 1, "b": 2}, 7}
	// A list's name stands before a key that the value has already; the columns are
	// the same for the empty value, but for its map.
	const columns = "count,gap,name,notes,at,%sitems-name,lower,upper,attack-lower,attack-upper,items-at\n"
	for _, c := range []struct {
		v    any
		want string
	}{
		{full, fmt.Sprintf(columns, "loss-b,loss-z,") +
			"3,true,\"a,b\",first; second,1 0.5,2,1,one,-Infinity,0.1,1,2,1e-5\n" +
			"3,true,\"a,b\",first; second,1 0.5,2,1,two,1e-300,Infinity,,,\n"},
		{value{}, fmt.Sprintf(columns, "") + ",false,,,0 0,,,,,,\n"},
		{full.Items[:0], "name,lower,upper,attack-lower,attack-upper,at\n"},
		{[]any{full.Items[1]}, "name,lower,upper,attack-lower,attack-upper,at\ntwo,1e-300,Infinity,,,\n"},
		{Named{"b", "\"2", "", full.Items[1], "a", []any{Named{"x", 1}, Named{"x", 2, "y", 3}}}, "b,name,lower,upper,attack-lower,attack-upper,at,x,y\n" +
			"\"\"\"2\",two,1e-300,Infinity,,,,1,\n\"\"\"2\",two,1e-300,Infinity,,,,2,3\n"},
	} {
		var b strings.Builder
		if err := CSV(&b, c.v); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("got\n%swant\n%s", b.String(), c.want)
		}
	}
	if err := CSV(&strings.Builder{}, []service.Number{service.Number(math.NaN())}); err == nil {
		t.Error("NaN is printed")
	}
}
