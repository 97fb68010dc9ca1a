package contour
import ("testing";"context";"math";"fmt";"math/rand/v2")
func TestZZScan(t *testing.T){
	rng := rand.New(rand.NewPCG(15, 77))
	uniform := func(lo, hi float64) float64 { return math.Exp(math.Log(lo) + rng.Float64()*math.Log(hi/lo)) }
	var served, refused, part float64
	var ns,nr,np int
	worstR:=0.0
	for i := range 600 {
		q, sigma, count, delta := uniform(1e-4, 0.5), uniform(0.5, 10), int64(uniform(1e2, 1e9)), uniform(1e-30, 1e-3)
		if i%2==1 { q, count = uniform(1e-5,1e-2), int64(uniform(2,3000)) }
		add := rng.IntN(2) == 1
		c := newComposition(t, Factor{poisson(t, q, sigma, add), count})
		s:=cpu()
		a, err := c.Epsilon(context.Background(), math.Log(delta), Options{})
		d:=(cpu()-s)*1e3
		switch {
		case err==nil: served+=d; ns++
		case math.IsInf(a.Upper-a.Lower,1): refused+=d; nr++; worstR=max(worstR,d)
		default: part+=d; np++
		}
		fmt.Printf("ZZ %d q=%.3g sigma=%.3g T=%d delta=%.2g add=%v ms=%.3f tables=%d work=%d rel=%.1e err=%v\n",i,q,sigma,count,delta,add,d,a.Tables,a.Work,(a.Upper-a.Lower)/a.Upper,err)
	}
	fmt.Printf("SUM served %d %.1f ms, refused %d %.1f ms worst %.2f, partial %d %.1f ms\n",ns,served,nr,refused,worstR,np,part)
}
