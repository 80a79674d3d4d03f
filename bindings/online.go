package bindings

import (
	"encoding/binary"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// onlineSettings are those of [StartOnline]: of a fit, and of the one to go on from.
type onlineSettings struct {
	fitSettings
	// Prior describes a fitted model whose arrays are given, with the rows of its tau, the
	// number of rows that it was fitted to, and its penalty.
	Prior        *modelSettings `json:"prior"`
	PriorTau     int64          `json:"prior_tau"`
	PriorN       int            `json:"prior_n"`
	PriorPenalty float64        `json:"prior_penalty"`
}

// StartOnline begins to take in rows as they come: x, rows x columns, after those that a
// state remembers, which is that of [OnlineState] at its address with so many words, or begins
// anew where there are none. parts is the address of the arrays of the model to go on from, as
// for [StartMap], or 0. [FitReport] and [FitArrays] have the model, without history. No handle
// stays between calls. It returns 1.
func StartOnline(number int64, settings string, state uint64, words int64, x uint64, rows, columns int64, weights, precision, parts uint64) (int64, error) {
	return guarded("partial fit", func() (int64, error) {
		var s onlineSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		data, err := readData(x, rows, columns, weights)
		if err != nil {
			return 0, err
		}
		stored, err := readState(state, words)
		if err != nil {
			return 0, err
		}
		var addresses []uint64
		if s.Prior != nil {
			if addresses, err = addressList("parts", parts, modelArrays); err != nil {
				return 0, err
			}
			addresses = append([]uint64(nil), addresses...)
		}
		return start(number, "partial fit", func(j *job) (any, error) { return s.learn(j, stored, data, precision, addresses) })
	})
}

// learn takes the rows in, and leaves what was learned in the job.
func (s onlineSettings) learn(j *job, stored []byte, data scqm.Data, precision uint64, parts []uint64) (*scqm.Fit, error) {
	if s.fitSettings.Loss.elsewhere() {
		return nil, fmt.Errorf("losses of your own cannot be learned from rows as they come: nothing tells how to average what rows say that are seen once; learn with l2, huber or squared_l2, or fit all rows at once: %w", framework.ErrInvalid)
	}
	config, err := s.config(j)
	if err != nil {
		return nil, err
	}
	if config.Loss, err = s.fitSettings.Loss.buildFor(j, precision, data, scqm.Config{Latent: config.Latent}); err != nil {
		return nil, err
	}
	o, err := scqm.NewOnline(config, data.D)
	if err != nil {
		return nil, err
	}
	switch {
	case stored != nil:
		err = o.Resume(stored)
	case s.Prior != nil:
		var m *scqm.Model
		if m, err = s.Prior.build(nil, parts, s.PriorTau); err == nil {
			m.Meta.N, m.Meta.Penalty = s.PriorN, s.PriorPenalty
			err = o.GoOn(m)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := o.Learn(j.ctx, data); err != nil {
		return nil, err
	}
	fit, err := o.Fit(j.ctx)
	if err != nil {
		return nil, err
	}
	j.learned, err = packState(o)
	return fit, err
}

// packState is the state of an Online in words: the number of its bytes, then these.
func packState(o *scqm.Online) ([]uint64, error) {
	b, err := o.MarshalBinary()
	if err != nil {
		return nil, err
	}
	words := []uint64{uint64(len(b))}
	for len(b) > 0 {
		var word [wordSize]byte
		b = b[copy(word[:], b):]
		words = append(words, binary.LittleEndian.Uint64(word[:]))
	}
	return words, nil
}

// readState reads what packState has written; nothing where there are no words.
func readState(address uint64, count int64) ([]byte, error) {
	n, err := product("state", count)
	if err != nil || n == 0 {
		return nil, err
	}
	words, err := addressList("state", address, n)
	if err != nil {
		return nil, err
	}
	if words[0] > uint64(wordSize*(n-1)) {
		return nil, fmt.Errorf("state: %d bytes in %d words: %w", words[0], n, framework.ErrInvalid)
	}
	var b []byte
	for _, w := range words[1:] {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b[:words[0]], nil
}

// OnlineState returns the number of words of what a job of [StartOnline] has learned, and
// writes them to the destination to, unless that is 0.
func OnlineState(number int64, to uint64) (int64, error) {
	return withJob("partial fit", number, func(j *job) (int64, error) {
		if _, err := resultOf[*scqm.Fit](j); err != nil {
			return 0, err
		}
		if to != 0 {
			words, err := addressList("state", to, len(j.learned))
			if err != nil {
				return 0, err
			}
			copy(words, j.learned)
		}
		return int64(len(j.learned)), nil
	})
}
