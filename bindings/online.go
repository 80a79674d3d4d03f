package bindings

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// onlineSettings are those of onlineOf: of a fit, and of the model to go on from, if there is one.
type onlineSettings struct {
	fitSettings
	Prior *priorSettings `json:"prior"`
}

// priorSettings are those of a model, of which N is the number of rows that it was fitted to, and
// its penalty.
type priorSettings struct {
	modelSettings
	N       int     `json:"n"`
	Penalty float64 `json:"penalty"`
}

// onlineOf takes in rows as they come: data, after those that the bytes state remember, or begins
// with the model of prior, or anew. The outcome is that of a fit, without history, and with the new
// state. No handle stays between calls.
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

// learn takes the rows in.
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
