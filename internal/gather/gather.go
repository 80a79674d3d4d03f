// Package gather combines small batches of rows that several goroutines evaluate at the
// same time. It is for functions with a large overhead per call, such as a call of another
// program.
package gather

import "sync"

// Batch is a set of rows to evaluate.
type Batch[K comparable] struct {
	// Key identifies the kind of evaluation. Only batches with equal keys are combined; their
	// arrays must have rows of equal lengths.
	Key K
	// Rows is the number of rows, at least 1.
	Rows int
	// In holds the input arrays and Out the output arrays, row by row.
	In, Out [][]float64
}

// Gatherer calls a function that evaluates batches. Output row i of the function must only
// depend on input row i.
type Gatherer[K comparable] struct {
	// Call evaluates a batch.
	Call func(Batch[K]) error
	// Limit is the largest number of concurrent calls, at least 1. Batches that arrive during
	// Limit calls wait and are combined.
	Limit int
	// Max bounds the number of input values of a combined batch.
	Max int
	// MaxBatches bounds the number of batches that are combined; 0 means no bound.
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

// request is a batch and the goroutine that waits for its result.
type request[K comparable] struct {
	Batch[K]
	// turn receives one message. If it holds requests, its own first, this goroutine must call
	// the function for them. If it is empty, another goroutine has made the call.
	turn  chan []*request[K]
	alone bool // the combined call failed: evaluate this batch alone
}

// Do evaluates a batch, alone or combined with others. If a combined call fails, each
// batch is evaluated alone, so that an invalid batch does not fail the others.
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

// begin reports whether a call may start now. If not, it queues the request.
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

// lead makes the call for a group of requests and returns the error of the first.
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

// passOn starts the next call for waiting requests: it makes one of them the leader of a group.
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

// concatenate joins the rows of a group in one batch.
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

// handOut copies the results of b to the batches of the group.
func (b Batch[K]) handOut(group []*request[K]) {
	for i, a := range b.Out {
		for _, r := range group {
			n := copy(r.Out[i], a)
			a = a[n:]
		}
	}
}
