// Limits below which the Go runtime cannot start, and what is said then. They
// are internal/memory's MinAddressSpace and MinData, as a test makes sure.

#define MIN_ADDRESS_SPACE 0x54000000
#define MIN_DATA 0x7000000

DATA noAddressSpace<>+0(SB)/8, $"scqm: th"
DATA noAddressSpace<>+8(SB)/8, $"e limit "
DATA noAddressSpace<>+16(SB)/8, $"of addre"
DATA noAddressSpace<>+24(SB)/8, $"ss space"
DATA noAddressSpace<>+32(SB)/8, $" (ulimit"
DATA noAddressSpace<>+40(SB)/8, $" -v) is "
DATA noAddressSpace<>+48(SB)/8, $"below th"
DATA noAddressSpace<>+56(SB)/8, $"e 1344 M"
DATA noAddressSpace<>+64(SB)/8, $"iB that "
DATA noAddressSpace<>+72(SB)/8, $"the prog"
DATA noAddressSpace<>+80(SB)/8, $"ram need"
DATA noAddressSpace<>+88(SB)/8, $"s to sta"
DATA noAddressSpace<>+96(SB)/8, $"rt; rais"
DATA noAddressSpace<>+104(SB)/8, $"e it, or"
DATA noAddressSpace<>+112(SB)/8, $" limit d"
DATA noAddressSpace<>+120(SB)/8, $"ata with"
DATA noAddressSpace<>+128(SB)/8, $" --memor"
DATA noAddressSpace<>+136(SB)/8, $"y instea"
DATA noAddressSpace<>+144(SB)/2, $"d\n"
GLOBL noAddressSpace<>(SB), RODATA|NOPTR, $146
#define noAddressSpace_len 146

DATA noData<>+0(SB)/8, $"scqm: th"
DATA noData<>+8(SB)/8, $"e limit "
DATA noData<>+16(SB)/8, $"of the d"
DATA noData<>+24(SB)/8, $"ata segm"
DATA noData<>+32(SB)/8, $"ent (uli"
DATA noData<>+40(SB)/8, $"mit -d) "
DATA noData<>+48(SB)/8, $"is below"
DATA noData<>+56(SB)/8, $" the 112"
DATA noData<>+64(SB)/8, $" MiB tha"
DATA noData<>+72(SB)/8, $"t the pr"
DATA noData<>+80(SB)/8, $"ogram ne"
DATA noData<>+88(SB)/8, $"eds to s"
DATA noData<>+96(SB)/8, $"tart; ra"
DATA noData<>+104(SB)/8, $"ise it, "
DATA noData<>+112(SB)/8, $"or limit"
DATA noData<>+120(SB)/8, $" data wi"
DATA noData<>+128(SB)/8, $"th --mem"
DATA noData<>+136(SB)/8, $"ory inst"
DATA noData<>+144(SB)/4, $"ead\n"
GLOBL noData<>(SB), RODATA|NOPTR, $148
#define noData_len 148
