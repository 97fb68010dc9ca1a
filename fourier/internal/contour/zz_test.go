package contour
import ("testing";"context";"math";"fmt")
func TestZZ(t *testing.T){
	for _, k := range []struct {
		name     string
		q, sigma float64
		count    int64
	}{
		{"A", 0.01, 1, 1000}, {"B", 0.001, 0.8, 10000}, {"C", 256. / 60000, 1.1, 14062},
		{"D", 0.02, 0.5, 500}, {"E", 1e-4, 0.6, 1000000}, {"F", 0.1, 4, 2000},{"1e8",0.01,1,1e8},
	} {
		for _, delta := range []float64{1e-5, 1e-10, 1e-20, 1e-30} {
		for _, add := range []bool{false,true} {
			c := newComposition(t, Factor{poisson(t, k.q, k.sigma, add), k.count})
			a, err := c.Epsilon(context.Background(), math.Log(delta), Options{})
			s:=""
			for _,tb:=range c.tables { s+=fmt.Sprintf(" [n=%d nodes=%d th=%.4g lam=%.4g s %.4g %.4g]",tb.n,tb.nodes,tb.theta,tb.lambda(),tb.sLow,tb.sHigh)}
			fmt.Printf("%s %g add=%v tables=%d work=%d rel=%.1e alias %.0e trunc %.0e quad %.0e round %.0e %s %v\n",k.name,delta,add,a.Tables,a.Work,(a.Upper-a.Lower)/a.Upper,a.Aliasing/a.Upper,a.Truncation/a.Upper,a.Quadrature/a.Upper,a.Rounding/a.Upper,s,err)
		}}
	}
}
