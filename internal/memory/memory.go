// Package memory checks before a computation whether enough memory is available.
//
// A failed allocation ends a Go program, and the program cannot recover. So a computation
// first reserves an upper bound of the bytes that it will hold at once. The bound is
// compared with every limit: the ceiling set by the user, the limits of the process
// (RLIMIT_AS, RLIMIT_DATA) and of its control groups, and the free memory of the machine.
// If a limit is too low, the error gives the numbers. [Restrain] passes the same limits to
// the garbage collector, so that garbage does not use reserved memory.
package memory

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// ErrTooLarge is matched by every error about a computation that needs too much memory.
var ErrTooLarge = errors.New("not enough memory")

// Error describes a computation that needs more memory than a bound allows.
type Error struct {
	// What is the computation, as the plural subject of a sentence.
	What string
	// Need are the bytes that the computation needs, Free the available bytes.
	Need float64
	Free int64
	// Bound is the name of the limit, Raise the advice for raising it.
	Bound, Raise string
	// Less is the advice for needing less memory; it may be empty.
	Less string
}

// Error returns a sentence with the numbers and the advice.
func (e *Error) Error() string {
	remedy := e.Raise
	if e.Less != "" {
		remedy = e.Less + ", or " + remedy
	}
	return fmt.Sprintf("%s take about %s of memory, and %s is left by %s; %s", e.What, Format(e.Need), Format(float64(e.Free)), e.Bound, remedy)
}

// Unwrap returns ErrTooLarge.
func (e *Error) Unwrap() error { return ErrTooLarge }

// Bound is a limit of the memory of the process.
type Bound struct {
	// Name is the limit in a sentence, Raise the advice for raising it.
	Name, Raise string
	// Free are the bytes that Go can still use, including its own free memory.
	Free int64
}

const (
	// MinAddressSpace is the least RLIMIT_AS under which the program starts: the Go runtime
	// reserves 1.1 GiB of address space for its tables, and 64 MiB for its heap, which begins
	// at a random place in it.
	MinAddressSpace = 1344 << 20
	// MinData is the least RLIMIT_DATA under which the program starts.
	MinData = 112 << 20
)

// small is the size below which requests are not checked: at every start of the program this much is free.
const small = 1 << 20

// state holds the current reservations and settings.
var state struct {
	sync.Mutex
	ceiling    int64 // 0 for none
	name       string
	reserved   int64
	base       int64 // bytes of the heap when nothing was reserved
	restrained bool
	others     int64 // bytes left for memory that is not Go's
	reuse      float64
	limit      int64 // memory limit of the collector, from the environment
	percent    int   // GOGC from the environment, less if address space is limited
	collecting int   // GC percentage set last
}

// SetCeiling limits the memory of all computations together; 0 means no limit. The name is
// that of the user's setting, such as --memory.
func SetCeiling(bytes int64, name string) {
	state.Lock()
	defer state.Unlock()
	state.ceiling, state.name = max(bytes, 0), name
	restrain()
}

// Restrain makes the garbage collector keep the heap within the limits, now and after
// every reservation. A lower GOMEMLIMIT stays in force. The arguments apply if address
// space is limited. others are bytes left for memory that is not Go's. reuse, from 0 to 1,
// is the fraction of free heap memory that is assumed reusable: large arrays do not fit in
// the gaps that garbage leaves, and need new address space, which is never returned.
func Restrain(others int64, reuse float64) {
	state.Lock()
	defer state.Unlock()
	state.others, state.reuse = others, reuse
	if !state.restrained {
		state.limit = debug.SetMemoryLimit(-1)
		state.percent = debug.SetGCPercent(100)
		if state.percent < 0 { // GOGC=off leaves it to the limit
			state.percent = 100
		}
		state.restrained = true
	}
	if addressesLimited() {
		// Less garbage makes fewer holes.
		state.percent = min(limitedGCPercent, state.percent)
	}
	restrain()
}

// restrain sets the memory limit of the collector. Go counts memory that it has mapped and
// not returned.
func restrain() {
	if state.restrained {
		restrainTo(now())
	}
}

// restrainTo is restrain for a usage and the bounds at it.
func restrainTo(m usage, list []Bound) {
	if !state.restrained {
		return
	}
	limit := state.limit
	for _, b := range list {
		// What the collector keeps free is Go's already.
		limit = min(limit, m.mapped+b.Free-m.idle)
	}
	// Below what is live the collector would run without end.
	debug.SetMemoryLimit(max(limit, m.mapped-m.idle+smallestHeap))
	collectAt()
}

// collectAt sets the collector to leave about garbage bytes of garbage, or a twentieth of
// the live heap if that is as much as the garbage of small computations. The live heap
// includes what was there before the reservations. Computations on large data make little
// garbage, so collections stay rare.
func collectAt() {
	live := state.reserved
	if live > 0 {
		live += state.base
	}
	percent := min(state.percent, int(max(100*garbage/max(live, 1), leastGCPercent)))
	if percent != state.collecting {
		state.collecting = percent
		debug.SetGCPercent(percent)
	}
}

const (
	garbage        = 16 << 20
	leastGCPercent = 5
)

// limitedGCPercent is the GC percentage, garbage relative to the live heap, if address
// space is limited.
const limitedGCPercent = 25

// smallestHeap is the room that the collector always has above the live heap.
const smallestHeap = 8 << 20

// A Reservation is memory that is reserved for a computation until Release.
type Reservation struct {
	bytes int64
	once  sync.Once
}

// none is the reservation of a computation that needs little memory.
var none = &Reservation{}

// Reserve reserves memory; the caller must Release it after the computation. If too little
// is available, it returns an [*Error]. what is the computation in the plural, as in "1000
// rows of 784 columns", and less is the advice for needing less.
//
// The number of bytes is a float64 so that products of sizes do not overflow.
func Reserve(what string, bytes float64, less string) (*Reservation, error) {
	if bytes < small {
		return none, nil
	}
	if math.IsNaN(bytes) {
		bytes = math.Inf(1)
	}
	state.Lock()
	defer state.Unlock()
	m, list := now()
	err := fits(m, list, what, bytes, less)
	if err != nil && err.Need < collectable*float64(max(err.Free, small)) {
		runtime.GC() // garbage counts as taken until it is collected
		m, list = now()
		err = fits(m, list, what, bytes, less)
	}
	if err != nil {
		return nil, err
	}
	if state.reserved == 0 {
		state.base = m.objects
	}
	whole := int64(math.Ceil(bytes))
	state.reserved += whole
	restrainTo(m, list)
	return &Reservation{bytes: whole}, nil
}

// collectable is the ratio of needed to free memory up to which a garbage collection is
// tried. Above it, a collection could not free enough.
const collectable = 1000

// Release ends the reservation. More calls have no effect.
func (r *Reservation) Release() {
	if r == nil || r.bytes == 0 {
		return
	}
	r.once.Do(func() {
		state.Lock()
		defer state.Unlock()
		state.reserved -= r.bytes
		if state.restrained {
			collectAt()
		}
	})
}

// Check reports, like Reserve, whether memory suffices, but reserves none.
func Check(what string, bytes float64, less string) error {
	r, err := Reserve(what, bytes, less)
	r.Release()
	return err
}

// Reserved returns the total bytes of all reservations.
func Reserved() int64 {
	state.Lock()
	defer state.Unlock()
	return state.reserved
}

// Bounds returns all limits of the memory of the process.
func Bounds() []Bound {
	state.Lock()
	defer state.Unlock()
	_, list := now()
	return list
}

// now returns the usage and all limits.
func now() (usage, []Bound) {
	var m usage
	m.read()
	return m, bounds(m)
}

// fits returns the error of the lowest limit that is exceeded, or nil.
func fits(m usage, list []Bound, what string, bytes float64, less string) *Error {
	// What others have reserved and not yet taken is not free.
	promised := max(state.base+state.reserved-m.objects, 0)
	if state.reserved == 0 {
		promised = 0
	}
	var found *Error
	for _, b := range list {
		free := max(b.Free-promised, 0)
		if bytes+overhead(bytes) > float64(free) && (found == nil || free < found.Free) {
			found = &Error{What: what, Need: bytes, Free: free, Bound: b.Name, Raise: b.Raise, Less: less}
		}
	}
	return found
}

// overhead returns the bytes of the heap besides objects: rounding to size classes, mark
// bits, and allocations during a collection.
func overhead(bytes float64) float64 { return bytes/32 + 4<<20 }

// usage is the memory of the Go heap.
type usage struct {
	objects int64 // bytes of objects, garbage included
	mapped  int64 // bytes mapped from the system and not returned
	heap    int64 // bytes of address space of the heap
	idle    int64 // bytes of heap that are mapped and free
}

var samples = sync.Pool{New: func() any {
	s := make([]metrics.Sample, len(metricNames))
	for i, name := range metricNames {
		s[i].Name = name
	}
	return &s
}}

// metricNames are the runtime metrics of memory classes that do not overlap.
var metricNames = []string{
	"/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes", "/memory/classes/heap/free:bytes",
	"/memory/classes/heap/released:bytes", "/memory/classes/heap/stacks:bytes", "/memory/classes/total:bytes",
}

func (u *usage) read() {
	s := samples.Get().(*[]metrics.Sample)
	defer samples.Put(s)
	metrics.Read(*s)
	value := func(i int) int64 { return int64((*s)[i].Value.Uint64()) }
	objects, unused, free, released, stacks, total := value(0), value(1), value(2), value(3), value(4), value(5)
	*u = usage{objects: objects, mapped: total - released, heap: objects + unused + free + released + stacks, idle: free}
}

// bounds returns all limits. The user's ceiling is first, and is reported if several limits are equally low.
func bounds(m usage) []Bound {
	var list []Bound
	if state.ceiling > 0 {
		list = append(list, Bound{
			Name:  fmt.Sprintf("%s (%s)", state.name, Format(float64(state.ceiling))),
			Raise: "raise " + state.name,
			Free:  max(state.ceiling-m.objects, 0),
		})
	}
	return append(list, systemBounds(m)...)
}
