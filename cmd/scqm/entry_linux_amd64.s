#include "textflag.h"

// The Go runtime reserves address space before it runs a line of Go, and where
// a limit (ulimit -v, ulimit -d) leaves too little it dies with a trace. This
// entry point, which the Makefile names to the linker, looks at the limits
// first. No stack is set up: the kernel's stays as the runtime expects it, and
// the limit is read into the 128 bytes below, which system calls leave alone.

#define SYS_write 1
#define SYS_getrlimit 97
#define SYS_exit_group 231
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
