// When two profiles are certainly the same.

package profiles

import (
	"reflect"
	"slices"
)

// Equal reports whether p and q are certainly the same profile: equal values, or
// discrete profiles with the same atoms.
func Equal(p, q Profile) bool {
	a, aok := p.(*Discrete)
	b, bok := q.(*Discrete)
	if aok && bok {
		return a == b || a.logPInf == b.logPInf && a.logQInf == b.logQInf &&
			a.massErr == b.massErr && a.lossErr == b.lossErr && slices.Equal(a.atoms, b.atoms)
	}
	va, vb := reflect.ValueOf(p), reflect.ValueOf(q)
	return va.Comparable() && vb.Comparable() && p == q
}
