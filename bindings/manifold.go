package bindings

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// The functions of this file are operations of one manifold. Points and tangent vectors
// are flat row-major arrays, like C-contiguous arrays of NumPy. The arrays of several
// copies are concatenated. So are the factors of FixedRank: U, S, V.

// manifoldChoice describes the manifold of a block.
type manifoldChoice struct {
	// Name is the name of the block in error messages.
	Name string `json:"name"`
	// Kind is the name of the manifold. Shape holds the arguments of its constructor.
	Kind  string `json:"kind"`
	Shape []int  `json:"shape"`
	// Copies is the number of copies; 0 stands for 1.
	Copies int `json:"copies"`
	// Own is set for a manifold written in Python. Kind is then the name of its class.
	Own *ownCalls `json:"own"`
}

// maxEntries is the maximum number of coordinates of a point of one manifold. maxSide
// is the maximum number of rows or columns of a matrix.
const maxEntries, maxSide = 1 << 40, 1 << 20

// construct maps the name of each manifold to a function that makes it from the constructor arguments.
var construct = map[string]struct {
	arguments int
	build     func(n []int) framework.Manifold
}{
	"euclidean":  {1, func(n []int) framework.Manifold { return manifolds.Euclidean(n[0]) }},
	"sphere":     {1, func(n []int) framework.Manifold { return manifolds.Sphere(n[0]) }},
	"oblique":    {2, func(n []int) framework.Manifold { return manifolds.NewOblique(n[0], n[1]) }},
	"stiefel":    {2, func(n []int) framework.Manifold { return manifolds.NewStiefel(n[0], n[1]) }},
	"grassmann":  {2, func(n []int) framework.Manifold { return manifolds.NewGrassmann(n[0], n[1]) }},
	"spd":        {1, func(n []int) framework.Manifold { return manifolds.NewSPD(n[0]) }},
	"rotations":  {1, func(n []int) framework.Manifold { return manifolds.NewRotations(n[0]) }},
	"hyperbolic": {1, func(n []int) framework.Manifold { return manifolds.Hyperbolic(n[0]) }},
	"fixed_rank": {3, func(n []int) framework.Manifold { return manifolds.NewFixedRank(n[0], n[1], n[2]) }},

	"positive":       {1, func(n []int) framework.Manifold { return manifolds.Positive(n[0]) }},
	"simplex":        {1, func(n []int) framework.Manifold { return manifolds.NewSimplex(n[0]) }},
	"symmetric":      {1, func(n []int) framework.Manifold { return manifolds.NewSymmetric(n[0]) }},
	"skew_symmetric": {1, func(n []int) framework.Manifold { return manifolds.NewSkewSymmetric(n[0]) }},
	"complex_circle": {1, func(n []int) framework.Manifold { return manifolds.NewComplexCircle(n[0]) }},
	"unitary":        {1, func(n []int) framework.Manifold { return manifolds.NewUnitary(n[0]) }},
	"psd_fixed_rank": {2, func(n []int) framework.Manifold { return manifolds.NewPSDFixedRank(n[0], n[1]) }},
	"elliptope":      {2, func(n []int) framework.Manifold { return manifolds.NewElliptope(n[0], n[1]) }},
	"se":             {1, func(n []int) framework.Manifold { return manifolds.NewSE(n[0]) }},
}

// vectors lists the manifolds whose point length is their only constructor argument plus a constant.
var vectors = []string{"euclidean", "sphere", "hyperbolic", "positive", "simplex", "complex_circle"}

// block returns the block. Python has already checked the arguments to give clear
// messages; the checks here only prevent faults.
func (c manifoldChoice) block() (framework.Block, error) {
	k, ok := construct[c.Kind]
	if !ok || len(c.Shape) != k.arguments || c.Copies < 0 || c.Copies > maxEntries {
		return framework.Block{}, fmt.Errorf("no manifold %q of shape %v and %d copies: %w", c.Kind, c.Shape, c.Copies, framework.ErrInvalid)
	}
	most := maxSide
	if slices.Contains(vectors, c.Kind) {
		most = maxEntries
	}
	for _, n := range c.Shape {
		if n < 1 || n > most {
			return framework.Block{}, fmt.Errorf("manifold %s of shape %v: want 1 to %d: %w", c.Kind, c.Shape, most, framework.ErrInvalid)
		}
	}
	b := framework.Block{Name: c.Name, Manifold: k.build(c.Shape), Copies: c.Copies}
	if float64(b.Manifold.Size())*float64(b.Rows()) > maxEntries {
		return framework.Block{}, fmt.Errorf("manifold %s of shape %v: more than %d numbers: %w", c.Kind, c.Shape, maxEntries, framework.ErrInvalid)
	}
	return b, nil
}

// describedBlocks returns the blocks of a product. It calls fail when an operation
// written in Python raises an exception.
func describedBlocks(choices []manifoldChoice, fail func(error) error) (framework.Product, error) {
	if len(choices) == 0 {
		return nil, fmt.Errorf("no blocks: %w", framework.ErrInvalid)
	}
	var blocks framework.Product
	for _, c := range choices {
		if c.Own != nil {
			m, err := c.own(fail)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, framework.Block{Name: c.Name, Manifold: m.forSolvers()})
			continue
		}
		b, err := c.block()
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// known caches the blocks used last, by their JSON description. A manifold keeps
// buffers for its next call.
var known = struct {
	sync.Mutex
	blocks map[string]framework.Block
}{blocks: map[string]framework.Block{}}

// maxKnown is the maximum number of cached blocks.
const maxKnown = 64

// describedBlock returns the block that a JSON object describes.
func describedBlock(text string) (framework.Block, error) {
	known.Lock()
	defer known.Unlock()
	if b, ok := known.blocks[text]; ok {
		return b, nil
	}
	var c manifoldChoice
	if err := decode(text, &c); err != nil {
		return framework.Block{}, err
	}
	b, err := c.block()
	if err != nil {
		return b, err
	}
	if len(known.blocks) >= maxKnown {
		clear(known.blocks)
	}
	known.blocks[text] = b
	return b, nil
}

// ManifoldMap writes the result of an operation of a manifold to the destination dst. The
// manifold is a JSON object with the entries name, kind, shape and copies.
// The operations are projection(x, v), retraction(x, v), exp(x, v), log(x, y),
// transport(x, y, v), gradient(x, g), hessian(x, g, h, v) and restoration(x); a,
// b, c and d are the addresses of their arguments, 0 for an argument that does not exist.
func ManifoldMap(manifold, operation string, dst, a, b, c, d uint64) (int64, error) {
	return guarded(operation, func() (int64, error) {
		apply, ok := maps[operation]
		if !ok {
			return 0, fmt.Errorf("no operation %q: %w", operation, framework.ErrInvalid)
		}
		block, in, err := readOperands(manifold, a, b, c, d)
		if err != nil {
			return 0, err
		}
		to, err := view("dst", dst, block.Size())
		if err != nil {
			return 0, err
		}
		if err := apply(block, to, in); err != nil {
			return 0, unusable(operation, err)
		}
		if !(framework.Point{to}).Finite() {
			return 0, unusable(operation, errors.New("the result is not finite"))
		}
		return 1, nil
	})
}

// ManifoldMeasure returns the number that an operation of a manifold computes: inner(x,
// u, v), norm(x, v), dist(x, y) or violation(x). Its arguments are as in [ManifoldMap].
func ManifoldMeasure(manifold, operation string, a, b, c uint64) (float64, error) {
	return guarded(operation, func() (float64, error) {
		measure, ok := measures[operation]
		if !ok {
			return 0, fmt.Errorf("no operation %q: %w", operation, framework.ErrInvalid)
		}
		block, in, err := readOperands(manifold, a, b, c, 0)
		if err != nil {
			return 0, err
		}
		value, err := measure(block, in)
		if err != nil || math.IsNaN(value) {
			return 0, unusable(operation, err)
		}
		return value, nil
	})
}

// unusable returns the error for arguments at which an operation is not defined.
func unusable(operation string, err error) error {
	if err == nil {
		err = errors.New("the result is not a number")
	}
	return fmt.Errorf("%s: %w: %w", operation, err, framework.ErrInvalid)
}

// readOperands returns the manifold that a JSON object describes and the arrays at the addresses.
func readOperands(manifold string, addresses ...uint64) (framework.Block, [4][]float64, error) {
	var in [4][]float64
	block, err := describedBlock(manifold)
	if err != nil {
		return block, in, err
	}
	for k, address := range addresses {
		if in[k], err = optionalView("operand", address, block.Size()); err != nil {
			return block, in, err
		}
	}
	return block, in, nil
}

// ManifoldRandom writes a random point to the destination dst. Equal seeds give equal
// points. It returns 1.
func ManifoldRandom(manifold string, seed int64, dst uint64) (int64, error) {
	return guarded("random point", func() (int64, error) {
		b, err := describedBlock(manifold)
		if err != nil {
			return 0, err
		}
		to, err := view("dst", dst, b.Size())
		if err != nil {
			return 0, err
		}
		if !b.Rand(to, rand.New(rand.NewPCG(uint64(seed), 0))) {
			return 0, fmt.Errorf("%v draws no random points: %w", b.Manifold, framework.ErrInvalid)
		}
		return 1, nil
	})
}

// ManifoldDim returns the total dimension of all copies of a manifold.
func ManifoldDim(manifold string) (int64, error) {
	return guarded("dimension", func() (int64, error) {
		b, err := describedBlock(manifold)
		if err != nil {
			return 0, err
		}
		return int64(b.Dim()), nil
	})
}
