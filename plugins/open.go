package plugins

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/scqm/scqm/plugins/internal/guard"
	"github.com/scqm/scqm/plugins/internal/protocol"
)

// Defaults of [Options].
const (
	DefaultStartTimeout = 10 * time.Second
	DefaultCallTimeout  = 30 * time.Second
)

// The handshake. The cookie says that a program was started as a plugin; it is
// no secret.
const (
	protocolVersion = 1
	cookieKey       = "SCQM_PLUGIN_COOKIE"
	cookieValue     = "loss"
	tokenKey        = "SCQM_PLUGIN_TOKEN"
	socketFolderKey = "PLUGIN_UNIX_SOCKET_DIR"
	pluginKind      = "loss" // in the terms of go-plugin
)

// AnySHA256 as a checksum takes any file.
const AnySHA256 = "any"

// passed names the environment variables that a plugin gets from this process:
// where to find interpreters and temporary folders, and the language.
var passed = []string{"HOME", "LANG", "LC_ALL", "OMP_NUM_THREADS", "TMPDIR", "TZ", "VIRTUAL_ENV"}

// passedLists names those that are lists of folders. Entries that depend on the
// working directory are left out.
var passedLists = []string{"LD_LIBRARY_PATH", "PATH", "PYTHONPATH"}

// safePath keeps Python from importing what lies beside a script.
const safePath = "PYTHONSAFEPATH=1"

const (
	// window is the flow control window of the connection: a batch without
	// shared memory travels without waiting for acknowledgements.
	window = 64 << 20
	// buffer is the size of reads and writes on it.
	buffer = 1 << 20
)

// Options say how a plugin is started. The zero value is usable.
type Options struct {
	// Params are the parameters of the loss by name. Text is read as a number
	// or truth value where the plugin asks for one. Parameters that are left
	// out have the plugin's defaults.
	Params map[string]any
	// SHA256 is the checksum that the file must have, in hexadecimal digits;
	// "" and [AnySHA256] take any. It is that of the one file, not of what a
	// script imports, its interpreter, or libraries.
	SHA256 string
	// StartTimeout bounds the time until the plugin is configured. Zero stands
	// for 10 s.
	StartTimeout time.Duration
	// CallTimeout bounds the time for scoring up to 1 MiB of residuals, or a
	// row where that is longer. Zero stands for 30 s.
	CallTimeout time.Duration
	// NoSharedMemory sends all arrays through the connection.
	NoSharedMemory bool
	// Args are the arguments of the program.
	Args []string
	// Env are further environment variables, as KEY=value.
	Env []string
	// Log receives what the plugin writes to its standard error; nil drops it.
	// The end of it is kept for errors in any case.
	Log io.Writer
}

// Description is what a plugin says about its loss.
type Description struct {
	// Name is the name of the loss, Version that of the plugin.
	Name, Version string
	// Summary says when to use the loss, Formula what it is.
	Summary, Formula string
	// Schema describes the parameters.
	Schema Schema
}

// Open starts a plugin and configures its loss. The plugin is a path or a name
// for [Find]. When ctx is done, the start and all calls end with its error;
// Close is needed in any case.
func Open(ctx context.Context, nameOrPath string, o Options) (*Plugin, error) {
	path, err := Find(nameOrPath)
	if err != nil {
		return nil, err
	}
	program, err := openProgram(path, o.SHA256)
	if err != nil {
		return nil, err
	}
	p := &Plugin{ctx: ctx, options: o.withDefaults(), name: nameOrPath, sha256: program.sha256}
	err = p.start(program)
	program.file.Close()
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// SetGuard names the program that ends plugins with everything that they have
// started, on Linux. Go programs need not call it: they are that program
// themselves. A library in a program of another language brings the command
// plugins/internal/guard/cmd along; where it cannot be started, a shell does
// what it can.
func SetGuard(path string) { guard.SetExecutable(path) }

func (o Options) withDefaults() Options {
	o.StartTimeout = cmp.Or(o.StartTimeout, DefaultStartTimeout)
	o.CallTimeout = cmp.Or(o.CallTimeout, DefaultCallTimeout)
	return o
}

// start brings the plugin up. What it leaves behind where it fails is cleared
// by Close.
func (p *Plugin) start(program *program) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.options.StartTimeout)
	defer cancel()
	folder, err := newFolder()
	if err != nil {
		return &Error{p.name, "start", ErrStart, err.Error(), ""}
	}
	p.folder = folder
	p.process = &process{
		program: program, root: folder, token: token(), words: &tail{}, ended: make(chan struct{}),
	}
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

// token is what a plugin and its offspring are known by.
func token() string { return tokenKey + "=" + rand.Text() }

// newFolder makes the folder of the socket, closed to other users. In memory,
// paths are short, and nothing outlives the machine.
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

// handshake starts the process and returns where it listens.
func (p *Plugin) handshake(ctx context.Context) (net.Addr, error) {
	deadline, _ := ctx.Deadline()
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  goplugin.HandshakeConfig{MagicCookieKey: cookieKey, MagicCookieValue: cookieValue},
		VersionedPlugins: map[int]goplugin.PluginSet{protocolVersion: {pluginKind: served{}}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		RunnerFunc:       p.newRunner,
		SkipHostEnv:      true,
		StartTimeout:     time.Until(deadline) + time.Second, // ctx kills the process first
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard}),
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: p.folder},
	})
	stop := context.AfterFunc(ctx, p.process.end)
	defer stop()
	address, err := client.Start()
	p.started = p.process.ID() != ""
	if err != nil {
		return nil, p.startError(ctx, err)
	}
	return address, nil
}

// newRunner has the form that go-plugin wants.
func (p *Plugin) newRunner(_ hclog.Logger, cmd *exec.Cmd, socketFolder string) (runner.Runner, error) {
	cmd.Args = append([]string{p.process.program.path}, p.options.Args...)
	cmd.Env = append(append(append(environment(), p.options.Env...), cmd.Env...), p.process.token)
	for _, text := range append(cmd.Args, cmd.Env...) {
		if strings.ContainsRune(text, 0) {
			return nil, fmt.Errorf("%s holds a NUL, which arguments and environment cannot", quote(text))
		}
	}
	p.process.cmd = cmd
	p.process.folder = socketFolder
	p.process.log = p.options.Log
	return p.process, nil
}

// environment is what a plugin gets of that of this process.
func environment() []string {
	env := []string{safePath}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range passedLists {
		if list := absoluteEntries(os.Getenv(name)); list != "" {
			env = append(env, name+"="+list)
		}
	}
	return env
}

// absoluteEntries returns the entries of a list of folders such as $PATH that
// name a place by themselves.
func absoluteEntries(list string) string {
	kept := slices.DeleteFunc(filepath.SplitList(list), func(entry string) bool { return !filepath.IsAbs(entry) })
	return strings.Join(kept, string(filepath.ListSeparator))
}

// startError tells the ways a start can fail from each other. Nothing of the
// process is left when go-plugin returns its error.
func (p *Plugin) startError(ctx context.Context, err error) error {
	e := &Error{Plugin: p.name, Act: "start", Kind: ErrHandshake, Detail: quote(firstOf(err.Error()))}
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
	case p.process.endedAlone():
		e.Kind = ErrStart
		e.Detail = fmt.Sprintf("it ended (%v) before it said where it listens", p.process.endState())
		if p.process.words.lastWords() == "" {
			e.Detail += "; is it a plugin?"
		}
	default:
		e.Detail = "its first line is not that of a plugin: " + e.Detail
	}
	e.LastWords = p.process.words.lastWords()
	return e
}

// firstOf returns the first line of a message of go-plugin without its preface.
func firstOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(line, "Unrecognized remote plugin message: ")
}

// connect prepares the connection; it comes about with the first call.
// go-plugin's own client would open further streams without a deadline.
func (p *Plugin) connect(address net.Addr) (err error) {
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, address.Network(), address.String())
	}
	p.conn, err = grpc.NewClient("passthrough:///plugin",
		grpc.WithContextDialer(dial),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window),
		grpc.WithReadBufferSize(buffer), grpc.WithWriteBufferSize(buffer),
		grpc.WithDisableServiceConfig(), grpc.WithDisableRetry())
	if err != nil {
		return err
	}
	p.rpc = protocol.NewLossClient(p.conn)
	go p.drain()
	return nil
}

// describe asks what the plugin is.
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

func (d Description) check() error {
	if !lossName.MatchString(d.Name) {
		return fmt.Errorf("its name, %s, is not made of a lower case letter and up to 63 lower case letters, digits and _", quote(d.Name))
	}
	for _, text := range []string{d.Version, d.Summary, d.Formula} {
		if len(text) > maxTextBytes || strings.ContainsFunc(text, isControl) {
			return errors.New("its version, summary or formula is not one line of at most 1000 bytes")
		}
	}
	return nil
}
