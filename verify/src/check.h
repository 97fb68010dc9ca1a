/*
 * What the files of the checker share. It assumes nothing of the library that made a certificate:
 * every number of the claim is proved anew, in ball arithmetic (Arb, in FLINT). The certificate's
 * line of integration is a hint and cannot make a false claim pass.
 *
 * Everything of type arb_t is a ball that holds the true number. Plain doubles only steer: they choose
 * lines, steps and ranges, any choice of which gives a true, if wide, ball.
 */
#ifndef CHECK_H
#define CHECK_H

/* Arb 2 has its own headers; from 3 on FLINT contains it. */
#if __has_include(<flint/arb.h>)
#include <flint/arb.h>
#include <flint/acb.h>
#include <flint/acb_mat.h>
#include <flint/arb_hypgeom.h>
#else
#include <arb.h>
#include <acb.h>
#include <acb_mat.h>
#include <arb_hypgeom.h>
#endif

enum { PROVED = 0, REFUTED = 1, BAD_INPUT = 2, NOT_PROVED = 3, NOT_CHECKED = 4 };

enum relation { ADD_REMOVE, SUBSTITUTE, ZERO_OUT };
enum kind { GAUSSIAN, LAPLACE, FINITE };

/* Sizes that a certificate may have. */
enum { MAX_STEPS = 64, MAX_OUTCOMES = 256 };

/* A step is a mechanism that ran count times, in full (rate 1) or on a Poisson sample. */
typedef struct {
	enum kind kind;
	ulong count;
	double noise;      /* the noise multiplier, as it stands in the plan */
	double rate;
	slong outcomes;    /* of a finite pair */
	arb_t p[MAX_OUTCOMES], q[MAX_OUTCOMES];
} step;

typedef struct {
	enum relation relation;
	slong steps;
	step *step;
	double delta, lower, upper;
	int direction;             /* 0 remove or forward, 1 add or backward: where the lower end is attained */
	double theta, period;      /* the line of the certificate, 0 if it has none */
	double gap;
	const char *unknown;       /* a part that this checker does not cover, or NULL */
} certificate;

/* certificate.c: reads and checks the form; exits with BAD_INPUT where it is not kept. */
void read_certificate(certificate *c, const char *file);

/* A rule stands for the transform of one run on a line: M(theta + it) = sum of W[j] e^{itL[j]}, up to an
 * error of modulus at most err, for |t| at most the bound that it was made for. All W are positive. */
typedef struct {
	slong n;
	arb_ptr W, L;
	arb_t err;
} rule;

void rule_clear(rule *r);

/* transform.c */

/* Makes the rule of a step in direction d; returns 0 if it would be too long. digits is the size of -log of the error. */
int make_rule(rule *r, const certificate *c, const step *s, int d, double theta, double t, double digits, slong prec);
/* The transform at a real place, as a ball; 0 if there is none. */
int real_transform(arb_t m, const certificate *c, const step *s, int d, double at, slong prec);
/* An upper bound of |M(theta + it)| for all frequencies from t on, for the angle chosen by steer_angle. */
int late_bound(arb_t bound, const certificate *c, const step *s, int d, double theta, double t, double angle, double digits, slong prec);
/* About the logarithm of the bound over M(theta) by plain doubles, for the best angle. Proves nothing. */
double steer_angle(double *angle, const certificate *c, const step *s, int d, double theta, double t);
/* About log M at a real place. Proves nothing. */
double steer_transform(const certificate *c, const step *s, int d, double at);
/* The masses of outcome i of a finite step in direction d, after sampling. */
void outcome_masses(arb_t p, arb_t q, const step *s, int d, slong i, slong prec);
/* The masses of P and Q where the loss of one run is finite. */
void finite_masses(arb_t m0, arb_t m1, const step *s, int d, slong prec);
/* Distance of the means of an unsampled Gaussian step, 1/sigma or 2/sigma. */
void shift(arb_t mu, const certificate *c, const step *s, slong prec);

/* contour.c: a ball around delta(eps) in direction d by the integral; level 0, 1, 2 … asks for more digits. 0 if it does not
 * serve, with the reason. */
int delta_contour(arb_t delta, const char **why, const certificate *c, int d, double eps, int level, slong prec);
/* An upper bound of delta(eps) by Chernoff's bound. */
int delta_chernoff(arb_t bound, const certificate *c, int d, double eps, slong prec);

/* finite.c: closed forms and enumeration. */
int delta_gaussian(arb_t delta, const certificate *c, double eps, slong prec);
int delta_finite(arb_t delta, const char **why, const certificate *c, int d, double eps, slong prec);

#endif
