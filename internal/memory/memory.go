// Package memory says before work whether there is memory for it.
//
// An allocation that fails ends a Go program with a trace, which nothing can
// catch. So work that takes much first reserves an upper bound of the bytes that
// it will hold at once, and that is compared with every bound there is: the
// ceiling that the user has set, the limits of the process (RLIMIT_AS,
// RLIMIT_DATA), those of its control groups, and what is free on the machine.
// What does not fit is an error with the figures. [Restrain] tells the collector
// of the same bounds, so that garbage does not take what was reserved.
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

// ErrTooLarge is matched by every error about work that does not fit.
var ErrTooLarge = errors.New("not enough memory")

// Error says which work does not fit under which bound.
type Error struct {
	// What names the work, as the subject of a sentence in the plural.
	What string
	// Need are the bytes that the work takes, Free those that are left.
	Need float64
	Free int64
	// Bound says what limits memory, Raise how to have more of it.
	Bound, Raise string
	// Less says how to need less; it may be empty.
	Less string
}

// Error is one sentence with the figures and the remedy.
func (e *Error) Error() string {
	remedy := e.Raise
	if e.Less != "" {
		remedy = e.Less + ", or " + remedy
	}
	return fmt.Sprintf("%s take about %s of memory, and %s is left by %s; %s", e.What, Format(e.Need), Format(float64(e.Free)), e.Bound, remedy)
}

// Unwrap returns ErrTooLarge.
func (e *Error) Unwrap() error { return ErrTooLarge }

// Bound is something that limits the memory of the process.
type Bound struct {
	// Name is what a sentence calls it, Raise the remedy for too little of it.
	Name, Raise string
	// Free are the bytes that Go can still take, its own free memory included.
	Free int64
}

const (
	// MinAddressSpace is the least RLIMIT_AS under which the program starts: the
	// Go runtime reserves 1.1 GiB of address space for its tables, and 64 MiB for
	// its heap, of which the part behind a random start is used.
	MinAddressSpace = 1344 << 20
	// MinData is the least RLIMIT_DATA under which it does.
	MinData = 112 << 20
)

// small is what is not looked at: every start of the program leaves as much.
const small = 1 << 20

// state is what the process has promised to work that is going on.
var state struct {
	sync.Mutex
	ceiling    int64 // 0 for none
	name       string
	reserved   int64
	base       int64 // bytes of the heap when nothing was reserved
	restrained bool
	others     int64 // bytes kept free for what is not Go
	reuse      float64
	limit      int64 // of the collector, as the environment has set it
	percent    int   // the same, less where address space is limited
	collecting int   // what it was told last
}

// SetCeiling bounds the memory that all work together may take, 0 for no bound.
// The name is what the user called it, such as --memory.
func SetCeiling(bytes int64, name string) {
	state.Lock()
	defer state.Unlock()
	state.ceiling, state.name = max(bytes, 0), name
	restrain()
}

// Restrain makes the collector keep the heap within the bounds, from now on
// and with every reservation. A lower GOMEMLIMIT stays. Where address space is
// limited, others are bytes that are left to what is not Go in the process, and
// reuse is the part of the free memory of the heap, from 0 to 1, that work is
// thought to find again: large arrays do not fit into the holes that garbage has
// left, and others take address space that is never given back.
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

// restrain tells the collector how large the heap may become. Go counts memory
// that it has mapped and not returned.
func restrain() {
	if !state.restrained {
		return
	}
	var m usage
	m.read()
	limit := state.limit
	for _, b := range bounds(m) {
		// What the collector keeps free is Go's already.
		limit = min(limit, m.mapped+b.Free-m.idle)
	}
	// Below what is live the collector would run without end.
	debug.SetMemoryLimit(max(limit, m.mapped-m.idle+smallestHeap))
	collectAt()
}

// collectAt tells the collector to leave about garbage bytes, or a twentieth of what is
// live, where the garbage of small work is as much as that. What was there before counts beside
// what is reserved: passes over a table hold little beside it. Work on large data
// makes little garbage once it runs, so that collections stay rare.
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

// limitedGCPercent is the garbage collected at, in per cent of what is live, where
// address space is limited.
const limitedGCPercent = 25

// smallestHeap is room that the collector always has above what is live.
const smallestHeap = 8 << 20

// A Reservation is memory set aside for work until Release.
type Reservation struct {
	bytes int64
	once  sync.Once
}

// none is the reservation of work that takes little.
var none = &Reservation{}

// Reserve returns a reservation of so many bytes, to be released when the work
// is done, or an [*Error]. What names the work in the plural, as in "1000 rows
// of 784 columns", and less says how it could need less.
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
	err := fits(what, bytes, less)
	if err != nil && err.Need < collectable*float64(max(err.Free, small)) {
		runtime.GC() // garbage counts as taken until it is collected
		err = fits(what, bytes, less)
	}
	if err != nil {
		return nil, err
	}
	var m usage
	m.read()
	if state.reserved == 0 {
		state.base = m.objects
	}
	whole := int64(math.Ceil(bytes))
	state.reserved += whole
	restrain()
	return &Reservation{bytes: whole}, nil
}

// collectable is how many times too large work may be for a collection to be
// worth while: far larger work does not come to fit by it.
const collectable = 1000

// Release gives the reservation back. It may be called more than once.
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

// Check is Reserve for work that is over at once.
func Check(what string, bytes float64, less string) error {
	r, err := Reserve(what, bytes, less)
	r.Release()
	return err
}

// Reserved returns the bytes that are reserved.
func Reserved() int64 {
	state.Lock()
	defer state.Unlock()
	return state.reserved
}

// Bounds returns everything that limits the memory of the process.
func Bounds() []Bound {
	state.Lock()
	defer state.Unlock()
	var m usage
	m.read()
	return bounds(m)
}

// fits returns the error of the tightest bound that is too tight.
func fits(what string, bytes float64, less string) *Error {
	var m usage
	m.read()
	// What others have reserved and not yet taken is not free.
	promised := max(state.base+state.reserved-m.objects, 0)
	if state.reserved == 0 {
		promised = 0
	}
	var found *Error
	for _, b := range bounds(m) {
		free := max(b.Free-promised, 0)
		if bytes+overhead(bytes) > float64(free) && (found == nil || free < found.Free) {
			found = &Error{What: what, Need: bytes, Free: free, Bound: b.Name, Raise: b.Raise, Less: less}
		}
	}
	return found
}

// overhead is what the heap takes beside its objects: their size classes, the
// marks of the collector, and what is allocated while it works.
func overhead(bytes float64) float64 { return bytes/32 + 4<<20 }

// usage is what the Go heap takes.
type usage struct {
	objects int64 // bytes of objects, garbage included
	mapped  int64 // bytes from the system, returned ones left out
	heap    int64 // bytes of address space of the heap
	idle    int64 // bytes of it that are mapped and free
}

var samples = sync.Pool{New: func() any {
	s := make([]metrics.Sample, len(metricNames))
	for i, name := range metricNames {
		s[i].Name = name
	}
	return &s
}}

// metricNames are of classes that do not overlap.
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

// bounds are all bounds. The ceiling comes first, and in errors wins a draw.
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
