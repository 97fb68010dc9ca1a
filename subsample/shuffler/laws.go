package shuffler

// Profiles of rounds, made for a question: values of δ(α) at points that are close where the question looks, joined by chords
// above and by lines below.

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// laws are those of one round of a randomizer behind a shuffler.
type laws struct {
	scheme            shufflerScheme
	randomizer        randomizer
	relation          profiles.Relation
	blankets, attacks []part

	mu   sync.Mutex // made may be read by several accountants
	made map[wish]profiles.Bounds
}

// leastDelta is the smallest δ that laws are made for.
const leastDelta = 1e-280

// leastWidth is the finest width that laws are made for: theory leaves more.
const leastWidth = 1e-4

// Least implements profiles.Laws.
func (*laws) Least() float64 { return leastDelta }

// A wish is what laws are made for.
type wish struct {
	delta, width float64
	rounds       int64
	one          bool // a single round, asked at one δ
}

// For implements profiles.Laws. Each round is a fixed step: the bounds of one hold whatever earlier rounds put out (Lemma G).
func (l *laws) For(ctx context.Context, q profiles.Question) (profiles.Composition, error) {
	m, err := l.round(ctx, q)
	if err != nil {
		return profiles.Composition{}, err
	}
	return profiles.Repeat(m, q.Runs), nil
}

// round returns one round for a question.
func (l *laws) round(ctx context.Context, q profiles.Question) (profiles.Bounds, error) {
	w := wish{
		delta: min(max(q.Delta, leastDelta), 0.5), width: min(max(q.Width, leastWidth), 0.3), rounds: max(1, q.Total),
		one: q.Alone && !q.Many && q.Runs == 1,
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m, ok := l.made[w]
	if !ok {
		up, low, err := l.make(ctx, w)
		if err != nil {
			return m, err
		}
		m = l.bounds(up, low)
		if l.made == nil {
			l.made = map[wish]profiles.Bounds{}
		}
		l.made[w] = m
	}
	return m, nil
}

// bounds returns one round between the two profiles.
func (l *laws) bounds(up, low profiles.Profile) profiles.Bounds {
	return profiles.Bounds{Name: l.randomizer.name, Relation: l.relation, Directions: [2]profiles.Direction{
		{Upper: up, Lower: low}, {Upper: profiles.Reverse(up), Lower: profiles.Reverse(low)}}}
}

// Retreat implements trait.Retreat: what each user's message tells without a shuffler, and nothing.
func (l *laws) Retreat(q profiles.Question) (_ profiles.Composition, err error) {
	var up profiles.Profile
	if eps := l.randomizer.Epsilon(); !(eps <= maxEpsilon) || l.relation != profiles.Substitute {
		up, err = profiles.NewDiscrete(nil, 0, 0, 0, 0) // an infinite loss is certain
	} else {
		var m profiles.Mechanism
		if m, err = profiles.NewPure(eps * (1 + 8*u)); err == nil {
			up, err = m.Pair(l.relation)
		}
	}
	if err != nil {
		return profiles.Composition{}, err
	}
	return profiles.Repeat(l.bounds(up, profiles.Identical()), q.Runs), nil
}

// make computes the profiles of one round.
func (l *laws) make(ctx context.Context, w wish) (up, low *profiles.Discrete, err error) {
	var above []game
	for _, p := range l.blankets {
		g, err := l.scheme.game(p, l.relation)
		if err != nil {
			return nil, nil, err
		}
		above = append(above, g)
	}
	attack, share, err := l.attack(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	m := &maker{ctx: ctx, wish: w, games: above, ordered: l.relation == profiles.Substitute && len(above) > 1, smooth: max(5e-3, 0.7*math.Sqrt(w.width))}
	if l.bit() {
		if err := m.coverBit(l.randomizer.epsilon, l.scheme.honest()-1); err != nil {
			return nil, nil, err
		}
	}
	alone := m.cover == nil && len(above) == 1 && above[0].listed()
	switch {
	case alone:
		up, err = above[0].exact()
	case m.cover == nil && !slices.ContainsFunc(above, func(g game) bool { return !g.listed() }):
		alone = true
		up, err = worst(above)
	default:
		err = m.curve()
		if err == nil {
			up, err = profiles.NewChords(l.upToLocal(m))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if attack.listed() && share == 1 && (m.cover == nil || len(m.cover.orders[0].zeros.mass) == 1) {
		low, err = attack.exact()
	} else {
		if alone {
			if err := m.curve(); err != nil {
				return nil, nil, err
			}
		}
		low, err = m.lines(attack, share)
	}
	return up, low, err
}

// upToLocal returns the points of a profile above, up to where each user's message tells no more without a shuffler. Chords after the last
// point that was computed would else be an infinite loss, which grows e^ε-fold with each record of a person.
func (l *laws) upToLocal(m *maker) (x, up, back []float64) {
	x, up, back = m.x, m.up, m.back
	most := l.randomizer.Epsilon()*(1+8*u) + 8*u // +Inf of a matrix with zeros
	if last := len(x) - 1; l.relation == profiles.Substitute && x[last] < most && !math.IsInf(most, 1) {
		x, up, back = append(slices.Clone(x), most), append(slices.Clone(up), 0), append(slices.Clone(back), 0)
	}
	return x, up, back
}

// mostCovered is up to how many users a cover is listed: its laws of counts take some 300 bytes for each root of a user.
const mostCovered = 2e8 // steers: width for memory and time

// bit reports whether Lemmas D and E are for this round.
func (l *laws) bit() bool {
	return l.scheme.honest() <= mostCovered && l.randomizer.name == "k-rr" && l.randomizer.k == 2 && l.relation == profiles.Substitute && l.scheme.complete()
}

// attack returns the game of the concrete data sets that are below, and with which probability the adversary plays it: that which
// reaches most in all rounds where games are listed, else that with the largest δ of one round about where the wish looks.
func (l *laws) attack(ctx context.Context, w wish) (best game, share float64, err error) {
	s, share := l.scheme.withFewer()
	attacks := l.attacks
	if len(attacks) > 2 && l.randomizer.matrix != nil {
		// By what a message tells on average: the others stay attacks.
		tells := func(p part) (v float64) {
			for _, k := range p.kinds {
				v += k.w * (k.a - k.b) * (k.a - k.b)
			}
			return v + 1e3*p.outA
		}
		attacks = slices.Clone(attacks)
		slices.SortStableFunc(attacks, func(x, y part) int { return cmp.Compare(tells(y), tells(x)) })
		attacks = attacks[:3]
	}
	var games []game
	listed := true
	for _, p := range attacks {
		g, err := s.game(p, l.relation)
		if err != nil {
			return best, share, err
		}
		g.ratio *= 1 + 16*u
		games = append(games, g)
		listed = listed && g.listed()
	}
	most := -1.0
	for _, g := range games {
		v := 0.0
		switch {
		case len(games) == 1:
		case listed:
			v = g.reaches(float64(w.rounds), w.delta)
		default:
			for _, x := range []float64{0, 2 * g.spread()} {
				got, err := g.sum(ctx, math.Exp(x), 0.05)
				if err != nil {
					return best, share, err
				}
				v += got.below / (1e-300 + got.above + v)
				v += got.below
			}
		}
		if !(v <= most) {
			most, best = v, g
		}
	}
	return best, share, nil
}

// reaches is about the ε(δ) of so many rounds of a game that is listed: Chernoff's bound, whose order is that of the games.
func (g game) reaches(rounds, delta float64) float64 {
	if rounds*g.outA > delta {
		return math.Inf(1)
	}
	all, _ := g.list()
	least := math.Inf(1)
	for t := 1.0 / 64; t <= 64; t *= 2 {
		sum := 0.0
		for _, o := range all {
			if o.p > 0 && o.q > 0 {
				sum += o.p * math.Pow(o.p/o.q, t)
			}
		}
		least = min(least, (rounds*xmath.Log(sum)-xmath.Log(delta))/t)
	}
	return least
}

// spread is about the standard deviation of the loss.
func (g game) spread() float64 {
	var v, a, b float64
	for _, s := range g.slots {
		v += s.p * (s.a - s.b) * (s.a - s.b)
		a, b = a+s.p*s.a, b+s.p*s.b
	}
	n := float64(g.n)
	return math.Sqrt(n * max(v-(a-b)*(a-b), 1e-300))
}

// A maker finds the points of a profile above.
type maker struct {
	ctx   context.Context
	wish  wish
	games []game
	// ordered says that the games are those of all pairs of values in both orders.
	ordered bool
	smooth  float64
	cover   *cover
	// The cover of one round is made at a loss, far from which the games do. At the largest loss at which it was asked it had a value.
	near, far, most float64
	tolerance       float64

	x, up, back []float64
}

// cutWidth is how far the laws of counts reach, in standard deviations.
func (m *maker) cutWidth() float64 { return 2 + math.Sqrt(-2*xmath.Log(m.least())) }

// least is a δ below which a round does not matter.
func (m *maker) least() float64 {
	return max(1e-290, m.wish.delta/float64(m.wish.rounds)*min(1e-3, m.wish.width))
}

// coverBit finds a cover that costs half of the width, and no less than what many users allow in time.
func (m *maker) coverBit(epsilon float64, others int64) error {
	sd := m.games[0].spread()
	tolerance := max(m.wish.width/2, 2e-5)
	switch {
	case others > 2e7:
		tolerance = max(tolerance, 8e-3)
	case others > 1e5:
		tolerance = max(tolerance, 1e-3)
	}
	// The losses at which the cover is made: what the attack on equal others reaches for one round, and what many rounds consist of.
	looks := []float64{0, 0.87 * sd, 2.2 * sd}
	equal := newBinary(epsilon, others, 0, m.cutWidth())
	if m.wish.one {
		m.near, _ = xmath.Bisect(0, epsilon, 40, func(x float64) bool { return equal.price(math.Exp(x)).below > m.wish.delta })
		looks = []float64{m.near}
	} else {
		tolerance = max(tolerance, 1e-3)
	}
	m.tolerance = tolerance
	slack := make([]float64, len(looks))
	for i, x := range looks {
		x = min(x, 0.9*epsilon)
		looks[i] = math.Exp(x)
		// δ is about s·f(ε/s), s the deviation of the loss.
		v := equal.price(looks[i])
		slack[i] = tolerance * max(1e-3, x*v.slope/max(v.below, 1e-300))
		if !m.wish.one {
			slack[i] += tolerance
		}
	}
	c, err := newCover(m.ctx, epsilon, others, looks, slack, m.cutWidth())
	m.cover = c
	return err
}

// at returns the largest δ of the games in both orders at a loss, or of the cover.
func (m *maker) at(x float64) (up, back float64, err error) {
	alpha := math.Exp(x)
	if m.cover != nil && (!m.wish.one || math.Abs(x-m.near) < m.near/10) {
		up, err = m.cover.price(m.ctx, alpha*(1-2*u))
		if m.far == 0 || x > m.far {
			m.far, m.most = x, up
		}
		return up, up, err
	}
	for _, g := range m.games {
		v, err := g.sum(m.ctx, alpha*(1-2*u), m.smooth)
		if err != nil {
			return 0, 0, err
		}
		up = max(up, v.above)
		if !m.ordered && !g.symmetric() {
			if v, err = g.reverse().sum(m.ctx, alpha*(1-2*u), m.smooth); err != nil {
				return 0, 0, err
			}
		}
		back = max(back, v.above)
	}
	if m.far > 0 && x > m.far { // δ does not increase
		up, back = min(up, m.most), min(back, m.most)
	}
	return up, back, nil
}

// symmetric reports whether exchanging both data sets changes nothing.
func (g game) symmetric() bool {
	if g.ka != g.kb || g.outA != g.outB {
		return false
	}
	for _, s := range g.slots {
		i := slices.IndexFunc(g.slots, func(o slot) bool { return o.a == s.b && o.b == s.a })
		if i < 0 || g.slots[i].p != s.p {
			return false
		}
	}
	return true
}

// maxPoints bounds the points of a profile.
const maxPoints = 500

// curve finds the points: of a standard deviation of the loss so many as the width of many rounds asks for, or few beside those of the search for
// the ε of one.
func (m *maker) curve() error {
	sd, end := 0.0, 0.0
	for _, g := range m.games {
		sd = max(sd, g.spread())
		r := g.ratio
		if r == 0 {
			r = math.Inf(1)
		}
		end = max(end, xmath.Log(r)*(1+4*u)+1e-9)
	}
	step := sd * min(0.5, math.Sqrt(m.wish.width))
	if m.wish.one {
		step = sd / 2
	}
	if !math.IsInf(end, 1) {
		step = min(step, end/8)
	}
	least := m.least()
	if m.near > 0 {
		for _, f := range []float64{1, 1 + m.tolerance, 1 + 2*m.tolerance} {
			if err := m.add(m.near * f); err != nil {
				return err
			}
		}
	}
	for x := 0.0; ; {
		if x >= end {
			for n := len(m.x); n > 0 && m.x[n-1] >= end; n-- {
				m.x, m.up, m.back = m.x[:n-1], m.up[:n-1], m.back[:n-1]
			}
			m.x, m.up, m.back = append(m.x, end), append(m.up, m.rest(0)), append(m.back, m.rest(1))
			break
		}
		if err := m.add(x); err != nil {
			return err
		}
		n, _ := slices.BinarySearch(m.x, x)
		if rest := max(m.up[n]-m.rest(0), m.back[n]-m.rest(1)); n == len(m.x)-1 && (rest < least || n >= 4*maxPoints) {
			break
		}
		x += step * max(1, x/(5*sd))
	}
	if m.wish.one {
		return m.search()
	}
	return nil
}

// rest is the mass of infinite losses, above.
func (m *maker) rest(d int) (most float64) {
	for _, g := range m.games {
		out := g.outA
		if d == 1 && !m.ordered {
			out = g.outB
		}
		most = max(most, out*(1+1e-12))
	}
	return most
}

func (m *maker) add(x float64) error {
	up, back, err := m.at(x)
	i, found := slices.BinarySearch(m.x, x)
	if found || err != nil {
		return err
	}
	m.x, m.up, m.back = slices.Insert(m.x, i, x), slices.Insert(m.up, i, up), slices.Insert(m.back, i, back)
	return nil
}

// search adds points next to the ε of δ, where chords are then as good as the values themselves.
func (m *maker) search() error {
	goal := xmath.Log(m.wish.delta)
	log := func(i int) float64 { return xmath.Log(max(1e-300, m.up[i], m.back[i])) }
	for range 12 {
		i := 0
		for i < len(m.x) && log(i) > goal {
			i++
		}
		if i == 0 || i == len(m.x) || m.x[i]-m.x[i-1] < m.wish.width*m.x[i]/4 {
			return nil
		}
		// Where the chord of log δ meets the goal, or the line through the two points before it; and a little beyond on the side that is far.
		lo, hi := m.x[i-1], m.x[i]
		at := lo + (hi-lo)*(log(i-1)-goal)/(log(i-1)-log(i))
		if i > 1 && lo-m.x[i-2] < (hi-lo)/2 {
			at = lo + (lo-m.x[i-2])*(log(i-1)-goal)/(log(i-2)-log(i-1))
		}
		if nudge := m.wish.width * at / 10; at-lo < hi-at {
			at += nudge
		} else {
			at -= nudge
		}
		if !(at > lo && at < hi) {
			at = (lo + hi) / 2
		}
		if err := m.add(at); err != nil {
			return err
		}
	}
	return nil
}

// lines returns the profile of an attack that is played with the probability share, from tests that are best at the points.
func (m *maker) lines(g game, share float64) (*profiles.Discrete, error) {
	var both [2]profiles.Lines
	if m.cover != nil {
		if d, ok, err := m.cover.orders[0].pair(); ok || err != nil {
			return d, err
		}
		m.cover.turn()
	}
	for d := range both {
		if d == 1 && m.cover == nil && g.symmetric() {
			both[1] = both[0] // its own reverse to the last bit, so that one direction is asked
			break
		}
		both[d].Inf = share * g.outA * (1 - 8*u)
		for _, x := range m.x {
			if err := parallel.Spend(m.ctx, 10); err != nil {
				return nil, err
			}
			var v value
			var err error
			if m.cover != nil {
				v = m.cover.orders[d].price(math.Exp(x) * (1 + 2*u))
			} else if v, err = g.sum(m.ctx, math.Exp(x)*(1+2*u), m.smooth/2); err != nil {
				return nil, err
			}
			both[d].W = append(both[d].W, share*v.below*(1-8*u)-8*u*v.slope)
			both[d].Q = append(both[d].Q, share*v.slope)
		}
		for i, w := range both[d].W {
			if !(w > both[d].Inf) {
				both[d].W[i], both[d].Q[i] = both[d].Inf, 0
			}
		}
		g = g.reverse()
	}
	return profiles.NewTangents(m.x, both[0], both[1])
}
