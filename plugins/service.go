package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/shm"
	"github.com/scqm/scqm/plugins/protocol"
)

// service implements the protocol for a loss.
type service struct {
	protocol.UnimplementedLossServer
	prototype framework.Loss
	schema    Schema
	console   *os.File // the original standard error of the process

	mu       sync.RWMutex
	loss     framework.Loss // nil until configured
	segments map[uint32]*mapped
}

// mapped is a mapped segment. An evaluation holds the read lock while it uses the segment.
type mapped struct {
	sync.RWMutex
	*shm.Segment
}

func newService(l framework.Loss) (*service, error) {
	if l == nil {
		return nil, errors.New("plugins: serve: there is no loss")
	}
	schema, err := schemaOf(l)
	if err == nil {
		err = Description{Name: l.Name()}.check()
	}
	if err != nil {
		return nil, fmt.Errorf("plugins: serve: %w", err)
	}
	return &service{prototype: l, schema: schema, console: os.Stderr, segments: map[uint32]*mapped{}}, nil
}

// Describe implements the protocol. It also redirects printed output, which go-plugin
// sends through the connection, to the original files. Otherwise the last output before
// a crash would be lost.
func (s *service) Describe(context.Context, *protocol.DescribeRequest) (*protocol.DescribeResponse, error) {
	os.Stdout, os.Stderr = s.console, s.console
	reply := &protocol.DescribeResponse{Name: s.prototype.Name()}
	if doc, ok := documentOf(s.prototype); ok {
		reply.Version, reply.Summary, reply.Formula = doc.Version, doc.Summary, doc.Formula
	}
	text, err := s.schema.json()
	if err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	reply.Schema = text
	return reply, nil
}

// Configure implements the protocol.
func (s *service) Configure(_ context.Context, request *protocol.ConfigureRequest) (*protocol.ConfigureResponse, error) {
	l, err := withParams(s.prototype, request.Parameters)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	s.mu.Lock()
	s.loss = l
	s.mu.Unlock()
	return offerOf(l), nil
}

// documentOf returns the Document of a loss, or of the form from which it was made.
func documentOf(l framework.Loss) (Document, bool) {
	d, ok := authored(l).(Documented)
	if !ok {
		return Document{}, false
	}
	return d.Document(), true
}

// offerOf returns a response that lists the interfaces which the loss implements.
func offerOf(l framework.Loss) *protocol.ConfigureResponse {
	offer := &protocol.ConfigureResponse{}
	switch l.(type) {
	case framework.Radial:
		offer.Structure = protocol.Structure_STRUCTURE_RADIAL
	case framework.Separable:
		offer.Structure = protocol.Structure_STRUCTURE_SEPARABLE
	}
	if d, ok := l.(rowloss.Dimensioned); ok {
		offer.Dim = uint32(d.Dim())
	}
	if doc, ok := documentOf(l); ok {
		offer.NonConvex = doc.NonConvex
	}
	_, offer.Weights = l.(framework.Majorizer)
	_, offer.Products = l.(framework.SecondOrder)
	_, offer.Smoothing = l.(framework.Smoother)
	return offer
}

// Attach implements the protocol.
func (s *service) Attach(_ context.Context, request *protocol.AttachRequest) (*protocol.AttachResponse, error) {
	segment, err := shm.Open(request.Path, int(request.Bytes))
	if err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.segments[request.Segment]; taken {
		segment.Close()
		return nil, status.Errorf(codes.FailedPrecondition, "segment %d is attached already", request.Segment)
	}
	s.segments[request.Segment] = &mapped{Segment: segment}
	return &protocol.AttachResponse{}, nil
}

// Detach implements the protocol.
func (s *service) Detach(_ context.Context, request *protocol.DetachRequest) (*protocol.DetachResponse, error) {
	s.mu.Lock()
	segment, ok := s.segments[request.Segment]
	delete(s.segments, request.Segment)
	s.mu.Unlock()
	if ok {
		segment.Lock()
		defer segment.Unlock()
		segment.Close()
	}
	return &protocol.DetachResponse{}, nil
}

// Evaluate implements the protocol.
func (s *service) Evaluate(_ context.Context, request *protocol.EvaluateRequest) (reply *protocol.EvaluateResponse, err error) {
	defer func() {
		if p := recover(); p != nil {
			reply, err = nil, status.Errorf(codes.Aborted, "panic: %v", p)
		}
	}()
	s.mu.RLock()
	l, segment := s.loss, s.segments[request.Segment]
	s.mu.RUnlock()
	if l == nil {
		return nil, status.Error(codes.FailedPrecondition, "Evaluate before Configure")
	}
	b, err := batchOf(l, request)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if request.Segment != 0 {
		if segment == nil {
			return nil, status.Errorf(codes.FailedPrecondition, "there is no segment %d", request.Segment)
		}
		segment.RLock()
		defer segment.RUnlock()
	}
	if err := b.place(request, segment); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if err := b.evaluateAll(l); err != nil {
		return nil, status.Error(codes.Aborted, err.Error())
	}
	reply = &protocol.EvaluateResponse{Rows: request.Rows}
	if request.Segment == 0 {
		for _, r := range b.results {
			reply.Results = append(reply.Results, toBytes(r.to))
		}
	}
	return reply, nil
}

var errStretches = errors.New("the stretches do not add up to the rows")

// batchOf returns the batch, without arrays, that the request describes.
func batchOf(l framework.Loss, request *protocol.EvaluateRequest) (*batch, error) {
	rows, dim := request.Rows, request.Dim
	if dim < 1 || dim > maxDim || rows > maxMessage/wordBytes/uint64(dim) {
		return nil, fmt.Errorf("%d rows of length %d", rows, dim)
	}
	b := &batch{dim: int(dim), eps: request.Eps, stretches: request.Stretches}
	for _, s := range b.stretches {
		if s.Rows > rows {
			return nil, errStretches
		}
		rows -= s.Rows
	}
	if b.stretches != nil && rows > 0 {
		return nil, errStretches
	}
	for _, q := range request.Want {
		per := int(dim)
		_, isRadial := l.(framework.Radial)
		if q == protocol.Quantity_QUANTITY_VALUES || q >= protocol.Quantity_QUANTITY_PROFILE ||
			q == protocol.Quantity_QUANTITY_WEIGHTS && isRadial {
			per = 1
		}
		b.results = append(b.results, result{quantity: q, per: per})
	}
	return b, nil
}

// arrays allocates the arrays of an evaluation, in the segment if there is one, else in
// new memory.
type arrays struct {
	segment *mapped // may be nil
	at      int
}

func (a *arrays) next(n int) ([]float64, error) {
	if a.segment == nil {
		return make([]float64, n), nil
	}
	place := a.segment.Floats(a.at, n)
	a.at += shm.Span(n)
	if place == nil {
		return nil, errors.New("the arrays do not fit into the segment")
	}
	return place, nil
}

// input returns an argument of n numbers: from the segment if there is one, else from the bytes sent in the request.
func (a *arrays) input(n int, sent []byte) ([]float64, error) {
	place, err := a.next(n)
	if err != nil || a.segment != nil {
		return place, err
	}
	if len(sent) != wordBytes*n {
		return nil, fmt.Errorf("an array has %d bytes, want %d", len(sent), wordBytes*n)
	}
	fromBytes(place, sent)
	return place, nil
}

// place sets the arrays of the batch, which are in the segment or in new memory.
func (b *batch) place(request *protocol.EvaluateRequest, segment *mapped) (err error) {
	rows, a := int(request.Rows), arrays{segment: segment}
	if b.residuals, err = a.input(rows*b.dim, request.Residuals); err != nil {
		return err
	}
	if slices.Contains(request.Want, protocol.Quantity_QUANTITY_PRODUCTS) {
		if b.directions, err = a.input(rows*b.dim, request.Directions); err != nil {
			return err
		}
	}
	for i := range b.results {
		if b.results[i].to, err = a.next(rows * b.results[i].per); err != nil {
			return err
		}
	}
	return nil
}

// of returns the destination of a quantity, or nil if the quantity was not requested.
func (b *batch) of(q protocol.Quantity) []float64 {
	for _, r := range b.results {
		if r.quantity == q {
			return r.to
		}
	}
	return nil
}

// evaluateAll evaluates each stretch of the batch with its own eps.
func (b *batch) evaluateAll(l framework.Loss) error {
	if b.stretches == nil {
		return b.evaluate(l)
	}
	lo := 0
	for _, s := range b.stretches {
		part := b.part(lo, lo+int(s.Rows))
		part.eps = s.Eps
		if err := part.evaluate(l); err != nil {
			return err
		}
		lo += int(s.Rows)
	}
	return nil
}

// evaluate makes the loss compute the requested results.
func (b *batch) evaluate(l framework.Loss) error {
	if b.eps > 0 {
		s, ok := l.(framework.Smoother)
		if !ok {
			return fmt.Errorf("loss %s cannot be smoothed", l.Name())
		}
		l = s.Smooth(b.eps)
	}
	values, grad := b.of(protocol.Quantity_QUANTITY_VALUES), b.of(protocol.Quantity_QUANTITY_GRADIENTS)
	if values != nil || grad != nil {
		if err := l.Evaluate(values, grad, b.residuals, b.dim); err != nil {
			return err
		}
	}
	if err := b.more(l); err != nil {
		return err
	}
	value, d1, d2 := b.of(protocol.Quantity_QUANTITY_PROFILE), b.of(protocol.Quantity_QUANTITY_FIRST), b.of(protocol.Quantity_QUANTITY_SECOND)
	if value == nil && d1 == nil && d2 == nil {
		return nil
	}
	switch l := l.(type) {
	case framework.Radial:
		l.Rho(value, d1, d2, b.residuals)
	case framework.Separable:
		l.Phi(value, d1, d2, b.residuals)
	default:
		return fmt.Errorf("loss %s is neither radial nor separable", l.Name())
	}
	return nil
}

// more computes the weights and Hessian products that are requested.
func (b *batch) more(l framework.Loss) error {
	if w := b.of(protocol.Quantity_QUANTITY_WEIGHTS); w != nil {
		m, ok := l.(framework.Majorizer)
		if !ok {
			return fmt.Errorf("loss %s offers no weights", l.Name())
		}
		if err := m.Weights(w, b.residuals, b.dim); err != nil {
			return err
		}
	}
	if product := b.of(protocol.Quantity_QUANTITY_PRODUCTS); product != nil {
		s, ok := l.(framework.SecondOrder)
		if !ok {
			return fmt.Errorf("loss %s offers no Hessian products", l.Name())
		}
		return s.HessianProduct(product, b.residuals, b.directions, b.dim)
	}
	return nil
}

// json encodes a schema in the form that a host expects.
func (s Schema) json() (string, error) {
	if len(s.Properties) == 0 {
		return "", nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		Type string `json:"type"`
		Schema
	}{"object", s})
	return b.String(), err
}
