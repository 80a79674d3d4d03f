//go:build cgo

package python

/*
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

typedef struct {
	int (*ensure)(void);
	void (*release)(int);
	void *(*call)(void *, void *);
	double (*as_double)(void *);
	void *(*occurred)(void);
	void (*fetch)(void **, void **, void **);
	void (*normalize)(void **, void **, void **);
	int (*set_trace)(void *, void *);
	int (*append)(void *, void *);
	void (*clear)(void);
	void (*decref)(void *);
} scqm_api;

typedef struct {
	double value;
	int failed; // 1: raised
} scqm_outcome;

static scqm_api api;
static pid_t process;

static void scqm_use(uint64_t ensure, uint64_t release, uint64_t call, uint64_t as_double, uint64_t occurred, uint64_t fetch,
		uint64_t normalize, uint64_t set_trace, uint64_t append, uint64_t clear, uint64_t decref) {
	api = (scqm_api){(void *)(uintptr_t)ensure, (void *)(uintptr_t)release, (void *)(uintptr_t)call, (void *)(uintptr_t)as_double,
		(void *)(uintptr_t)occurred, (void *)(uintptr_t)fetch, (void *)(uintptr_t)normalize, (void *)(uintptr_t)set_trace,
		(void *)(uintptr_t)append, (void *)(uintptr_t)clear, (void *)(uintptr_t)decref};
	process = getpid();
}

// Keeps the exception that is set, with its traceback.
static void scqm_keep(void *raised) {
	void *type = NULL, *value = NULL, *trace = NULL;
	api.fetch(&type, &value, &trace);
	api.normalize(&type, &value, &trace);
	if (value != NULL && trace != NULL) api.set_trace(value, trace);
	if (value != NULL && api.append(raised, value) != 0) api.clear();
	if (type != NULL) api.decref(type);
	if (value != NULL) api.decref(value);
	if (trace != NULL) api.decref(trace);
}

static const char forked[] =
	"scqm: a function of minimize has forked this process, which cannot go on with the run; end such a process with os._exit\n";

// Calls the object. If number is set, the result must be a float. A child process that
// the object has forked ends here. It lacks the other threads of Go, so that Go code in
// it could block for ever.
static scqm_outcome scqm_call(uint64_t object, uint64_t raised, int number) {
	scqm_outcome out = {0, 0};
	int state = api.ensure();
	void *result = api.call((void *)(uintptr_t)object, NULL);
	if (getpid() != process) _exit(write(2, forked, sizeof forked - 1) < 0 ? 2 : 1);
	out.failed = result == NULL;
	if (result != NULL && number) {
		out.value = api.as_double(result);
		out.failed = out.value == -1 && api.occurred() != NULL;
	}
	if (result != NULL) api.decref(result);
	if (out.failed) scqm_keep((void *)(uintptr_t)raised);
	api.release(state);
	return out;
}
*/
import "C"

// Use sets the addresses of the functions. It must be called once, before any other function of this package.
func Use(a API) error {
	C.scqm_use(C.uint64_t(a.Ensure), C.uint64_t(a.Release), C.uint64_t(a.Call), C.uint64_t(a.AsDouble), C.uint64_t(a.Occurred),
		C.uint64_t(a.Fetch), C.uint64_t(a.Normalize), C.uint64_t(a.SetTrace), C.uint64_t(a.Append), C.uint64_t(a.Clear), C.uint64_t(a.DecRef))
	return nil
}

// Call calls the function and ignores its result.
func (f Function) Call() error {
	return failure(C.scqm_call(C.uint64_t(f.Object), C.uint64_t(f.Raised), 0))
}

// Number calls the function and returns its result, which must be a float.
func (f Function) Number() (float64, error) {
	out := C.scqm_call(C.uint64_t(f.Object), C.uint64_t(f.Raised), 1)
	return float64(out.value), failure(out)
}

func failure(out C.scqm_outcome) error {
	if out.failed != 0 {
		return ErrRaised
	}
	return nil
}
