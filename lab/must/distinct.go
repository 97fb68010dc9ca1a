package main

import (
	"github.com/dpaccountant/accountant/lab/try"

	"math"
	"math/rand/v2"
)

func distinctTable(r *report) {
	draws := r.pick(10_000, 200)
	r.page["draws"] = draws
	for _, size := range [][3]int64{{300, 50, 30}, {1000, 200, 100}, {30969, 500, 300}} {
		ss := schemes(size[0], size[1], size[2])
		for i, s := range ss {
			src := rand.NewPCG(9, uint64(i))
			lo, hi, sum := math.MaxInt, 0, 0
			for range draws {
				picks := try.Must(s.s.Sample(src, size[0]))
				d := len(picks)
				lo, hi, sum = min(lo, d), max(hi, d), sum+d
			}
			r.page.Add("distinct", "| %d, %d, %d | %s | %.3f | %d | %.2f | %d |\n", size[0], size[1], size[2], s.name, s.s.ExpectedDistinct(), lo, float64(sum)/float64(draws), hi)
		}
	}
}
