/*
 * Noise that is correlated over the n steps of a run: y = Cx + z, C lower triangular, z independent Gaussian noise. What a record may do is one
 * Gaussian pair moved by the largest |Cu|, over the places where it may take part and contributions u of norm 1 (matrix/sensitivity.go, Theorem M1; C6).
 * With cyclic Poisson sampling it is the columns of group 0, each a Gaussian on Poisson samples (Theorem M2). Coefficients are computed as balls; which of
 * the theorems below holds is decided by comparing balls, and where none does the majorant is taken and no lower end proved.
 *
 * Toeplitz matrices with coefficients c: column i has the first n - i of them. At most k places, b or more apart:
 *   k = 1, or no two of the places share a row (b is at least the number of coefficients): sum of the squared norms of columns 0, b, 2b, …;
 *   c >= 0 that do not rise: columns 0, b, 2b, … added up (Kalinin and Lampert 2024, Theorem 2); the same of any c >= 0 in epochs, where
 *   other sets of places have the same sum moved down and cut off;
 *   else that of coefficients that are at least |c| and do not rise, which is above.
 * Trees: node a of level l is the sum of steps a 2^l … (a+1) 2^l - 1 if all of them are there; the sum of (places below a node)^2.
 */
#include <math.h>
#include "check.h"

static const slong PREC = 300;

/* The sum of squares of c_t + c_{t-b} + …, k terms, or that of squared norms if the places are apart. */
static void strided(arb_t out, arb_srcptr c, slong bands, slong n, slong b, slong k, int apart)
{
	VECTOR sums = vector(n);
	arb_zero(out);
	for (slong i = 0, j = 0; apart && j < k && i < n; i += b, j++)
		for (slong t = 0; t < bands && t < n - i; t++)
			arb_addmul(out, c + t, c + t, PREC);
	for (slong t = 0; t < n && !apart; t++) {
		if (t < bands)
			arb_set(sums + t, c + t);
		if (t >= b)
			arb_add(sums + t, sums + t, sums + t - b, PREC);
		if (t/b >= k && t - k*b < bands)
			arb_sub(sums + t, sums + t, c + (t - k*b), PREC);
		arb_addmul(out, sums + t, sums + t, PREC);
	}
}

int toeplitz_norm(arb_t norm, arb_ptr c, slong bands, slong n, slong b, slong k, int epochs)
{
	int falls = 1, positive = 1, exact = 1;
	for (slong t = 0; t < bands; t++) {
		positive = positive && arb_is_nonnegative(c + t);
		falls = falls && (t == 0 || arb_le(c + t, c + t - 1));
	}
	int apart = k == 1 || bands <= b;
	if (!apart && !(positive && (falls || epochs))) {
		exact = 0;
		for (slong t = bands - 1; t >= 0; t--) {
			arb_abs(c + t, c + t);
			if (t + 1 < bands)
				arb_max(c + t, c + t, c + t + 1, PREC);
		}
	}
	strided(norm, c, bands, n, b, k, apart);
	arb_sqrt(norm, norm, PREC);
	return exact;
}

/* The places first, first + b, … below n, k at most. */
static ulong tree_places(slong first, slong n, slong full, slong b, slong k)
{
	ulong total = 0;
	for (slong size = 1; size <= full; size *= 2)
		for (slong j = 0; j < k && first + j*b < n;) {
			slong node = (first + j*b)/size, hits = 0;
			for (; j < k && first + j*b < n && (first + j*b)/size == node; j++)
				hits++;
			if ((node + 1)*size <= full)
				total += hits*hits;
		}
	return total;
}

int tree_norm(arb_t norm, slong n, int completion, slong b, slong k, int epochs)
{
	slong full = 1;
	while (full < n)
		full *= 2;
	if (!completion)
		full = n;
	ulong most = 0, bound = 0;
	for (slong first = 0; first < b && first < n; first++) {
		ulong total = tree_places(first, n, full, b, k);
		most = total > most ? total : most;
	}
	/* Above every set of places: h at most below a node of a level, k in all, and squares are largest if as many nodes as possible have h. */
	for (slong size = 1; size <= full; size *= 2) {
		slong h = (size + b - 1)/b;
		h = h < k ? h : k;
		slong hits = h*(full/size) < k ? h*(full/size) : k;
		bound += hits/h*h*h + (hits%h)*(hits%h);
	}
	int exact = k == 1 || epochs || bound == most;
	arb_sqrt_ui(norm, exact ? most : bound, PREC);
	return exact;
}
