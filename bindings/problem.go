package bindings

import (
	"fmt"

	"github.com/scqm/scqm/framework"
)

// The functions of this file serve a solver in Python that answers QuestionMinimum. Points, tangent
// vectors and gradients are packed: their blocks are concatenated, each in row-major order.

// running returns the active run of a solver written in Python. It removes the question
// from the job, so that Wait then reports evaluations.
func (j *job) running() (*minimum, error) {
	if j.minimum == nil {
		return nil, fmt.Errorf("job runs no solver of Python's: %w", errJob)
	}
	if j.asked != nil && j.asked.minimum != nil {
		j.asked = nil
	}
	return j.minimum, nil
}

// withMinimum calls body with the job and the problem that Python minimises.
func withMinimum[T any](act string, number int64, body func(*job, *minimum) (T, error)) (T, error) {
	return withJob(act, number, func(j *job) (T, error) {
		m, err := j.running()
		if err != nil {
			var none T
			return none, err
		}
		return body(j, m)
	})
}

// ProblemBlocks returns the blocks of the problem as a JSON list of objects. Their
// entries are name, manifold, rows (number of copies of the manifold), size (entries of
// a copy) and dim.
func ProblemBlocks(number int64) (string, error) {
	return withMinimum("problem blocks", number, func(_ *job, m *minimum) (string, error) {
		var list []map[string]any
		for _, b := range m.evaluator.Blocks() {
			list = append(list, map[string]any{
				"name": b.Name, "manifold": fmt.Sprint(b.Manifold), "rows": b.Rows(), "size": b.Manifold.Size(), "dim": b.Dim(),
			})
		}
		return encode(list)
	})
}

// ProblemStart returns 1 if a run of the solver begins, and 0 if it continues. It
// copies the best point so far to the destination x unless x is 0.
func ProblemStart(number int64, x uint64) (int64, error) {
	return withMinimum("problem start", number, func(_ *job, m *minimum) (int64, error) {
		if x != 0 {
			to, err := m.packed("x", x)
			if err != nil {
				return 0, err
			}
			pack(to, m.start)
		}
		return int64(truth(m.begins)), nil
	})
}

// StartCost starts the evaluation of the cost at x and, if the destination grad is not 0, of the
// Euclidean gradient. It returns 0 if the evaluation is already complete. Otherwise it returns 1, and
// Wait returns Evaluated when it is complete. [Cost] returns the result.
func StartCost(number int64, x, grad uint64) (int64, error) {
	return withMinimum("start cost", number, func(j *job, m *minimum) (int64, error) {
		at, err := m.packed("x", x)
		if err != nil {
			return 0, err
		}
		var slopes []float64
		if grad != 0 {
			if slopes, err = m.packed("grad", grad); err != nil {
				return 0, err
			}
		}
		if m.advance != nil {
			m.cost, m.err = m.evaluate(evaluation{at, slopes})
			return 0, nil
		}
		select {
		case m.work <- evaluation{at, slopes}:
			return 1, nil
		case <-j.done:
			return 0, fmt.Errorf("job has ended: %w", errJob)
		}
	})
}

// Cost returns the cost that StartCost has evaluated.
func Cost(number int64) (float64, error) {
	return withMinimum("cost", number, func(_ *job, m *minimum) (float64, error) { return m.cost, m.err })
}

// ProblemMap applies an operation of [ManifoldMap] to the product of the manifolds of all blocks:
// projection, retraction, gradient or transport. It writes the result to the destination dst.
func ProblemMap(number int64, operation string, dst, a, b, c uint64) (int64, error) {
	return withMinimum(operation, number, func(_ *job, m *minimum) (int64, error) {
		to, err := m.packed("dst", dst)
		if err != nil {
			return 0, err
		}
		parts := split(m.evaluator.Blocks(), to)
		return 1, m.eachBlock(func(k int, block framework.Block, in [4][]float64) error {
			return maps[operation](block, parts[k], in)
		}, a, b, c)
	})
}

// ProblemInner returns the inner product of the tangent vectors u and v at x.
func ProblemInner(number int64, x, u, v uint64) (float64, error) {
	return withMinimum("inner", number, func(_ *job, m *minimum) (sum float64, err error) {
		err = m.eachBlock(func(_ int, b framework.Block, in [4][]float64) error {
			sum += b.Inner(in[0], in[1], in[2])
			return nil
		}, x, u, v)
		return sum, err
	})
}

// AnswerPoint ends an iteration of the solver at the point x. If x is 0, the point is
// the best one evaluated. If more is 0, the iteration was the last one.
func AnswerPoint(number int64, x uint64, more int64) (int64, error) {
	return withMinimum("answer point", number, func(j *job, m *minimum) (int64, error) {
		var end framework.Point
		if x != 0 {
			from, err := m.packed("x", x)
			if err != nil {
				return 0, err
			}
			end = framework.NewPoint(m.evaluator.Blocks())
			unpack(end, from)
		}
		m.end <- ending{end, more != 0}
		j.minimum = nil
		return 1, nil
	})
}

// eachBlock calls do for each block with its parts of the packed arrays at addresses. An address of 0 gives nil.
func (m *minimum) eachBlock(do func(k int, b framework.Block, in [4][]float64) error, addresses ...uint64) error {
	blocks := m.evaluator.Blocks()
	in := make([][4][]float64, len(blocks))
	for i, address := range addresses {
		if address == 0 {
			continue
		}
		flat, err := m.packed("operand", address)
		if err != nil {
			return err
		}
		for k, part := range split(blocks, flat) {
			in[k][i] = part
		}
	}
	for k, b := range blocks {
		if err := do(k, b, in[k]); err != nil {
			return fmt.Errorf("block %s: %w: %w", b.Name, err, framework.ErrInvalid)
		}
	}
	return nil
}

// packed returns the packed array at an address, without a copy.
func (m *minimum) packed(what string, address uint64) ([]float64, error) {
	return view(what, address, framework.Product(m.evaluator.Blocks()).Size())
}

// split divides a packed array into blocks that share its memory.
func split(blocks []framework.Block, flat []float64) framework.Point {
	x := make(framework.Point, len(blocks))
	for k, b := range blocks {
		x[k], flat = flat[:b.Size():b.Size()], flat[b.Size():]
	}
	return x
}

func pack(dst []float64, x framework.Point) {
	for _, b := range x {
		dst = dst[copy(dst, b):]
	}
}

func unpack(dst framework.Point, flat []float64) {
	for _, b := range dst {
		flat = flat[copy(b, flat):]
	}
}
