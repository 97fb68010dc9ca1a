/*
 * SHA-256 (FIPS 180-4).
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "check.h"

/* The first 32 bits of the fractional parts of the roots of primes, in exact integers: floor(p^{1/r} 2^32) mod 2^32. */
static uint32_t root_bits(uint64_t p, int r)
{
	unsigned __int128 lo = 0, hi = (unsigned __int128)8 << 32;
	while (hi - lo > 1) {
		unsigned __int128 x = (lo + hi)/2;
		/* x^r <= p 2^{32r}: x has at most 37 bits, so that x^3 fits. */
		if (r == 2 ? x*x <= (unsigned __int128)p << 64 : x*x*x <= (unsigned __int128)p << 96)
			lo = x;
		else
			hi = x;
	}
	return (uint32_t)lo;
}

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

void sha256(char hex[65], const unsigned char *data, size_t n)
{
	uint32_t k[64], s[8], w[64];
	int found = 0;
	for (uint64_t p = 2; found < 64; p++) {
		int prime = 1;
		for (uint64_t i = 2; i*i <= p; i++)
			prime = prime && p % i;
		if (!prime)
			continue;
		if (found < 8) {
			/* square roots up to 19 are below 8 */
			s[found] = root_bits(p, 2);
		}
		k[found++] = root_bits(p, 3);
	}
	size_t total = (n + 9 + 63)/64*64;
	for (size_t block = 0; block < total; block += 64) {
		for (int i = 0; i < 64; i++) {
			if (i < 16) {
				w[i] = 0;
				for (int j = 0; j < 4; j++) {
					size_t b = block + 4*i + j;
					unsigned char x = b < n ? data[b] : b == n ? 0x80 : b >= total - 8 ? (uint64_t)n*8 >> 8*(total - 1 - b) & 255 : 0;
					w[i] = w[i] << 8 | x;
				}
				continue;
			}
			uint32_t a = w[i - 15], b = w[i - 2];
			w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
		}
		uint32_t v[8];
		memcpy(v, s, sizeof v);
		for (int i = 0; i < 64; i++) {
			uint32_t t1 = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
			uint32_t t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
			memmove(v + 1, v, 7*sizeof *v);
			v[4] += t1;
			v[0] = t1 + t2;
		}
		for (int i = 0; i < 8; i++)
			s[i] += v[i];
	}
	for (int i = 0; i < 8; i++)
		sprintf(hex + 8*i, "%08x", s[i]);
}
