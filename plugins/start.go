package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scqm/scqm/internal/quote"
	"github.com/scqm/scqm/plugins/internal/executable"
	"github.com/scqm/scqm/plugins/internal/process"
	"github.com/scqm/scqm/plugins/protocol"
)

// start starts the plugin process and configures the loss. If start fails, Close
// removes what is left.
func (p *Plugin) start(file *executable.File) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.options.StartTimeout)
	defer cancel()
	folder, err := newFolder()
	if err != nil {
		return &Error{p.name, "start", ErrStart, err.Error(), ""}
	}
	p.folder = folder
	p.process = process.New(file, folder)
	address, err := p.handshake(ctx)
	if err != nil {
		return err
	}
	if err := p.connect(address); err != nil {
		return &Error{p.name, "start", ErrHandshake, err.Error(), ""}
	}
	if err := p.describe(ctx); err != nil {
		return err
	}
	return p.configure(ctx)
}

// newFolder creates the directory of the socket, which other users cannot enter. On Linux it is
// in /dev/shm: the path is short enough for a socket, and a reboot removes it.
func newFolder() (string, error) {
	parent := ""
	if runtime.GOOS == "linux" {
		parent = "/dev/shm"
	}
	pattern := fmt.Sprintf("scqm-plugin-%d-", os.Getpid())
	folder, err := os.MkdirTemp(parent, pattern)
	if err != nil && parent != "" {
		folder, err = os.MkdirTemp("", pattern)
	}
	return folder, err
}

// handshake starts the process and returns the address on which it listens.
func (p *Plugin) handshake(ctx context.Context) (net.Addr, error) {
	deadline, _ := ctx.Deadline()
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  goplugin.HandshakeConfig{MagicCookieKey: cookieKey, MagicCookieValue: cookieValue},
		VersionedPlugins: map[int]goplugin.PluginSet{protocolVersion: {pluginKind: served{}}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		RunnerFunc:       p.newRunner,
		SkipHostEnv:      true,
		StartTimeout:     time.Until(deadline) + time.Second, // the context of the start kills the process earlier
		Logger:           newLogger(p.options.Logger),
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: p.folder},
	})
	stop := context.AfterFunc(ctx, p.process.End)
	defer stop()
	address, err := client.Start()
	p.started = p.process.ID() != ""
	if err != nil {
		return nil, p.startError(ctx, err)
	}
	return address, nil
}

// newRunner returns the process of the plugin. go-plugin requires this signature.
func (p *Plugin) newRunner(_ hclog.Logger, cmd *exec.Cmd, socketFolder string) (runner.Runner, error) {
	cmd.Args = append([]string{p.process.Name()}, p.options.Args...)
	cmd.Env = append(append(environment(), p.options.Env...), cmd.Env...)
	return p.process, p.process.Configure(cmd, socketFolder, p.options.Log)
}

// startError determines the cause of a failed start. The process has already ended when
// go-plugin returns its error.
func (p *Plugin) startError(ctx context.Context, err error) error {
	e := &Error{Plugin: p.name, Act: "start", Kind: ErrHandshake, Detail: quote.Text(firstOf(err.Error()))}
	switch {
	case p.ctx.Err() != nil:
		return fmt.Errorf("plugins: %s: start: %w", p.name, p.ctx.Err())
	case !p.started:
		e.Kind, e.Detail = ErrStart, err.Error()
		return e
	case strings.Contains(err.Error(), "incompatible API version"), strings.Contains(err.Error(), "incompatible core API"):
		e.Kind = ErrVersion
		e.Detail = fmt.Sprintf("it speaks another version of the protocol than %d; rebuild it with the SDK of this version of scqm", protocolVersion)
	case ctx.Err() != nil:
		e.Kind, e.Detail = ErrTimeout, fmt.Sprintf("it did not say within %v where it listens; was it made with plugins.Serve or scqm.plugin.serve?", p.options.StartTimeout)
	case p.process.EndedAlone():
		e.Kind = ErrStart
		e.Detail = fmt.Sprintf("it ended (%v) before it said where it listens", p.process.EndState())
		if p.process.LastWords() == "" {
			e.Detail += "; is it a plugin?"
		}
	default:
		e.Detail = "its first line is not that of a plugin: " + e.Detail
	}
	e.LastWords = p.process.LastWords()
	return e
}

// firstOf returns the first line of a go-plugin message without its standard prefix.
func firstOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(line, "Unrecognized remote plugin message: ")
}

// describe requests the description of the loss and checks it.
func (p *Plugin) describe(ctx context.Context) error {
	reply, err := p.rpc.Describe(ctx, &protocol.DescribeRequest{}, grpc.MaxCallRecvMsgSize(2*maxSchemaBytes))
	if err != nil {
		return p.callError(ctx, "describe", p.options.StartTimeout, err)
	}
	d := Description{Name: reply.Name, Version: reply.Version, Summary: reply.Summary, Formula: reply.Formula}
	if err := d.check(); err != nil {
		return p.wrong("describe", err)
	}
	p.name = d.Name
	if d.Schema, err = parseSchema(reply.Schema); err != nil {
		return p.wrong("describe", err)
	}
	p.description = d
	return nil
}

// configure sends the parameters and stores which interfaces the loss then offers.
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
		return &Error{p.name, "configure", ErrParams, quote.Text(status.Convert(err).Message()), ""}
	}
	if err != nil {
		return p.callError(ctx, "configure", p.options.StartTimeout, err)
	}
	if p.offer.Dim > maxDim || p.offer.Dim > 0 && p.offer.Structure != protocol.Structure_STRUCTURE_BLACK_BOX {
		return p.wrong("configure", fmt.Errorf("rows of length %d do not fit a loss with structure %v", p.offer.Dim, p.offer.Structure))
	}
	if err := p.checkFrameSocket(); err != nil {
		return p.wrong("configure", err)
	}
	p.coalescer = p.newCoalescer()
	p.turns = make(chan struct{}, max(underWay, runtime.GOMAXPROCS(0)))
	p.loss = p.compose(0)
	if p.loss == nil {
		return p.wrong("configure", fmt.Errorf("structure %d is not known", p.offer.Structure))
	}
	if p.options.NoSharedMemory {
		return nil
	}
	return p.segments.Enable(peer{p})
}
