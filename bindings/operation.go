package bindings

import (
	"github.com/scqm/scqm/framework"
)

// maps holds the operations of [ManifoldMap] by name. Each writes its result to dst; in
// holds up to four operands.
var maps = map[string]func(b framework.Block, dst []float64, in [4][]float64) error{
	"projection": func(b framework.Block, dst []float64, in [4][]float64) error {
		b.Project(dst, in[0], in[1])
		return nil
	},
	"retraction": func(b framework.Block, dst []float64, in [4][]float64) error { return b.Retract(dst, in[0], in[1]) },
	"exp":        func(b framework.Block, dst []float64, in [4][]float64) error { return b.Exp(dst, in[0], in[1]) },
	"log":        func(b framework.Block, dst []float64, in [4][]float64) error { return b.Log(dst, in[0], in[1]) },
	"transport": func(b framework.Block, dst []float64, in [4][]float64) error {
		b.Transport(dst, in[0], in[1], in[2])
		return nil
	},
	"gradient": func(b framework.Block, dst []float64, in [4][]float64) error {
		b.Gradient(dst, in[0], in[1])
		return nil
	},
	"hessian": func(b framework.Block, dst []float64, in [4][]float64) error {
		return b.Hessian(dst, in[0], in[1], in[2], in[3])
	},
	"restoration": func(b framework.Block, dst []float64, in [4][]float64) error {
		copy(dst, in[0])
		return b.Restore(dst)
	},
}

// measures holds the operations of [ManifoldMeasure] by name.
var measures = map[string]func(b framework.Block, in [4][]float64) (float64, error){
	"inner":     func(b framework.Block, in [4][]float64) (float64, error) { return b.Inner(in[0], in[1], in[2]), nil },
	"norm":      func(b framework.Block, in [4][]float64) (float64, error) { return b.Norm(in[0], in[1]), nil },
	"dist":      func(b framework.Block, in [4][]float64) (float64, error) { return b.Distance(in[0], in[1]) },
	"violation": func(b framework.Block, in [4][]float64) (float64, error) { return b.Violation(in[0]), nil },
}
