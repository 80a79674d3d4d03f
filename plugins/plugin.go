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

// endTime is the maximum time in which a process must end after its connection has
// failed, or after it was asked to end. Tests shorten it.
var endTime = time.Second

const (
	// shutdownTime is the timeout of the call that asks a plugin to end.
	shutdownTime = 500 * time.Millisecond
	// shutdownMethod is the gRPC method with which go-plugin asks a plugin to end.
	shutdownMethod = "/plugin.GRPCController/Shutdown"
)

// Plugin is a loss that runs in its own process.
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
	turns       chan struct{} // holds one value for each call in progress

	attributing sync.Mutex // held from the failure of a call until the plugin has ended
	mu          sync.Mutex
	failure     error // the error that all further calls return
	pending     error // error of a call that could not return it
	closed      sync.Once

	revive sync.Once              // before next is set
	next   atomic.Pointer[Plugin] // the plugin that replaces this one after it has ended
	again  bool                   // true if this plugin replaces another one
}

// Loss returns the loss. It implements the interfaces of package framework that the
// plugin declares, and rowloss.Parametric and rowloss.Identified. Several goroutines
// may use it until Close is called.
func (p *Plugin) Loss() framework.Loss { return p.loss }

// Description returns the plugin's description of its loss.
func (p *Plugin) Description() Description { return p.description }

// NonConvex reports whether the loss may be non-convex.
func (p *Plugin) NonConvex() bool { return p.offer.NonConvex }

// Close asks the plugin to end and kills it if it has not ended within a second. It
// removes all files of the plugin. Further calls of the loss fail.
func (p *Plugin) Close() error {
	p.closed.Do(func() {
		p.revive.Do(func() {}) // prevents a restart from now on
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

// shutdown asks the plugin to end and waits until it has ended.
func (p *Plugin) shutdown() {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if p.conn.Invoke(ctx, shutdownMethod, &emptypb.Empty{}, &emptypb.Empty{}) == nil {
		p.endsSoon()
	}
}

// kill kills the processes of the plugin and waits until they and their files are gone.
func (p *Plugin) kill() {
	if p.started {
		p.process.Kill(context.Background())
	}
}

// endsSoon reports whether the process ends by itself within endTime.
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
