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
	// arena is the size in which Go reserves address space for its heap.
	arena = 64 << 20
	// page is the size in which Go maps it.
	page = 4 << 20
	// reserveAddressSpace and reserveData are kept for what grows beside the
	// heap: stacks of threads, the records of the collector, libraries of C.
	reserveAddressSpace = 24 << 20
	reserveData         = 12 << 20
	// reserveMachine is kept free of memory that others use too.
	reserveMachine = 32 << 20
)

// systemBounds are those of the process, of its control groups and of the
// machine. What cannot be read is no bound.
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

// processBounds are those that ulimit sets. Their memory is address space,
// which Go never returns: a part of what is free in its heap can be used again,
// whether returned to the system or not.
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

// field returns a number of KiB from a file of the form of /proc/meminfo, in
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

// machineFree is what can be taken without ending another program.
func machineFree(meminfo []byte) (int64, bool) {
	free, ok := field(meminfo, "MemAvailable:")
	swap, _ := field(meminfo, "SwapFree:")
	return free + swap, ok
}

// controlGroups are the bounds of all control groups that the process is in,
// from its own up to the one that is mounted, of version 1 and version 2.
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

// group is a hierarchy of control groups with the place of the process in it.
type group struct {
	mount, dir string
	unified    bool // version 2
}

// memoryGroups finds the hierarchies that account for memory.
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

// contains reports whether a list separated by commas has a word.
func contains(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// free is the limit of a group less its usage, of which caches of files are
// given back when memory is short.
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

// number reads a file that holds one; "max" is none.
func number(name string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(string(readFile(name))), 10, 64)
	return n, err == nil
}

// guardBytes is what a thread takes beside its stack.
const guardBytes = 1 << 20

// defaultStack is the stack of a thread where RLIMIT_STACK does not say.
const defaultStack = 8 << 20

// Threads returns how many of n threads of C are affordable under the limit of
// address space: at most half of it is for their stacks.
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

// limited reports whether there is a limit of the process on a resource.
func limited(resource int) bool {
	var limit syscall.Rlimit
	return syscall.Getrlimit(resource, &limit) == nil && limit.Cur < math.MaxInt64/2
}

// addressesLimited reports whether memory counts that Go has returned.
func addressesLimited() bool { return limited(syscall.RLIMIT_AS) || limited(syscall.RLIMIT_DATA) }
