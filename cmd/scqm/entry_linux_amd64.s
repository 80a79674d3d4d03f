#include "textflag.h"

// The Go runtime reserves address space before it runs a line of Go, and where
// a limit (ulimit -v, ulimit -d) leaves too little it dies with a trace. This
// entry point, which the Makefile names to the linker, looks at the limits
// first. No stack is set up: the kernel's stays as the runtime expects it, and
// the limit is read into the 128 bytes below, which system calls leave alone.

#define SYS_write 1
#define SYS_fcntl 72
#define SYS_getrlimit 97
#define SYS_exit_group 231
#define F_GETFD 1
#define RLIMIT_DATA 2
#define RLIMIT_AS 9

#include "entry_linux.h"

TEXT _scqm_entry(SB), NOSPLIT|NOFRAME, $0
	MOVQ $SYS_getrlimit, AX
	MOVQ $RLIMIT_AS, DI
	LEAQ -64(SP), SI
	SYSCALL
	TESTQ AX, AX
	JNE data
	MOVQ $MIN_ADDRESS_SPACE, DX
	CMPQ DX, -64(SP)
	JHI noAddressSpace
data:
	MOVQ $SYS_getrlimit, AX
	MOVQ $RLIMIT_DATA, DI
	LEAQ -64(SP), SI
	SYSCALL
	TESTQ AX, AX
	JNE start
	MOVQ $MIN_DATA, DX
	CMPQ DX, -64(SP)
	JHI noData
start:
	// Go opens /dev/null in the place of standard files that are closed: note
	// which are, in closedFiles.
	XORL BX, BX
	XORL R12, R12
files:
	MOVQ $SYS_fcntl, AX
	MOVQ BX, DI
	MOVQ $F_GETFD, SI
	SYSCALL
	TESTQ AX, AX
	JGE open
	BTSQ BX, R12
open:
	INCQ BX
	CMPQ BX, $3
	JLT files
	MOVL R12, ·closedFiles(SB)
	JMP _rt0_amd64_linux(SB)
noAddressSpace:
	MOVQ $noAddressSpace<>(SB), SI
	MOVQ $noAddressSpace_len, DX
	JMP refuse
noData:
	MOVQ $noData<>(SB), SI
	MOVQ $noData_len, DX
refuse:
	MOVQ $SYS_write, AX
	MOVQ $2, DI
	SYSCALL
	MOVQ $SYS_exit_group, AX
	MOVQ $1, DI
	SYSCALL
	INT $3
