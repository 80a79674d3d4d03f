package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"sync"
	"time"
	"unicode"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/gather"
	"github.com/scqm/scqm/plugins/internal/protocol"
)

const (
	// maxTextBytes bounds the texts of a description.
	maxTextBytes = 1000
	// endTime is how long a process may take to end after its connection has
	// broken, and after it was asked to end.
	endTime = time.Second
	// shutdownTime bounds the request to end.
	shutdownTime = 500 * time.Millisecond
	// clockSlack is how much before the deadline the plugin, which is told it,
	// may see it pass.
	clockSlack = 100 * time.Millisecond
	// shutdownMethod is the call with which go-plugin asks a plugin to end.
	shutdownMethod = "/plugin.GRPCController/Shutdown"
)

// lossName is what losses can be called.
var lossName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func isControl(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }

// Plugin is a loss in a process of its own.
type Plugin struct {
	ctx     context.Context
	options Options
	name    string
	sha256  string
	folder  string
	process *process
	started bool
	conn    *grpc.ClientConn
	rpc     protocol.LossClient

	description Description
	params      map[string]any
	offer       *protocol.ConfigureResponse
	loss        framework.Loss
	lanes       lanes
	joint       *gather.Gatherer[kind]
	turns       chan struct{} // holds one for every call under way

	blaming sync.Mutex // held from the failure of a call to the end of the plugin
	mu      sync.Mutex
	failure error // why all further calls fail
	pending error // of a call that could not return one
	closed  sync.Once
}

// Loss returns the loss. It implements the optional interfaces of package
// framework that the plugin declares, and framework.Parametric and
// framework.Identified. It may be used from several goroutines until Close.
func (p *Plugin) Loss() framework.Loss { return p.loss }

// Description returns what the plugin says about itself.
func (p *Plugin) Description() Description { return p.description }

// NonConvex reports whether the loss makes no promise to be convex.
func (p *Plugin) NonConvex() bool { return p.offer.NonConvex }

// SharedMemory reports whether large arrays travel through shared memory.
func (p *Plugin) SharedMemory() bool { return p.lanes.usable() }

// Close ends the plugin: it is asked to, and killed if it does not within a
// second. Nothing of it is left. Further calls of the loss fail.
func (p *Plugin) Close() error {
	p.closed.Do(func() {
		p.fail(&Error{p.name, "evaluate", ErrClosed, "", ""})
		if p.conn != nil {
			p.shutdown()
		}
		p.kill()
		if p.conn != nil {
			p.conn.Close()
		}
		p.lanes.close()
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
	case <-p.process.ended:
		return true
	case <-limit.C:
		return false
	}
}

// configure sends the parameters and notes what the loss offers with them.
func (p *Plugin) configure(ctx context.Context) error {
	params, err := p.description.Schema.complete(p.options.Params)
	if err != nil {
		return &Error{p.name, "configure", ErrParams, err.Error(), ""}
	}
	text, err := json.Marshal(params)
	if err != nil || len(text) > maxSchemaBytes {
		return &Error{p.name, "configure", ErrParams, fmt.Sprintf("the parameters take more than %d bytes", maxSchemaBytes), ""}
	}
	p.params = params
	p.offer, err = p.rpc.Configure(ctx, &protocol.ConfigureRequest{Parameters: string(text)})
	if status.Code(err) == codes.InvalidArgument {
		return &Error{p.name, "configure", ErrParams, quote(status.Convert(err).Message()), ""}
	}
	if err != nil {
		return p.callError(ctx, "configure", p.options.StartTimeout, err)
	}
	if p.offer.Dim > maxDim || p.offer.Dim > 0 && p.offer.Structure != protocol.Structure_STRUCTURE_BLACK_BOX {
		return p.wrong("configure", fmt.Errorf("rows of length %d do not fit a loss with structure %v", p.offer.Dim, p.offer.Structure))
	}
	if err := p.process.checkLine(p.offer.Line); err != nil {
		return p.wrong("configure", err)
	}
	p.joint = p.newJoint()
	p.turns = make(chan struct{}, max(underWay, runtime.GOMAXPROCS(0)))
	p.loss = p.compose(0)
	if p.loss == nil {
		return p.wrong("configure", fmt.Errorf("structure %d is not known", p.offer.Structure))
	}
	if p.options.NoSharedMemory {
		return nil
	}
	return p.lanes.enable(p)
}

// fail makes all further calls return the first failure, and returns it.
func (p *Plugin) fail(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure == nil {
		p.failure = err
	}
	return p.failure
}

// failed returns why no calls are possible any more, or the error of an earlier
// call that could not return it.
func (p *Plugin) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil {
		return p.failure
	}
	err := p.pending
	p.pending = nil
	return err
}

// postpone keeps an error for the next call.
func (p *Plugin) postpone(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending == nil {
		p.pending = err
	}
}

// wrong reports an answer that breaks the protocol and ends the plugin.
func (p *Plugin) wrong(act string, cause error) error {
	p.kill()
	return p.fail(&Error{p.name, act, ErrReply, cause.Error(), p.process.words.lastWords()})
}

// callError turns the error of a call into one that says what happened. Except
// where the plugin itself reports an error, it is ended.
func (p *Plugin) callError(ctx context.Context, act string, limit time.Duration, err error) error {
	if p.ctx.Err() != nil {
		return fmt.Errorf("plugins: %s: %s: %w", p.name, act, p.ctx.Err())
	}
	// One at a time: what other calls see is that this one kills the plugin.
	p.blaming.Lock()
	defer p.blaming.Unlock()
	if earlier := p.terminal(); earlier != nil {
		return earlier
	}
	e := &Error{Plugin: p.name, Act: act, Kind: ErrReply}
	s := status.Convert(err)
	switch s.Code() {
	case codes.DeadlineExceeded:
		e.Kind, e.Detail = ErrTimeout, fmt.Sprintf("no answer within %v; it was killed", limit)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) > clockSlack {
			e.Kind, e.Detail = ErrReply, "it reports a deadline that has not passed"
		}
	case codes.Unavailable, codes.Canceled:
		e.Detail = "its connection does not work: " + quote(s.Message())
		if p.endsSoon() {
			e.Kind, e.Detail = ErrCrashed, fmt.Sprintf("it ended (%v)", p.process.endState())
		}
	case codes.ResourceExhausted:
		e.Detail = "its answer is too long: " + quote(s.Message())
	case codes.Unimplemented, codes.Internal:
		e.Detail = "its answer cannot be read: " + quote(s.Message())
	default:
		e.Kind, e.Detail = ErrRefused, quote(s.Message())
		return e
	}
	p.kill()
	e.LastWords = p.process.words.lastWords()
	return p.fail(e)
}

// lastFailure is like failed, but leaves the error for the next call.
func (p *Plugin) lastFailure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil {
		return p.failure
	}
	return p.pending
}

// terminal returns why no calls are possible any more.
func (p *Plugin) terminal() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// drain takes what a plugin with go-plugin's server prints: these come over the
// connection, and a plugin would hang where nobody takes them.
// It ends with the connection.
func (p *Plugin) drain() {
	stream, err := p.conn.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true}, "/plugin.GRPCStdio/StreamStdio")
	if err != nil || stream.SendMsg(&emptypb.Empty{}) != nil || stream.CloseSend() != nil {
		return
	}
	for {
		var data emptypb.Empty
		if stream.RecvMsg(&data) != nil {
			return
		}
		p.process.words.Write(printed(data.ProtoReflect().GetUnknown()))
	}
}

// printed returns field 2, the text, of a message of that stream.
func printed(message []byte) []byte {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		message = message[n:]
		if number == 2 && kind == protowire.BytesType {
			text, _ := protowire.ConsumeBytes(message)
			return bytes.Clone(text)
		}
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return nil
		}
		message = message[n:]
	}
	return nil
}

// errNoSegment says that a plugin cannot map a segment; bytes do as well.
var errNoSegment = errors.New("the plugin cannot map shared memory")
