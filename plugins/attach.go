package plugins

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scqm/scqm/plugins/internal/frame"
	"github.com/scqm/scqm/plugins/internal/segment"
	"github.com/scqm/scqm/plugins/protocol"
)

// peer adapts a plugin to the interface that the pool of its segments uses.
type peer struct{ p *Plugin }

// Attach implements [segment.Peer].
func (q peer) Attach(s *segment.Segment) error {
	p := q.p
	ctx, cancel := context.WithTimeout(p.ctx, p.options.CallTimeout)
	defer cancel()
	_, err := p.rpc.Attach(ctx, &protocol.AttachRequest{Segment: s.ID, Path: s.Path(), Bytes: uint64(s.Len())})
	switch {
	case err == nil:
	case refuses(err):
		return segment.ErrNone
	default:
		return p.callError(ctx, "attach", p.options.CallTimeout, err)
	}
	if err := s.Release(); err != nil || p.offer.FrameSocket == "" {
		return err
	}
	s.Conn, err = frame.Dial(ctx, p.offer.FrameSocket)
	if err != nil {
		return p.callError(ctx, "attach", p.options.CallTimeout, err)
	}
	return nil
}

// Detach implements [segment.Peer].
func (q peer) Detach(s *segment.Segment) {
	ctx, cancel := context.WithTimeout(q.p.ctx, q.p.options.CallTimeout)
	defer cancel()
	_, _ = q.p.rpc.Detach(ctx, &protocol.DetachRequest{Segment: s.ID})
}

// refuses reports whether err is a plugin's answer that it does not support the request.
func refuses(err error) bool {
	switch status.Code(err) {
	case codes.DeadlineExceeded, codes.Unavailable, codes.Canceled, codes.Internal:
		return false
	default:
		return true
	}
}

// checkFrameSocket returns an error unless the socket for frames is in the plugin's private folder.
func (p *Plugin) checkFrameSocket() error {
	if p.offer.FrameSocket == "" {
		return nil
	}
	if _, _, err := p.process.PluginToHost("unix", p.offer.FrameSocket); err != nil {
		return fmt.Errorf("its frame socket: %w", err)
	}
	return nil
}
