package main

import (
	"slices"

	"github.com/dpaccountant/accountant/cmd/service"
)

// mostPoints a line has, or four times those that were asked for.
const mostPoints = 240

// finer returns the points of a curve with others between them, up to mostPoints, found by
// ask where middle returns a place between two of them.
func finer(points []service.CurvePoint, middle func(a, b service.CurvePoint) (x float64, wanted bool), ask func([]float64) ([]service.CurvePoint, error)) ([]service.CurvePoint, error) {
	for most := max(mostPoints, 4*len(points)); len(points) < most; {
		var at []float64
		for i := 1; i < len(points) && len(points)+len(at) < most; i++ {
			if x, wanted := middle(points[i-1], points[i]); wanted && x > float64(points[i-1].X) && x < float64(points[i].X) {
				at = append(at, x)
			}
		}
		if len(at) == 0 {
			break
		}
		more, err := ask(at)
		if err != nil {
			return nil, err
		}
		points = append(slices.Clip(points), more...)
		slices.SortFunc(points, func(a, b service.CurvePoint) int {
			if a.X < b.X {
				return -1
			}
			return 1
		})
	}
	return points, nil
}

// lineStep is how far a line may be from the curve that it bounds, as a share of the
// picture: about a pixel.
const lineStep = 1.0 / 400
