// Transforms of profiles: the profile's own, or one made from its atoms, above and
// below.

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

// A NearlyTransformer is a profile with cheap transforms of losses close to its own: it is
// dominated by upper and dominates lower, and their δ(ε) are within mass of its own, a run,
// at every ε. Take mass well below δ over the number of runs.
type NearlyTransformer interface {
	Transformer
	TransformsWithin(mass float64) (upper, lower Transform)
}

// TransformsOf returns transforms of losses above and below that of p, with δ(ε) within mass
// of its own: its exact one twice, if it has one. They are nil if there is none.
func TransformsOf(p Profile, mass float64) (upper, lower Transform) {
	if t := TransformOf(p); t != nil {
		return t, t
	}
	if n, ok := p.(NearlyTransformer); ok {
		return n.TransformsWithin(mass)
	}
	return nil, nil
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

// TransformsWithin implements NearlyTransformer.
func (r reversed) TransformsWithin(mass float64) (upper, lower Transform) {
	if upper, lower = TransformsOf(r.base, mass); upper != nil && lower != nil {
		return upper.Reverse(), lower.Reverse()
	}
	return nil, nil
}
