package bindings

import (
	"encoding/binary"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/denoise"
)

// hashesOf computes a 64-bit hash of each row of data; equal rows have equal hashes.
// The sample for partitionOf consists of the rows with the smallest hashes.
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

// partitionOf partitions space into cells for a method with the settings of denoiserOf. data is a sample of a table of
// total rows: those with the smallest hashes. The report has the dimension, chosen from the sample if that was asked
// for, and the cells; each cell has bounds lo and hi and a halo.
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
