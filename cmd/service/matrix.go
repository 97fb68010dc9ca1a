package service

import (
	"bytes"
	"context"
	"fmt"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/matrix"
)

// This file has what is known of the matrix mechanisms of a plan: what their prices are
// made of. It assumes a plan that can be read, and returns nothing for one without them.

// A MatrixRun is a matrix mechanism of a plan.
type MatrixRun struct {
	Step string `json:"step"` // its place
	Name string `json:"name,omitempty"`
	// Sensitivity holds that of the matrix under the schema, and EffectiveNoise is the
	// noise multiplier over its upper end, rounded; without secret sampling.
	Sensitivity    *Ends   `json:"sensitivity,omitempty"`
	EffectiveNoise *Number `json:"effective-noise-multiplier,omitempty"`
	// Blocks are those of the group that costs most, with cyclic Poisson sampling.
	Blocks     []MatrixBlock `json:"blocks,omitempty"`
	WorstGroup *int          `json:"worst-group,omitempty"`
}

// A MatrixBlock is a number of columns of the same norm.
type MatrixBlock struct {
	Norm           Ends   `json:"norm"`
	EffectiveNoise Number `json:"effective-noise-multiplier"`
	Count          int64  `json:"count"`
}

func matrixRuns(ctx context.Context, text PlanText) ([]MatrixRun, error) {
	if !bytes.Contains(text, []byte("matrix")) {
		return nil, nil
	}
	p, err := text.parse(ctx)
	if err != nil {
		return nil, err
	}
	return appendMatrixRuns(ctx, nil, "steps", p.Steps)
}

func appendMatrixRuns(ctx context.Context, found []MatrixRun, path string, steps []accountant.Step) ([]MatrixRun, error) {
	for i, s := range steps {
		at := fmt.Sprintf("%s[%d]", path, i)
		if r, ok := s.Mechanism.(*matrix.Run); ok {
			m := MatrixRun{Step: at, Name: s.Name}
			if err := m.describe(ctx, r); err != nil {
				return nil, err
			}
			found = append(found, m)
		}
		var err error
		if found, err = appendMatrixRuns(ctx, found, at+".steps", s.Steps); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (m *MatrixRun) describe(ctx context.Context, r *matrix.Run) error {
	bounds := func(s matrix.Sensitivity) (Ends, Number) {
		return Ends{Lower: Number(s.Lower), Upper: Number(s.Upper)}, Number(r.NoiseMultiplier() / s.Upper)
	}
	if !r.Config().Participation.Secret() {
		s, err := r.Sensitivity(ctx)
		if err != nil {
			return err
		}
		b, noise := bounds(s)
		m.Sensitivity, m.EffectiveNoise = &b, &noise
		return nil
	}
	blocks, group, err := r.Blocks(ctx)
	if err != nil || blocks == nil {
		return err
	}
	m.WorstGroup = &group
	for _, x := range blocks {
		b, noise := bounds(x.Norm)
		m.Blocks = append(m.Blocks, MatrixBlock{Norm: b, EffectiveNoise: noise, Count: x.Count})
	}
	return nil
}
