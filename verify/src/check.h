/*
 * What the files of the checker share. It assumes nothing of the library that made a certificate:
 * every number of the claim is proved anew, in ball arithmetic (Arb, in FLINT). The certificate's
 * line of integration is a hint and cannot make a false claim pass.
 *
 * Everything of type arb_t is a ball that holds the true number. Plain doubles only steer: they choose
 * lines, steps and ranges, any choice of which gives a true, if wide, ball.
 *
 * Each file uses only those below it: verify.c, contour.c, lattice.c (with profile.c, where one needs the other), allocation.c, choice.c, list.c,
 * transform.c, draws.c, gaussian.c, laplace.c, discrete.c, certificate.c, matrix.c, pairs.c, sha256.c.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>
#include <flint/fmpz_poly.h>

/* Arb 2 has its own headers; from 3 on FLINT contains it. */
#if __has_include(<flint/arb.h>)
#include <flint/arb.h>
#include <flint/acb.h>
#include <flint/acb_mat.h>
#include <flint/arb_poly.h>
#include <flint/arb_hypgeom.h>
#else
#include <arb.h>
#include <acb.h>
#include <acb_mat.h>
#include <arb_poly.h>
#include <arb_hypgeom.h>
#endif

/* Declares numbers that are 0, and given back where their block ends. */
static inline void drop_ball(arb_t *x) { arb_clear(*x); }
static inline void drop_whole(fmpz_t *x) { fmpz_clear(*x); }
static inline void drop_complex(acb_t *x) { acb_clear(*x); }
static inline void drop_poly(fmpz_poly_t *x) { fmpz_poly_clear(*x); }
static inline void drop_memory(void *x) { flint_free(*(void **)x); }
/* A vector that knows its length, in the place before it. */
static inline arb_ptr vector(slong n)
{
	arb_ptr v = _arb_vec_init(n + 1);
	arb_set_si(v, n);
	return v + 1;
}
static inline void drop_vector(arb_ptr *v)
{
	if (*v)
		_arb_vec_clear(*v - 1, arf_get_si(arb_midref(*v - 1), ARF_RND_NEAR) + 1);
}
#define OWNED(drop) __attribute__((cleanup(drop)))
#define FREED OWNED(drop_memory)
#define VECTOR OWNED(drop_vector) arb_ptr
#define BALLS(...) OWNED(drop_ball) arb_t ZEROS(__VA_ARGS__)
#define WHOLES(...) OWNED(drop_whole) fmpz_t ZEROS(__VA_ARGS__)
#define COMPLEX(...) OWNED(drop_complex) acb_t ZEROS(__VA_ARGS__)
#define POLYS(...) OWNED(drop_poly) fmpz_poly_t ZEROS(__VA_ARGS__)
#define ZEROS(...) ZEROS_OF(__VA_ARGS__, ZERO8, ZERO7, ZERO6, ZERO5, ZERO4, ZERO3, ZERO2, ZERO1)(__VA_ARGS__)
#define ZEROS_OF(a, b, c, d, e, f, g, h, n, ...) n
#define ZERO1(a) a = { 0 }
#define ZERO2(a, ...) ZERO1(a), ZERO1(__VA_ARGS__)
#define ZERO3(a, ...) ZERO1(a), ZERO2(__VA_ARGS__)
#define ZERO4(a, ...) ZERO1(a), ZERO3(__VA_ARGS__)
#define ZERO5(a, ...) ZERO1(a), ZERO4(__VA_ARGS__)
#define ZERO6(a, ...) ZERO1(a), ZERO5(__VA_ARGS__)
#define ZERO7(a, ...) ZERO1(a), ZERO6(__VA_ARGS__)
#define ZERO8(a, ...) ZERO1(a), ZERO7(__VA_ARGS__)

/* A double as a ball, in its place: of one word it has nothing to give back. */
static inline arb_srcptr ball_of(arb_t out, double x)
{
	arb_set_d(out, x);
	return out;
}
#define D(x) ball_of((arb_t){ 0 }, x)

static const double PI = 3.14159265358979323846;

enum { PROVED = 0, REFUTED = 1, BAD_INPUT = 2, NOT_PROVED = 3, NOT_CHECKED = 4 };

#define FIRST_LINE "accountant certificate " /* 1 to 3: the lines of older ones are among those of today */

enum relation { ADD_REMOVE, SUBSTITUTE, ZERO_OUT };
enum kind { GAUSSIAN, LAPLACE, DISCRETE_GAUSSIAN, FINITE, EXPONENTIAL, ALLOCATION, THRESHOLD, MENU, SEARCH };

/* What one record does on a sample of rate q, of a pair (P, Q) that it makes in full. PLAIN: qP + (1-q)Q against Q. OPPOSITE: that against
 * qP' + (1-q)Q, P' being noise moved the other way. ENVELOPE: the convex curve that has the profile of PLAIN above loss 0 and its mirror
 * image below. DISPLACED: such a curve of two halves, another record in the place of an empty one (pairs.c, C1 and C2). */
enum form { PLAIN, OPPOSITE, ENVELOPE, DISPLACED };

/* Whether there is a ball around delta(eps): one may be in reach only with a coarser tolerance, or never. */
enum reach { REACHED, TOO_FINE, NEVER };

/* Sizes that a certificate may have. MAX_RECORDS are those of a person whose records are sampled. */
enum { MAX_ROWS = 200000, MAX_BYTES = 1 << 20, MAX_STEPS = 256, MAX_OUTCOMES = 4096, MAX_RECORDS = 64, MAX_NODES = 200000 };

typedef struct certificate certificate;

/* A step is a mechanism that ran count times, lines with the same words together, in full (rate 1) or on a sample. */
typedef struct {
	enum kind kind;
	enum form form;
	const char *words;          /* its line in the text, after the count */
	ulong count;
	double noise;               /* the noise multiplier, as it stands in the plan, or the eps of choices */
	arb_t norm;                 /* how far a matrix or several epochs move the noise, or 0 */
	ulong places, uses;         /* of random allocation: the steps of which so many are drawn */
	ulong sensitivity;          /* of noise on whole numbers, 1 for other noise */
	ulong shift;                /* how many sensitivities the noise is moved by what one record, or all that take part, may do */
	double rate;                /* rounded if there is a population */
	ulong batch, population;    /* of a batch of fixed size, else 0 */
	ulong draws;                /* that may each be of the record: the batch with replacement, else 0 */
	int chosen;                 /* how often it is drawn is told, given that it is, and the noise moved by as much */
	ulong records;              /* that are sampled each for itself, 1 but for persons with several; of draws those that are counted */
	slong outcomes;             /* of a finite pair */
	arb_ptr p, q;
	double threshold;           /* of Gaussian noise */
	certificate *part;          /* the types of a menu, which has so many units, or what a search runs so often */
	slong parts;
	ulong units;
	double shape, gamma;        /* of the negative binomial law */
} step;

struct certificate {
	ulong cost;                /* of a type of a menu */
	enum relation relation;
	slong steps, room;
	step *step;
	double last;               /* runs of thresholds and noisy choices, and blocks of exponential mechanisms */
	double delta, lower, upper;
	int direction;             /* 0 remove or forward, 1 add or backward: where the lower end is attained; -1: it is not claimed */
	int apart;                 /* a lower end is of another pair: what dominates a step is reached in one run only (1), or not known to be (2) */
	arb_ptr held[3];           /* of a line that is read */
	slong length[3];
	arb_t missing;             /* at least what all runs have where draws are not counted */
	double theta, period;      /* the line of the certificate, 0 if it has none */
	const char *unknown;       /* a part that this checker does not cover, or NULL */
};

/* A rule stands for the transform of one run on a line: M(theta + it) = sum of W[j] e^{itL[j]}, up to an
 * error of modulus at most err, for |t| at most the bound that it was made for. All W are positive. */
typedef struct {
	slong n;
	arb_ptr W, L;
	arb_t err;
} rule;

/* sha256.c: the hash of n bytes, as 64 hexadecimal digits. */
void sha256(char hex[65], const unsigned char *data, size_t n);

/* certificate.c: reads a text of n bytes, with a byte 0 after them. Returns what is wrong with its form, or NULL: then
 * certificate_clear frees it. */
const char *parse_certificate(certificate *c, const char *text, size_t n);
void certificate_clear(certificate *c);

/* pairs.c: the finite pairs, and what is common to all steps. */
void new_outcomes(step *s, slong n);
void outcomes_clear(step *s);
void declared_pair(step *s, double eps, double delta);
/* Randomized response against another answer, or against a random category. */
void response_pair(step *s, double probability, ulong categories, int against_random);
void listed_pair(step *s, slong n, const double *p, const double *q);
/* Discrete Laplace noise; OPPOSITE is mixed already. */
void discrete_laplace_pair(step *s);
/* The envelope of a finite pair, in its place; 0 if the pair is not its own mirror image. */
int envelope_pair(step *s);
/* A guarantee of eps, of a group of s->shift. */
void pure_pair(step *s, double eps);
/* Truncated geometric selection. */
int selection_pair(step *s, double eps, double delta);
/* The sampling rate: the chance of being drawn at all. */
void rate_of(arb_t r, const step *s, slong prec);
/* The chance of being drawn so often; where that is told, of being drawn or not. */
void copies_of(arb_t r, const step *s, ulong copies, slong prec);
/* What a step does above loss 0, or mirrored below it, where its pair is made of two halves: direction 0 of the step that is returned. */
step half_of(const step *s, int d, int below);
/* Whether it is made of two. */
int halves(const step *s);
/* The masses of outcome i of a finite step in direction d, after sampling. */
void outcome_masses(arb_t p, arb_t q, const step *s, int d, slong i, slong prec);
/* The masses of P and Q of all runs of all steps where their losses are finite. */
void finite_parts(arb_t m0, arb_t m1, const certificate *c, int d, slong prec);
/* The distance by which noise of scale 1 is moved: 1/sigma, 2/sigma, … */
void shift_of(arb_t mu, const step *s, slong prec);
double mid(const arb_t x);
/* About the upper or the lower end, on the safe side. */
double bound_of_ball(const arb_t x, int up);
/* 1 - x; x^2/2; e^{-x}; the normal mass above x. */
static inline void complement(arb_t out, const arb_t x, slong prec) { arb_sub_ui(out, x, 1, prec); arb_neg(out, out); }
static inline void half_square(arb_t out, const arb_t x, slong prec) { arb_mul(out, x, x, prec); arb_mul_2exp_si(out, out, -1); }
static inline void exp_minus(arb_t out, const arb_t x, slong prec) { arb_neg(out, x); arb_exp(out, out, prec); }
void normal_tail(arb_t out, const arb_t x, slong prec);
void rule_init(rule *r, slong n);
void rule_clear(rule *r);

/* matrix.c: the sensitivity of a Toeplitz matrix with so many coefficients, which it may change, or of a tree, over n steps of which a record is in
 * k at most, b or more apart. 0 if it is an upper bound only. epochs says that the steps are every b-th. */
int toeplitz_norm(arb_t norm, arb_ptr c, slong bands, slong n, slong b, slong k, int epochs);
int tree_norm(arb_t norm, slong n, int completion, slong b, slong k, int epochs);

/* draws.c: draws with replacement. Whether it is told how often a record was drawn, given that it was; whether another takes its places. */
int told(const step *s);
int coupled(const step *s);
/* A vector of the chances of 0 to n draws, and of more, which are rare. */
arb_ptr chances_of_draws(slong *n, const step *s, double rare, slong prec);
/* At least delta(eps) of a run that is coupled, eps >= 0. */
void coupled_delta(arb_t delta, const step *s, arb_srcptr chances, slong n, const arb_t eps, slong prec);
/* A loss at which it is below tail, about. */
double coupled_reach(const step *s, double tail);

/* gaussian.c, laplace.c, discrete.c: each kind of noise. */
int full_gaussian(const step *s);
int gaussian_rule(rule *r, const step *s, int d, double theta, double t, double digits, slong prec);
int gaussian_late(arb_t bound, const step *s, int d, double theta, double t, double angle, double digits, slong prec);
double gaussian_steer(double *angle, const step *s, int d, double theta, double t);
int laplace_rule(rule *r, const step *s, int d, double theta, double t, double digits, slong prec);
void laplace_late(arb_t bound, const step *s, int d, double theta, double t, slong prec);
/* The masses of P and Q at outputs whose loss is above l[i], which is next to at[i], for n increasing numbers, in direction d. Of pairs of two
 * halves noise_tails makes the halves, which have numbers above 0. */
void gaussian_tails(arb_ptr p, arb_ptr q, arb_ptr l, const step *s, int d, const double *at, slong n, slong prec);
void laplace_tails(arb_ptr p, arb_ptr q, arb_ptr l, const step *s, int d, const double *at, slong n, slong prec);
/* About the largest loss. */
double laplace_largest(const step *s, int d);
/* The masses of the outcomes of a finite step or of noise on whole numbers, in direction d, and a bound of what is missing. */
int outcomes_of(slong *n, arb_ptr *p, arb_ptr *q, arb_t lost, const step *s, int d, slong prec);
int discrete_rule(rule *r, const step *s, double theta, double digits, slong prec);
/* The law of the sum of all runs: masses under P and losses, and a bound of the mass that is missing. 0 if it is too long. */
int discrete_law(slong *n, arb_ptr *p, arb_ptr *l, arb_t lost, const step *s, slong most, slong prec);

/* transform.c: any step. */

/* Makes the rule of a step in direction d; returns 0 if it would be too long. digits is the size of -log of the error. */
int make_rule(rule *r, const step *s, int d, double theta, double t, double digits, slong prec);
/* The transform at a real place, as a ball; 0 if there is none. */
int real_transform(arb_t m, const step *s, int d, double at, slong prec);
/* An upper bound of |M(theta + it)| for all frequencies from t on, for the angle chosen by steer_angle. */
int late_bound(arb_t bound, const step *s, int d, double theta, double t, double angle, double digits, slong prec);
/* About the logarithm of the bound over M(theta) by plain doubles, for the best angle. Proves nothing. */
double steer_angle(double *angle, const step *s, int d, double theta, double t);
/* About log M at a real place. Proves nothing. */
double steer_transform(const step *s, int d, double at);

/* The way to the kind of noise that is not on whole numbers. */
void noise_tails(arb_ptr p, arb_ptr q, arb_ptr l, const step *s, int d, const double *at, slong n, slong prec);

/* lattice.c: a law of cells or points first, first + 1, …, masses as whole numbers: p, and under Q too if it is a lower one. far is at an infinite loss. */
typedef struct {
	slong first;
	fmpz_poly_t p, q;
	fmpz_t far;
} law;

/* How laws are made: cells of h, masses in units of 2^-bits, of which cut may be cut off at an end. */
typedef struct {
	int above, still;  /* still: no step may choose its offset */
	double h, offset;  /* the offset is that of the step at hand */
	slong bits, prec;
	fmpz_t cut;
	double eta;        /* a run's loss is at most so far above its point */
	int ok;
	double work;       /* that may still be done: cells of laws that are made or multiplied */
} grid;

void law_clear(law *x);
/* Whole units, at most or at least a mass. */
void units(fmpz_t out, const arb_t mass, grid *g, int up);
/* Units of products into units, rounded. */
void shorten(fmpz_poly_t x, const grid *g, int up);
/* n > 0 runs of x. */
void repeat(law *out, const law *x, ulong n, grid *g);
/* Whether there may be so much more work. */
int spend(grid *g, double cells);
/* From above: all runs of the steps of a part, with what is at an infinite loss, on the points kh. Returns by how much losses are above these at most. */
double law_of_part(law *out, grid *g, const certificate *c, int d, double tail);

/* profile.c: laws from above of what is known by its profile. */
void law_of_menu(law *out, grid *g, const step *s, int d, double tail);
void law_of_search(law *out, grid *g, const step *s, int d, double tail);
void law_of_draws(law *out, grid *g, const step *s, double tail);

/* P and Q of what a threshold shows, at losses above l = at: the best of all numbers of new partitions. */
void threshold_tails(arb_ptr p, arb_ptr q, arb_ptr l, const step *s, int d, const double *at, slong n, slong prec);
/* choice.c: runs of exponential mechanisms at a claim by cells of about h, from above or from below; 0 if it takes too much work. */
int delta_choices(arb_t bound, const step *s, double claim, int above, double h, double work);

/* allocation.c: how many points ih + offset, from from on, hold the log of the likelihood ratio of random allocation; the masses of P and, below, of Q there
 * in direction d, from the least loss on, and what is at an infinite one. */
slong allocation_range(slong *from, const step *s, double h, double tail);
void allocation_law(arb_ptr p, arb_ptr q, arb_t far, const step *s, int d, int above, double h, double offset, slong from, slong n);

/* list.c: Gaussian noise in full, in closed form; a list of all losses of steps that have finitely many. */
int delta_gaussian(arb_t delta, const certificate *c, double eps, slong prec);
int delta_list(arb_t delta, const char **why, const certificate *c, int d, double eps, slong prec);
/* Adds the largest loss of all runs; 0 if none is known here. */
int largest_loss(arb_t sum, const certificate *c, int d, slong prec);

/* lattice.c: delta(eps) from above or from below by cells of h; 0 if there is no bound, or it would take more work than so many cells. */
int delta_lattice(arb_t bound, const certificate *c, int d, double eps, int above, double h, double work);
/* About the length of the range of the losses of one run, of that step where it is longest. */
double lattice_range(const certificate *c, int d);

/* contour.c: a ball around delta(eps) in direction d by the integral. tol is the logarithm of the error that is aimed at, over
 * e^{K(theta) - theta eps}; if it is 0 it is chosen, by the width of the interval. */
enum reach delta_contour(arb_t delta, const char **why, const certificate *c, int d, double eps, double *tol, slong prec);
/* An upper bound of delta(eps) by Chernoff's bound. */
int delta_chernoff(arb_t bound, const certificate *c, int d, double eps, slong prec);

#endif
