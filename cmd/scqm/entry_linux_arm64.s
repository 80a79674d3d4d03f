#include "textflag.h"

// See entry_linux_amd64.s. The kernel leaves memory below the stack pointer
// alone in system calls.

#define SYS_fcntl 25
#define SYS_write 64
#define SYS_exit_group 94
#define SYS_getrlimit 163
#define F_GETFD 1
#define RLIMIT_DATA 2
#define RLIMIT_AS 9

#include "entry_linux.h"

TEXT _scqm_entry(SB), NOSPLIT|NOFRAME, $0
	MOVD $SYS_getrlimit, R8
	MOVD $RLIMIT_AS, R0
	SUB $64, RSP, R1
	SVC
	CBNZ R0, data
	MOVD -64(RSP), R2
	MOVD $MIN_ADDRESS_SPACE, R3
	CMP R3, R2
	BLO noAddressSpace
data:
	MOVD $SYS_getrlimit, R8
	MOVD $RLIMIT_DATA, R0
	SUB $64, RSP, R1
	SVC
	CBNZ R0, start
	MOVD -64(RSP), R2
	MOVD $MIN_DATA, R3
	CMP R3, R2
	BLO noData
start:
	MOVD $0, R9
	MOVD $0, R10
files:
	MOVD R9, R0
	MOVD $F_GETFD, R1
	MOVD $SYS_fcntl, R8
	SVC
	TBZ $63, R0, open
	MOVD $1, R2
	LSL R9, R2, R2
	ORR R2, R10, R10
open:
	ADD $1, R9
	CMP $3, R9
	BLT files
	MOVD $·closedFiles(SB), R3
	MOVW R10, (R3)
	JMP _rt0_arm64_linux(SB)
noAddressSpace:
	MOVD $noAddressSpace<>(SB), R1
	MOVD $noAddressSpace_len, R2
	JMP refuse
noData:
	MOVD $noData<>(SB), R1
	MOVD $noData_len, R2
refuse:
	MOVD $2, R0
	MOVD $SYS_write, R8
	SVC
	MOVD $1, R0
	MOVD $SYS_exit_group, R8
	SVC
	UNDEF
