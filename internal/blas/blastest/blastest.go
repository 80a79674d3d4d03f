//go:build cgo

// Package blastest has a matrix product in C to test package blas with.
package blastest

/*
#include <math.h>

static int calls, most;

// As in BLAS: column-major, and what c holds does not matter where beta is 0.
static void plain_dgemm(char *ta, char *tb, int *m, int *n, int *k, double *alpha, double *a, int *lda,
		double *b, int *ldb, double *beta, double *c, int *ldc) {
	calls++;
	if (*m * *n * *k > most)
		most = *m * *n * *k;
	for (int i = 0; i < *m; i++)
		for (int j = 0; j < *n; j++) {
			double sum = 0, *to = c + i + (long)j * *ldc;
			for (int l = 0; l < *k; l++)
				sum += (*ta == 'N' ? a[i + (long)l * *lda] : a[l + (long)i * *lda]) *
					(*tb == 'N' ? b[l + (long)j * *ldb] : b[j + (long)l * *ldb]);
			*to = *alpha * sum + (*beta == 0 ? 0 : *beta * *to);
		}
}

static void *plain_address(void) { return (void *)plain_dgemm; }
static int plain_calls(void) { int n = calls; calls = 0; return n; }
static int plain_most(void) { int n = most; most = 0; return n; }
*/
import "C"

// Address is that of a plain dgemm in the convention of Fortran. It may be used
// by one goroutine at a time.
func Address() uintptr { return uintptr(C.plain_address()) }

// Calls returns the number of calls since Calls was last called, and the largest
// number of multiplications of one of them.
func Calls() (calls, most int) { return int(C.plain_calls()), int(C.plain_most()) }
