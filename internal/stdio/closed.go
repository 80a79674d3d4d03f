//go:build cgo && unix

package stdio

/*
#include <fcntl.h>

static int scqm_closed_files;

__attribute__((constructor)) static void scqm_look_at_files(void) {
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			scqm_closed_files |= 1 << fd;
}

static int scqm_closed(void) { return scqm_closed_files; }
*/
import "C"

// Closed returns the standard files that were closed when the process began: bit In for
// standard input, and so on.
func Closed() uint32 { return uint32(C.scqm_closed()) }
