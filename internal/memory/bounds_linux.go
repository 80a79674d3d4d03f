package memory

import (
	"bytes"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

const (
	// arena is the unit in which Go reserves address space for its heap.
	arena = 64 << 20
	// page is the unit in which Go maps heap memory.
	page = 4 << 20
	// reserveAddressSpace and reserveData are reserved for memory besides the heap: thread
	// stacks, data of the garbage collector, C libraries.
	reserveAddressSpace = 24 << 20
	reserveData         = 12 << 20
	// reserveMachine is left free for other programs.
	reserveMachine = 32 << 20
)

// systemBounds returns the memory bounds of the process, its control groups and the
// machine. It omits bounds that cannot be read.
func systemBounds(m usage) []Bound {
	list := processBounds(m)
	list = append(list, controlGroups(m, readFile("/proc/self/cgroup"), readFile("/proc/self/mountinfo"))...)
	if free, ok := machineFree(readFile("/proc/meminfo")); ok {
		list = append(list, Bound{
			Name: "this machine", Raise: "end other programs",
			Free: max(free-reserveMachine, 0) + m.idle,
		})
	}
	return list
}

func readFile(name string) []byte {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return b
}

// processBounds returns the bounds of ulimit. They limit address space, which Go never
// returns to the system. Of the free part of the heap, a fraction counts as reusable,
// whether its memory was returned or not.
func processBounds(m usage) []Bound {
	var list []Bound
	var status []byte
	for _, l := range []struct {
		resource      int
		key           string
		name, raise   string
		reserve, step int64
	}{
		{syscall.RLIMIT_AS, "VmSize:", "the limit of address space (ulimit -v)", "raise it with ulimit -v", reserveAddressSpace, arena},
		{syscall.RLIMIT_DATA, "VmData:", "the limit of the data segment (ulimit -d)", "raise it with ulimit -d", reserveData, page},
	} {
		var r syscall.Rlimit
		if syscall.Getrlimit(l.resource, &r) != nil || r.Cur >= math.MaxInt64/2 {
			continue
		}
		if status == nil {
			status = readFile("/proc/self/status")
		}
		taken, ok := field(status, l.key)
		if !ok {
			continue
		}
		fresh := max(int64(r.Cur)-taken-l.reserve-state.others, 0) / l.step * l.step
		list = append(list, Bound{Name: l.name, Raise: l.raise, Free: fresh + int64(state.reuse*float64(m.heap-m.objects))})
	}
	return list
}

// field returns a number from a text in the form of /proc/meminfo, converted from KiB to
// bytes.
func field(text []byte, key string) (int64, bool) {
	for line := range bytes.Lines(text) {
		words := strings.Fields(string(line))
		if len(words) >= 2 && words[0] == key {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n << 10, err == nil && n <= math.MaxInt64>>10
		}
	}
	return 0, false
}

// machineFree returns the bytes that the process can take without the system ending another program.
func machineFree(meminfo []byte) (int64, bool) {
	free, ok := field(meminfo, "MemAvailable:")
	swap, _ := field(meminfo, "SwapFree:")
	return free + swap, ok
}

// controlGroups returns the bounds of all control groups of the process, from its own up
// to the mounted root, for versions 1 and 2.
func controlGroups(m usage, membership, mounts []byte) []Bound {
	var list []Bound
	for _, g := range memoryGroups(string(membership), string(mounts)) {
		for dir := g.dir; ; dir = path.Dir(dir) {
			if free, ok := g.free(dir); ok {
				list = append(list, Bound{
					Name:  "the limit of the control group " + dir,
					Raise: "raise it",
					Free:  max(free-reserveMachine, 0) + m.idle,
				})
			}
			if dir == g.mount || len(dir) <= len(g.mount) {
				break
			}
		}
	}
	return list
}

// group is a control group hierarchy and the path of the process in it.
type group struct {
	mount, dir string
	unified    bool // control groups version 2
}

// memoryGroups returns the hierarchies that limit memory.
func memoryGroups(membership, mounts string) []group {
	inside := map[bool]string{} // the path in the hierarchy of version 2 or 1
	for line := range strings.Lines(membership) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[1] == "" {
			inside[true] = parts[2]
		} else if contains(parts[1], "memory") {
			inside[false] = parts[2]
		}
	}
	var list []group
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		where, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(where) < 5 || len(kind) < 3 {
			continue
		}
		unified := kind[0] == "cgroup2"
		in, member := inside[unified]
		if !member || !unified && (kind[0] != "cgroup" || !contains(kind[2], "memory")) {
			continue
		}
		root, mount := where[3], where[4]
		below, found := strings.CutPrefix(in, strings.TrimSuffix(root, "/"))
		if !found {
			below = "" // seen from a name space of its own
		}
		list = append(list, group{mount: mount, dir: path.Join(mount, path.Clean("/"+below)), unified: unified})
	}
	return list
}

// contains reports whether a comma-separated list contains word.
func contains(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// free returns the limit of a group minus its usage. File caches do not count as usage,
// because the kernel frees them under memory pressure.
func (g group) free(dir string) (int64, bool) {
	limitFile, usageFile, prefix := "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"
	if g.unified {
		limitFile, usageFile, prefix = "memory.max", "memory.current", ""
	}
	limit, ok := number(path.Join(dir, limitFile))
	if !ok || limit >= math.MaxInt64/2 {
		return 0, false
	}
	used, ok := number(path.Join(dir, usageFile))
	if !ok {
		return 0, false
	}
	for line := range bytes.Lines(readFile(path.Join(dir, "memory.stat"))) {
		words := strings.Fields(string(line))
		if len(words) == 2 && (words[0] == prefix+"inactive_file" || words[0] == prefix+"active_file") {
			n, _ := strconv.ParseInt(words[1], 10, 64)
			used -= n
		}
	}
	return limit - max(used, 0), true
}

// number reads a number from a file. It returns false for "max", which means no limit.
func number(name string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(string(readFile(name))), 10, 64)
	return n, err == nil
}

// guardBytes is the address space of a thread besides its stack.
const guardBytes = 1 << 20

// defaultStack is the stack size of a thread if RLIMIT_STACK sets none.
const defaultStack = 8 << 20

// Threads returns how many of n C threads fit in the limit of address space. Their stacks
// may use at most half of it.
func Threads(n int) int {
	var limit syscall.Rlimit
	if !limited(syscall.RLIMIT_AS) || syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil {
		return n
	}
	taken, ok := field(readFile("/proc/self/status"), "VmSize:")
	if !ok {
		return n
	}
	stack := int64(defaultStack)
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_STACK, &r) == nil && r.Cur < math.MaxInt64/2 {
		stack = max(int64(r.Cur), 1<<20)
	}
	free := (int64(limit.Cur) - taken) / 2
	return int(max(min(int64(n), free/(stack+guardBytes)), 1))
}

// limited reports whether the process has a limit on a resource.
func limited(resource int) bool {
	var limit syscall.Rlimit
	return syscall.Getrlimit(resource, &limit) == nil && limit.Cur < math.MaxInt64/2
}

// addressesLimited reports whether a limit counts address space, including memory that Go has returned to the system.
func addressesLimited() bool { return limited(syscall.RLIMIT_AS) || limited(syscall.RLIMIT_DATA) }
