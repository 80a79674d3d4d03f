package plugins

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/gather"
	"github.com/scqm/scqm/plugins/internal/process"
	"github.com/scqm/scqm/plugins/internal/segment"
	"github.com/scqm/scqm/plugins/protocol"
)

// endTime is how long a process may take to end after its connection has
// broken, and after it was asked to end. Tests shorten it.
var endTime = time.Second

const (
	// shutdownTime bounds the request to end.
	shutdownTime = 500 * time.Millisecond
	// shutdownMethod is the call with which go-plugin asks a plugin to end.
	shutdownMethod = "/plugin.GRPCController/Shutdown"
)

// Plugin is a loss in a process of its own.
type Plugin struct {
	ctx     context.Context
	options Options
	name    string
	path    string
	sha256  string
	folder  string
	process *process.Process
	started bool
	conn    *grpc.ClientConn
	rpc     protocol.LossClient

	description Description
	params      map[string]any
	offer       *protocol.ConfigureResponse
	loss        framework.Loss
	segments    segment.Pool
	coalescer   *gather.Gatherer[kind]
	turns       chan struct{} // holds one for every call under way

	attributing sync.Mutex // held from the failure of a call to the end of the plugin
	mu          sync.Mutex
	failure     error // why all further calls fail
	pending     error // of a call that could not return one
	closed      sync.Once

	revive sync.Once              // before next is set
	next   atomic.Pointer[Plugin] // in place of this one, which has ended
	again  bool                   // this one is in the place of another
}

// Loss returns the loss. It implements the optional interfaces of package
// framework that the plugin declares, and rowloss.Parametric and
// rowloss.Identified. It may be used from several goroutines until Close.
func (p *Plugin) Loss() framework.Loss { return p.loss }

// Description returns what the plugin says about itself.
func (p *Plugin) Description() Description { return p.description }

// NonConvex reports whether the loss makes no promise to be convex.
func (p *Plugin) NonConvex() bool { return p.offer.NonConvex }

// Close ends the plugin: it is asked to, and killed if it does not within a
// second. Nothing of it is left. Further calls of the loss fail.
func (p *Plugin) Close() error {
	p.closed.Do(func() {
		p.revive.Do(func() {}) // no more
		if next := p.next.Load(); next != nil {
			defer next.Close()
		}
		p.fail(&Error{p.name, "evaluate", ErrClosed, "", ""})
		if p.conn != nil {
			p.shutdown()
		}
		p.kill()
		if p.conn != nil {
			p.conn.Close()
		}
		p.segments.Close()
		if p.folder != "" {
			os.RemoveAll(p.folder)
		}
	})
	return nil
}

// shutdown asks the plugin to end and waits for that.
func (p *Plugin) shutdown() {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if p.conn.Invoke(ctx, shutdownMethod, &emptypb.Empty{}, &emptypb.Empty{}) == nil {
		p.endsSoon()
	}
}

// kill ends the process group and waits until nothing of it is left.
func (p *Plugin) kill() {
	if p.started {
		p.process.Kill(context.Background())
	}
}

// endsSoon reports whether the process ends by itself.
func (p *Plugin) endsSoon() bool { return p.endsWithin(endTime) }

func (p *Plugin) endsWithin(d time.Duration) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-p.process.Ended():
		return true
	case <-limit.C:
		return false
	}
}
