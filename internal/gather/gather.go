// Package gather coalesces small batches of rows that several goroutines want to
// have evaluated at the same time. It serves functions whose calls take long
// for what they compute, such as those of another program.
package gather

import "sync"

// Batch is a number of rows to be evaluated.
type Batch[K comparable] struct {
	// Key says how. Batches are coalesced where keys are equal; the lengths of
	// rows, in each array, must then be equal too.
	Key K
	// Rows is their number, at least 1.
	Rows int
	// In holds the arrays to read and Out those to write, row by row.
	In, Out [][]float64
}

// Gatherer makes calls of a function that evaluates batches. Row i of what it
// writes must depend on row i of what it reads only.
type Gatherer[K comparable] struct {
	// Call evaluates a batch.
	Call func(Batch[K]) error
	// Limit is the number of calls under way at a time, at least 1: batches that
	// come meanwhile wait and are coalesced.
	Limit int
	// Max bounds the numbers to read in coalesced batches.
	Max int
	// MaxBatches bounds the number of batches that are coalesced; 0 does not.
	MaxBatches int

	mu      sync.Mutex
	running int
	queue   []*request[K]
}

func (b Batch[K]) size() int {
	n := 0
	for _, a := range b.In {
		n += len(a)
	}
	return n
}

// request is a batch with the goroutine that waits for it.
type request[K comparable] struct {
	Batch[K]
	// turn receives, once, the requests for which the goroutine is to make the
	// call, its own first, or nothing where another has made the call.
	turn  chan []*request[K]
	alone bool // the call for several failed: make one for this batch
}

// Do evaluates a batch, alone or with those of others. Where a call for several
// batches fails, each is evaluated alone, so that one does not spoil the others.
func (g *Gatherer[K]) Do(b Batch[K]) error {
	own := &request[K]{Batch: b}
	if !g.begin(own) {
		if group := <-own.turn; group != nil {
			return g.lead(group)
		}
		if own.alone {
			return g.Call(b)
		}
		return nil
	}
	return g.lead([]*request[K]{own})
}

// begin reports whether a call may be made at once; else the request waits.
func (g *Gatherer[K]) begin(r *request[K]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running < g.Limit {
		g.running++
		return true
	}
	r.turn = make(chan []*request[K], 1)
	g.queue = append(g.queue, r)
	return false
}

// lead makes the call for a group and returns the outcome of its first request.
func (g *Gatherer[K]) lead(group []*request[K]) error {
	defer g.passOn()
	if len(group) == 1 {
		return g.Call(group[0].Batch)
	}
	answered := false
	defer func() { // also where the call panics
		for _, r := range group[1:] {
			r.alone = !answered
			r.turn <- nil
		}
	}()
	whole := concatenate(group)
	if g.Call(whole) != nil {
		return g.Call(group[0].Batch)
	}
	whole.handOut(group)
	answered = true
	return nil
}

// passOn has the next of those that wait make a call.
func (g *Gatherer[K]) passOn() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		g.running--
		return
	}
	first := g.queue[0]
	group, rest := []*request[K]{first}, g.queue[:0]
	size := first.size()
	for _, r := range g.queue[1:] {
		full := g.MaxBatches > 0 && len(group) == g.MaxBatches
		if !full && r.Key == first.Key && size+r.size() <= g.Max {
			group, size = append(group, r), size+r.size()
		} else {
			rest = append(rest, r)
		}
	}
	clear(g.queue[len(rest):])
	g.queue = rest
	first.turn <- group
}

// concatenate puts the rows of a group behind each other.
func concatenate[K comparable](group []*request[K]) Batch[K] {
	first := group[0]
	whole := Batch[K]{Key: first.Key, In: make([][]float64, len(first.In)), Out: make([][]float64, len(first.Out))}
	for _, r := range group {
		whole.Rows += r.Rows
		for i, a := range r.In {
			whole.In[i] = append(whole.In[i], a...)
		}
	}
	for i, a := range first.Out {
		whole.Out[i] = make([]float64, len(a)/first.Rows*whole.Rows)
	}
	return whole
}

// handOut copies the results to where they go.
func (b Batch[K]) handOut(group []*request[K]) {
	for i, a := range b.Out {
		for _, r := range group {
			n := copy(r.Out[i], a)
			a = a[n:]
		}
	}
}
