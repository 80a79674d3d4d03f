package bindings

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// onlineSettings are the settings of onlineOf: those of a fit, and those of the model to continue from, if any.
type onlineSettings struct {
	fitSettings
	Prior *priorSettings `json:"prior"`
}

// priorSettings describe a fitted model. N is the number of rows of its fit; the
// penalty is that of its fit too.
type priorSettings struct {
	modelSettings
	N       int     `json:"n"`
	Penalty float64 `json:"penalty"`
}

// onlineOf updates a model with the new rows data. It continues from the bytes state of an earlier
// call, or from the model prior, or starts a new fit. The outcome is that of a fit without a history;
// its bytes are the new state. Go keeps no state between calls.
func onlineOf(in *input) work {
	var s onlineSettings
	in.decode(&s)
	in.loss(&s.Loss)
	data, state := in.data(), in.bytes("state")
	var prior *scqm.Model
	if s.Prior != nil {
		prior = in.model(&s.Prior.modelSettings)
		prior.Meta.N, prior.Meta.Penalty = s.Prior.N, s.Prior.Penalty
	}
	return func(j *job) (*outcome, error) {
		o, err := s.learn(j, state, prior, data)
		if err != nil {
			return nil, err
		}
		fit, err := o.Fit(j.ctx)
		if err != nil {
			return nil, err
		}
		made := fitted(fit)
		made.bytes, err = o.MarshalBinary()
		return made, err
	}
}

// learn updates the online fit with the rows of data.
func (s onlineSettings) learn(j *job, state []byte, prior *scqm.Model, data scqm.Data) (*scqm.Online, error) {
	if s.Loss.elsewhere() {
		return nil, fmt.Errorf("losses of your own cannot be learned from rows as they come: nothing tells how to average what rows say that are seen once; learn with l2, huber or squared_l2, or fit all rows at once: %w", framework.ErrInvalid)
	}
	config, err := s.config(j)
	if err != nil {
		return nil, err
	}
	if config.Loss, err = s.Loss.buildFor(j, data, scqm.Config{Latent: config.Latent}); err != nil {
		return nil, err
	}
	o, err := scqm.NewOnline(config, data.D)
	switch {
	case err != nil:
	case state != nil:
		err = o.Resume(state)
	case prior != nil:
		err = o.GoOn(prior)
	}
	if err != nil {
		return nil, err
	}
	return o, o.Learn(j.ctx, data)
}
