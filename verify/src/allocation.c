/*
 * One of t steps is drawn for each record, and noise is Gaussian: the pair is that of M = (A_1 + … + A_t)/t under Q, A = e^{mu Z - mu^2/2} the
 * likelihood ratio of one step (docs/theory/allocation.md, Theorem 1; C4). Either direction is the mean of a convex function of M, which grows if a mass
 * between two points goes to both and keeps its mean, and falls if it goes to its mean; so too with each summand (Theorem 3). Above, A/t
 * and every sum are put on the points e^l of the lattice, and 0; what is beyond the last point stays there, with the rest of its mean at
 * infinity. The points are a geometric sequence, so that the sum of two of them is a share of two points that depend on the difference of the two
 * alone, and t summands take about 2 log_2 t sums of n^2 products. Below, cells [e^l, e^{l+h}) have a mass and a mean, and an observer is told the cell.
 *
 * Masses are positive doubles. A sum adds at most 4n products to a place, so that it is off by a factor of 1 + (4n+8) 2^-53 at most.
 */
#include <math.h>
#include <string.h>
#include "check.h"

/* What has less is left out: cells under both laws, which is to look at other outcomes only; points go to 0 with their mass and to infinity with
 * their mean, which is more than they had. */
static const double LEAST = 1e-70;

/* n points or cells; first is the mean times the mass, of cells; zero and far are the mass at 0 and the mean at infinity, of points. */
typedef struct {
	double *mass, *first, zero, far;
	slong from, to;
} spread;

/* Of a sum of e^{l_a} and e^{l_{a-d}}: it is at or above point a + place, and below the next, with the shares low and high of both; over e^{l_a} it is
 * 1 + ratio, and the next point edge. */
typedef struct {
	slong place;
	double low, high, ratio, edge;
} pairing;

/* low + high at the ends of [left, right], where mass and mean are those given: rounded up. */
static void share(double *low, double *high, const arb_t mass, const arb_t mean, const arb_t left, const arb_t right, slong prec)
{
	BALLS(x, y);
	arb_mul(x, mass, left, prec);
	arb_sub(x, mean, x, prec);
	arb_sub(y, right, left, prec);
	arb_div(x, x, y, prec);
	*high += fmax(0, bound_of_ball(x, 1));
	arb_sub(x, mass, x, prec);
	*low += fmax(0, bound_of_ball(x, 1));
}

static void pair_up(pairing *g, slong n, double h, slong prec)
{
	BALLS(x, left, right, one);
	arb_one(one);
	for (slong d = 0; d < n; d++) {
		/* The place by doubles may be off by one. */
		g[d] = (pairing){ .ratio = exp(-d*h), .place = floor(log1p(exp(-d*h))/h) + 1, .low = INFINITY, .high = INFINITY };
		for (int inside = 0; !inside && g[d].place >= 0 && g[d].place > log1p(exp(-d*h))/h - 2; g[d].place -= !inside) {
			for (int i = 0; i < 3; i++) {
				arb_mul_si(x, D(h), i == 2 ? -d : g[d].place + i, prec);
				arb_exp(i == 2 ? x : i ? right : left, x, prec);
			}
			arb_add_ui(x, x, 1, prec);
			inside = arb_ge(x, left) && arb_le(x, right);
			if (inside) {
				g[d].edge = mid(right);
				g[d].low = g[d].high = 0;
				share(&g[d].low, &g[d].high, one, x, left, right, prec);
			}
		}
	}
}

/* All masses but zeros are at from and after, before to. */
static void find_ends(spread *x, slong n)
{
	for (x->from = 0; x->from < n && x->mass[x->from] == 0;)
		x->from++;
	for (x->to = n; x->to > x->from && x->mass[x->to - 1] == 0;)
		x->to--;
}

static void add(spread *out, const spread *x, const spread *y, const pairing *g, const double *point, slong n, int above)
{
	slong top = n - 1;
	double *mass = out->mass;
	memset(mass, 0, 2*n*sizeof *mass);
	out->zero = x->zero*y->zero*1.0001 + 1e-290;
	out->far = 1.0001*(x->far + y->far) + 1e-290; /* what underflows is far less */
	for (slong a = 0; a < n; a++)
		mass[a] += x->zero*y->mass[a] + y->zero*x->mass[a];
	for (slong d = 0; d < n; d++)
		for (int turn = 0; turn < (d == 0 || x == y ? 1 : 2); turn++) {
			/* All points c of one and c - d of the other. */
			const spread *u = turn ? y : x, *v = turn ? x : y;
			const double twice = x == y && d > 0 ? 2 : 1, low = twice*g[d].low, high = twice*g[d].high;
			const slong place = g[d].place;
			slong c = u->from > v->from + d ? u->from : v->from + d, to = u->to < v->to + d ? u->to : v->to + d;
			slong last = !above ? c : to < top - place ? to : top - place;
			double carry = 0;
			for (; c < last; c++) {
				double m = u->mass[c]*v->mass[c - d];
				mass[c + place] += m*low + carry;
				carry = m*high;
			}
			mass[c + place < top ? c + place : top] += carry;
			for (; c < to; c++) {
				double m = twice*u->mass[c]*v->mass[c - d];
				if (m == 0)
					continue;
				if (above) {
					mass[top] += m;
					out->far += 2*m*point[c];
					continue;
				}
				/* first is over the mass and point c here. */
				slong i = c + place + (u->first[c] + v->first[c - d]*g[d].ratio >= g[d].edge);
				i = i < top ? i : top;
				mass[i] += m;
				out->first[i] += m*(u->first[c]*point[c] + v->first[c - d]*point[c - d]);
			}
		}
	for (slong i = 0; i < n; i++) {
		out->zero += above && mass[i] < LEAST ? mass[i] : 0;
		out->far += above && mass[i] < LEAST ? 2*mass[i]*point[i] : 0;
		if (mass[i] < LEAST)
			mass[i] = 0;
		else if (above)
			mass[i] *= 1 + (4*n + 8)*0x1p-52;
		else
			out->first[i] /= mass[i]*point[i];
	}
	find_ends(out, n);
}

/* The spread of A/t. */
static void one_step(spread *out, const arb_t mu, ulong t, double h, double offset, slong from, slong n, int above, slong prec)
{
	VECTOR x = vector(10);
	arb_ptr tail[2] = { x, x + 1 }, before[2] = { x + 2, x + 3 }, point = x + 4, last = x + 5, mass = x + 6, mean = x + 7, z = x + 8, y = x + 9;
	memset(out->mass, 0, 2*n*sizeof *out->mass);
	out->zero = out->far = 0;
	arb_one(before[0]);
	arb_one(before[1]);
	for (slong i = 0; i <= n; i++) {
		/* The masses of A/t at or above point i, under Q and under P: Z >= (l + log t)/mu + mu/2, less mu under P. */
		arb_mul_si(point, D(h), from + i, prec);
		arb_add(point, point, D(offset), prec);
		arb_log_ui(z, t, prec);
		arb_add(z, z, point, prec);
		arb_div(z, z, mu, prec);
		arb_exp(point, point, prec);
		for (int k = 0; k < 2; k++) {
			arb_mul_2exp_si(y, mu, -1);
			arb_addmul_si(z, y, k ? -2 : 1, prec);
			normal_tail(tail[k], z, prec);
			if (i == n)
				arb_zero(tail[k]);
		}
		arb_sub(mass, before[0], tail[0], prec);
		arb_sub(mean, before[1], tail[1], prec);
		arb_div_ui(mean, mean, t, prec);
		if (!above) {
			slong j = i > 0 ? i - 1 : 0;
			out->mass[j] += mid(mass);
			out->first[j] += mid(mean);
		} else if (i < n)
			share(i ? &out->mass[i - 1] : &out->zero, &out->mass[i], mass, mean, last, point, prec);
		else {
			out->mass[n - 1] += fmax(0, bound_of_ball(mass, 1));
			out->far = fmax(0, bound_of_ball(mean, 1));
		}
		arb_swap(before[0], tail[0]);
		arb_swap(before[1], tail[1]);
		arb_set(last, point);
	}
}

slong allocation_range(slong *from, const step *s, double h, double tail)
{
	BALLS(mu);
	shift_of(mu, s, 80);
	double t = s->places, m = mid(mu), z = sqrt(-2*log(tail));
	*from = floor((fmin(-8, -m*m/2 - m*(1 + z/sqrt(t))) - log(t))/h);
	return ceil(log(4 + 2*exp(fmin(600, m*m/2 + m*z))/t)/h) - *from + 1;
}

void allocation_law(arb_ptr p, arb_ptr q, arb_t far, const step *s, int d, int above, double h, double offset, slong from, slong n)
{
	const slong prec = 256;
	BALLS(mu, y);
	shift_of(mu, s, prec);
	FREED pairing *g = flint_malloc(n*sizeof *g);
	FREED double *room = flint_malloc(7*n*sizeof *room);
	double *point = room + 6*n;
	spread one = { .mass = room, .first = room + n }, sum = { .mass = room + 2*n, .first = room + 3*n }, next = { .mass = room + 4*n, .first = room + 5*n };
	pair_up(g, n, h, prec);
	one_step(&one, mu, s->places, h, offset, from, n, above, prec);
	for (slong i = 0; i < n; i++) {
		point[i] = exp(offset + (from + i)*h)*(above ? 1 + 1e-9 : 1); /* above it bounds means; below it is a unit */
		if (!above && one.mass[i] >= LEAST)
			one.first[i] /= one.mass[i]*point[i];
		else if (!above)
			one.mass[i] = 0;
	}
	find_ends(&one, n);
	memcpy(sum.mass, one.mass, 2*n*sizeof *room);
	sum = (spread){ sum.mass, sum.first, one.zero, one.far, one.from, one.to };
	int bit = 63;
	while (!(s->places >> bit & 1))
		bit--;
	while (--bit >= 0)
		for (int more = 0; more < 1 + (int)(s->places >> bit & 1); more++) {
			add(&next, &sum, more ? &one : &sum, g, point, n, above);
			spread swap = sum;
			sum = next;
			next = swap;
		}
	/* Below, each of t summands and of fewer than t sums rounds by so much. */
	double off = 2.0*s->places*(4*n + 40)*0x1p-52;
	for (slong i = 0; i < n; i++) {
		slong j = d ? n - 1 - i : i;
		if (above) {
			arb_mul_si(p + j, D(h), from + i, prec);
			arb_add(p + j, p + j, D(offset), prec);
			arb_exp(p + j, p + j, prec);
			arb_set_d(y, sum.mass[i]);
			arb_mul(p + j, p + j, y, prec);
			if (d)
				arb_swap(p + j, y);
		} else {
			double mean = sum.mass[i]*sum.first[i]*point[i];
			arb_set_d(p + j, (d ? sum.mass[i] : mean)*(1 - off));
			arb_set_d(q + j, (d ? mean : sum.mass[i])*(1 + off));
		}
	}
	arb_set_d(far, d ? sum.zero : sum.far);
}
