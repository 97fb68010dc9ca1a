package contour
import ("testing";"context";"math";"fmt";"math/rand/v2";"os")
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
		sp:=cpu(); w0,eps0,th0,n0 := predict(c, math.Log(delta), nil); sp=(cpu()-sp)*1e3; s:=cpu()
		a, err := c.Epsilon(context.Background(), math.Log(delta), Options{Easy:easyFlag})
		d:=(cpu()-s)*1e3
		switch {
		case err==nil: served+=d; ns++
		case math.IsInf(a.Upper-a.Lower,1): refused+=d; nr++; worstR=max(worstR,d)
		default: part+=d; np++
		}
		fmt.Printf("ZZ %d q=%.3g sigma=%.3g T=%d delta=%.2g add=%v ms=%.3f tables=%d work=%d rel=%.1e err=%v PRED %.3g ms=%.2f eps0/eps=%.4g th0=%.3g n0=%.3g cond=%.3g\n",i,q,sigma,count,delta,add,d,a.Tables,a.Work,(a.Upper-a.Lower)/a.Upper,err,w0,sp,eps0/a.Estimate,th0,n0,dbgCond)
	}
	fmt.Printf("SUM served %d %.1f ms, refused %d %.1f ms worst %.2f, partial %d %.1f ms\n",ns,served,nr,refused,worstR,np,part)
}
var dbgCond float64
var easyFlag=os.Getenv("EASY")!=""
func predict(c *Composition, logDelta float64, b *budget) (w float64, eps, theta float64, n float64) {
	q := c.sample()
	eps, theta = q.start(right, logDelta); eps,theta,dbgCond=q.refine(logDelta,eps,theta)
	width := math.Max(1e-9*math.Abs(eps), 0)
	tol := math.Max(1e-12, math.Min(1e-4, width*math.Min(math.Abs(theta), 1e3)/12))
	g := goal{side: right, eps: eps, logX: logDelta, theta: theta, logTol: math.Log(tol), condition: math.Max(30,math.Min(1e4,tol/1e-14)), work: 1e18, hopeless: 1e18}
	th, lambda, _, _ := q.choose(g)
	h := floorBits(2*math.Pi/lambda)
	ptol := 0.6 * tol / (math.Max(1, c.runs()) * math.Max(30, g.condition))
	sk := q.lines(th)
	if sk==nil { return math.NaN(),eps,theta,0 }
	base := q.at(th)
	aim := g.logX + g.logTol - (base.k - th*g.eps)
	t := math.Max(2*h, math.Sqrt(2 * math.Max(1, -aim) / q.curvature(th)))
	t, err := q.decline(context.Background(), t, aim, h, 1.03, sk.fall, func(t float64) float64 { return 0 }, 1e18)
	if err!=nil { return math.Inf(1),eps,theta,0 }
	return t/h*sk.nodes(t, ptol), eps, theta, t/h
}
