package bindings

import (
	"encoding/binary"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/denoise"
)

// hashesOf makes a number of 8 bytes for every row of data, the same for equal rows. The rows of the
// least are the sample of partitionOf.
func hashesOf(in *input) work {
	data := in.data()
	return func(*job) (*outcome, error) {
		b := []byte{}
		for i := range data.N {
			b = binary.NativeEndian.AppendUint64(b, denoise.Hash(data.Row(i)))
		}
		return &outcome{bytes: b}, nil
	}
}

// partitionOf cuts space into cells for a method with the settings of denoiserOf and total rows, of
// which data are those with the least hashes. The report has the dimension, chosen where that was to
// be done, and cells, each with its bounds lo and hi and its halo.
func partitionOf(in *input) work {
	var s struct {
		denoiserSettings
		Total int `json:"total"`
	}
	in.decode(&s)
	if s.Loss != nil {
		in.loss(s.Loss)
	}
	data := in.data()
	if s.Total < data.N {
		in.note(fmt.Errorf("partition: %d rows, of which %d are a sample: %w", s.Total, data.N, framework.ErrInvalid))
	}
	return func(j *job) (*outcome, error) {
		m, err := s.method(j, data.D)
		if err != nil {
			return nil, err
		}
		o := denoise.Options{Threads: threads(s.Threads), Axes: s.Axes, CellRows: s.CellRows}
		m, cells, err := denoise.Partition(j.ctx, m, data, s.Total, o)
		if err != nil {
			return nil, err
		}
		latent := s.Latent
		if m, ok := m.(interface{ Dimension() int }); ok {
			latent = m.Dimension()
		}
		return &outcome{report: map[string]any{"d": latent, "cells": cells}}, nil
	}
}
