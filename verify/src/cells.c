/*
 * A lower bound of delta of a few runs whose transforms fall too slowly for an integral: each run is seen through the cell that its output
 * is in, and no function of the outputs loses more than they do (data processing). So delta of the list of all cells is a lower bound, for
 * any choice of cells. It is crude, and enough to refute.
 */
#include <math.h>
#include "check.h"

static const double LIST = 1e5; /* ways in which the runs may fall into cells, of which there are fewer than MOST and at least LEAST */
enum { MOST = 256, LEAST = 4 };

/* The number of ways in which the runs of all steps may fall into n cells each. */
static double ways(const certificate *c, slong n)
{
	double size = 1;
	for (slong i = 0; i < c->steps; i++) {
		const step *s = &c->step[i];
		slong cells = s->kind == FINITE ? s->outcomes : n;
		for (slong k = 1; k < cells; k++)
			size *= ((double)s->count + k)/k;
	}
	return size;
}

int delta_cells(arb_t bound, const certificate *c, int d, double eps, slong prec)
{
	slong n = MOST;
	while (n >= LEAST && ways(c, n) > LIST)
		n = n*3/4;
	for (slong i = 0; i < c->steps; i++)
		if (n < LEAST || c->step[i].kind == DISCRETE_GAUSSIAN)
			return 0;
	step cells[MAX_STEPS] = {{ .count = 0 }};
	certificate seen = *c;
	seen.step = cells;
	for (slong i = 0; i < c->steps; i++) {
		const step *s = &c->step[i];
		if (s->kind == GAUSSIAN)
			gaussian_cells(&cells[i], n, c, s, d, prec);
		else if (s->kind == LAPLACE)
			laplace_cells(&cells[i], n, s, d, prec);
		else {
			new_outcomes(&cells[i], s->outcomes);
			for (slong j = 0; j < s->outcomes; j++)
				outcome_masses(cells[i].p + j, cells[i].q + j, s, d, j, prec);
		}
		cells[i].count = s->count;
		cells[i].rate = 1;
	}
	const char *why = "";
	int ok = delta_list(bound, &why, &seen, 0, eps, prec) && arb_is_finite(bound);
	for (slong i = 0; i < c->steps; i++)
		outcomes_clear(&cells[i]);
	return ok;
}
