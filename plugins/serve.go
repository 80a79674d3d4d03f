package plugins

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/plugins/internal/frame"
	"github.com/scqm/scqm/plugins/protocol"
)

// watchInterval is the interval at which a plugin checks whether its host is still running.
const watchInterval = 200 * time.Millisecond

// Serve serves a loss to the host, the program that started this one. It returns when
// the host asks for the end, and ends the process if the host has ended. main should
// only call Serve. [Radial] and [Separable] make losses from functions of one number.
//
// If the loss, or its form, is a pointer to a struct, its exported fields of type float64,
// int, bool and string are its parameters. The values of the fields are the
// defaults. Struct tags give further properties:
//
//	C float64 `json:"c" doc:"norm of a full outlier" above:"0"`
//
// json gives the name, doc the meaning; min, max, above and below are bounds,
// the last two exclusive. Serve copies the loss, sets the parameters
// that the user chose in the copy, and calls its Validate method if it has one.
//
// The plugin offers the optional interfaces of package framework that the loss
// implements, except Quadratic. What the program prints goes to its host's log.
func Serve(l framework.Loss) {
	s, err := newService(l)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	framed, err := withFrames(s)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	serve(framed)
}

func serve(s protocol.LossServer) {
	go watchHost()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  goplugin.HandshakeConfig{MagicCookieKey: cookieKey, MagicCookieValue: cookieValue},
		VersionedPlugins: map[int]goplugin.PluginSet{protocolVersion: {pluginKind: served{service: s}}},
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(o,
				grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
				grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window),
				grpc.ReadBufferSize(buffer), grpc.WriteBufferSize(buffer))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr, JSONFormat: true}),
	})
}

// watchHost ends the process when its original parent process has ended. SCQM ends
// plugins itself; other hosts may not.
func watchHost() {
	for parent := os.Getppid(); parent > 1 && os.Getppid() == parent; {
		time.Sleep(watchInterval)
	}
	os.Exit(1)
}

// framed is a service that also answers Evaluate calls sent as frames.
type framed struct {
	protocol.LossServer
	path string // path of the socket
}

// withFrames opens a socket for frames in addition to that of gRPC. Another host may
// provide no folder for it; then only gRPC is used.
func withFrames(s protocol.LossServer) (protocol.LossServer, error) {
	folder := os.Getenv(socketFolderKey)
	if folder == "" {
		return s, nil
	}
	f := &framed{s, filepath.Join(folder, "frame.sock")}
	if err := frame.Listen(f.path, s.Evaluate); err != nil {
		return nil, fmt.Errorf("plugins: serve: %w", err)
	}
	return f, nil
}

// Configure adds the path of the socket for frames to the response.
func (f *framed) Configure(ctx context.Context, request *protocol.ConfigureRequest) (*protocol.ConfigureResponse, error) {
	reply, err := f.LossServer.Configure(ctx, request)
	if err == nil {
		reply.FrameSocket = f.path
	}
	return reply, err
}
