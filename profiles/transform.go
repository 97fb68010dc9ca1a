package profiles

import "github.com/dpaccountant/accountant/internal/transform"

// A Transform is the transform M(z) = E_P[e^{zL}; L finite] of the privacy loss of one
// direction, with proved errors.
type Transform = transform.Transform

// A Transformer is a profile whose privacy loss has a transform with proved errors, so
// that compositions of it need no lattice.
type Transformer interface {
	// Transform returns the transform; nil if this profile has none.
	Transform() Transform
}

// TransformOf returns the transform of p, nil if it has none.
func TransformOf(p Profile) Transform {
	if t, ok := p.(Transformer); ok {
		return t.Transform()
	}
	return nil
}

// Transform implements Transformer: the roles of P and Q change.
func (r reversed) Transform() Transform {
	if t := TransformOf(r.base); t != nil {
		return t.Reverse()
	}
	return nil
}
