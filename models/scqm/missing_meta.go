package scqm

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// MissingMeta describes how a model treats missing entries.
type MissingMeta struct {
	// Policy is "ignore": missing entries have weight zero.
	Policy string `json:"policy"`
	// Entries is the number of missing entries; equal rows count once.
	Entries int `json:"entries"`
	// Prior is the symmetric matrix P, d x d, row by row. The loss of rows with missing entries, and Meta.Penalty,
	// contain tau'P tau.
	Prior []float64 `json:"prior,omitempty"`
}

// MissingIgnored is the Policy of models for data with missing entries.
const MissingIgnored = "ignore"

// check returns an error for values that no fit writes.
func (m *MissingMeta) check(d int) error {
	switch {
	case m == nil:
		return nil
	case m.Policy != MissingIgnored:
		return fmt.Errorf("missing entries are treated by %.80q, which this program does not know; use a newer version of scqm", m.Policy)
	case len(m.Prior) > 0 && len(m.Prior) != d*d || !(framework.Point{m.Prior}).Finite() || m.Entries < 0:
		return fmt.Errorf("the prior of rows with missing entries has %d numbers and their entries are %d; want %d finite ones for d = %d", len(m.Prior), m.Entries, d*d, d)
	}
	return nil
}

// prior returns Prior, nil if it is empty.
func (m *MissingMeta) prior() nearest.Prior {
	if m == nil || len(m.Prior) == 0 {
		return nil
	}
	return m.Prior
}
