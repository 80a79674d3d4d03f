package frameworktest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/scqm/scqm/framework"
)

// kernel is a method with a destination; all inputs have its shape.
type kernel struct {
	name string
	in   [][]float64
	run  func(dst []float64, in [][]float64) error
}

// kernels lists the methods of the manifold with inputs for a trial at x.
func (c *manifoldCheck) kernels(x []float64) ([]kernel, error) {
	v, y, err := c.stepAndEnd(x)
	if err != nil {
		return nil, err
	}
	g, h := c.gauss(), c.gauss()
	kernels := []kernel{
		{"Project", [][]float64{x, g}, func(dst []float64, in [][]float64) error {
			c.m.Project(dst, in[0], in[1])
			return nil
		}},
		{"Retract", [][]float64{x, v}, func(dst []float64, in [][]float64) error {
			return c.m.Retract(dst, in[0], in[1])
		}},
	}
	if m, ok := c.m.(framework.Transporter); ok {
		kernels = append(kernels, kernel{"Transport", [][]float64{x, y, v}, func(dst []float64, in [][]float64) error {
			m.Transport(dst, in[0], in[1], in[2])
			return nil
		}})
	}
	kernels = append(kernels, c.geodesicKernels(x, y, v)...)
	if m, ok := c.m.(framework.Metric); ok {
		kernels = append(kernels, kernel{"Gradient", [][]float64{x, g}, func(dst []float64, in [][]float64) error {
			m.Gradient(dst, in[0], in[1])
			return nil
		}}, kernel{"Inner", [][]float64{x, v, v}, func(dst []float64, in [][]float64) error {
			fill(dst, m.Inner(in[0], in[1], in[2]))
			return nil
		}})
	}
	if m, ok := c.m.(framework.HessianConverter); ok {
		kernels = append(kernels, kernel{"RiemannianHessian", [][]float64{x, g, h, v}, func(dst []float64, in [][]float64) error {
			m.RiemannianHessian(dst, in[0], in[1], in[2], in[3])
			return nil
		}})
	}
	if m, ok := c.m.(framework.Constrained); ok {
		kernels = append(kernels, kernel{"Violation", [][]float64{x}, func(dst []float64, in [][]float64) error {
			fill(dst, m.Violation(in[0]))
			return nil
		}})
	}
	return kernels, nil
}

// geodesicKernels lists the kernels of geodesics.
func (c *manifoldCheck) geodesicKernels(x, y, v []float64) (kernels []kernel) {
	if m, ok := c.m.(framework.Exper); ok {
		kernels = append(kernels, kernel{"Exp", [][]float64{x, v}, func(dst []float64, in [][]float64) error {
			return m.Exp(dst, in[0], in[1])
		}})
	}
	if m, ok := c.m.(framework.Logarithm); ok {
		kernels = append(kernels, kernel{"Log", [][]float64{x, y}, func(dst []float64, in [][]float64) error {
			return m.Log(dst, in[0], in[1])
		}})
	}
	if m, ok := c.m.(framework.Distance); ok {
		kernels = append(kernels, kernel{"Distance", [][]float64{x, y}, func(dst []float64, in [][]float64) error {
			d, err := m.Distance(in[0], in[1])
			fill(dst, d)
			return err
		}})
	}
	return kernels
}

// copies returns copies of the inputs.
func (k kernel) copies() [][]float64 {
	in := make([][]float64, len(k.in))
	for i := range in {
		in[i] = slices.Clone(k.in[i])
	}
	return in
}

// into runs the kernel on copies of its inputs, which it returns.
func (k kernel) into(dst []float64) (in [][]float64, err error) {
	in = k.copies()
	if err := k.run(dst, in); err != nil {
		return nil, fmt.Errorf("%s: %w", k.name, err)
	}
	return in, nil
}

// kernelLaw tests a law on every kernel at every point, given the kernel's result for comparison.
func (c *manifoldCheck) kernelLaw(name string, trial func(k kernel, want []float64) error) bool {
	return c.law(name, func(x []float64) error {
		kernels, err := c.kernels(x)
		if err != nil {
			return err
		}
		for _, k := range kernels {
			want := c.zeros()
			if _, err := k.into(want); err != nil {
				return err
			}
			if err := trial(k, want); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
		}
		return nil
	})
}

func (c *manifoldCheck) checkConventions() {
	kept := c.kernelLaw("inputs kept", func(k kernel, _ []float64) error {
		in, err := k.into(c.zeros())
		for i := range in {
			if !sameBits(in[i], k.in[i]) {
				return fmt.Errorf("changes input %d", i)
			}
		}
		return err
	})
	c.kernelLaw("destination overwritten", func(k kernel, want []float64) error {
		dst := poisoned(c.m.Size())
		if _, err := k.into(dst); err != nil {
			return err
		}
		return equal(dst, want)
	})
	if kept {
		c.kernelLaw("aliasing", func(k kernel, want []float64) error {
			for i := range k.in {
				in := k.copies()
				if err := errors.Join(k.run(in[i], in), equal(in[i], want)); err != nil {
					return fmt.Errorf("destination is input %d: %w", i, err)
				}
			}
			return nil
		})
	}
	deterministic := c.kernelLaw("deterministic", func(k kernel, want []float64) error {
		dst := c.zeros()
		_, err := k.into(dst)
		if !sameBits(dst, want) {
			return errors.New("a rerun gives other bits")
		}
		return err
	})
	if deterministic {
		c.kernelLaw("concurrent", c.concurrent)
	}
}

// concurrent runs the kernel on several goroutines at once.
func (c *manifoldCheck) concurrent(k kernel, want []float64) error {
	return concurrently(manifoldCallers, func() error {
		dst := c.zeros()
		if _, err := k.into(dst); err != nil {
			return err
		}
		if !sameBits(dst, want) {
			return errors.New("calls at the same time disturb each other")
		}
		return nil
	})
}
