package plugins

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/plugins/internal/protocol"
)

// watchInterval is how often a plugin looks whether its host is still there.
const watchInterval = 200 * time.Millisecond

// Document is what users read about a loss.
type Document struct {
	// Version is the version of the plugin.
	Version string
	// Summary says in a line when to use the loss, Formula what it is.
	Summary, Formula string
	// NonConvex says that the loss makes no promise to be convex.
	NonConvex bool
	// Concave says of a [RadialForm] that rho(u) is concave, and of a
	// [SeparableForm] that phi is as a function of r^2. Their derivatives then
	// give weights, with which solvers are faster.
	Concave bool
}

// Documented is a loss that describes itself.
type Documented interface {
	// Document describes the loss.
	Document() Document
}

// Validator is a loss that can refuse its parameters.
type Validator interface {
	// Validate returns what is wrong with the parameters.
	Validate() error
}

// Serve serves a loss to the program that started this one. It returns when
// that program asks for it and ends the process when that program is gone; main
// calls it and nothing else. [Radial] and [Separable] make losses of functions
// of one number.
//
// If the loss, or its form, is a pointer to a struct, its exported fields of type float64,
// int, bool and string are its parameters, and their values the defaults. Tags
// say more:
//
//	C float64 `json:"c" doc:"norm of a full outlier" above:"0"`
//
// json gives the name, doc the meaning; min, max, above and below are bounds,
// the last two exclusive. Before it is used, a copy of the loss gets the
// parameters that the user chose, and its Validate method is asked, if it has
// one.
//
// The plugin offers the optional interfaces of package framework that the loss
// implements, except Quadratic. What the program prints goes to its host's log.
func Serve(l framework.Loss) {
	s, err := newService(l)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	served, err := withLine(s)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	serve(served)
}

func serve(s protocol.LossServer) {
	go watchHost()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  goplugin.HandshakeConfig{MagicCookieKey: cookieKey, MagicCookieValue: cookieValue},
		VersionedPlugins: map[int]goplugin.PluginSet{protocolVersion: {pluginKind: served{service: s}}},
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(o,
				grpc.MaxRecvMsgSize(mostMessage), grpc.MaxSendMsgSize(mostMessage),
				grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window),
				grpc.ReadBufferSize(buffer), grpc.WriteBufferSize(buffer))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr, JSONFormat: true}),
	})
}

// watchHost ends the process when its parent is not the one that started it any
// more. SCQM takes care of that itself; other hosts may not.
func watchHost() {
	for parent := os.Getppid(); parent > 1 && os.Getppid() == parent; {
		time.Sleep(watchInterval)
	}
	os.Exit(1)
}

// served registers the service with go-plugin.
type served struct {
	goplugin.NetRPCUnsupportedPlugin
	service protocol.LossServer
}

// GRPCServer registers the service.
func (s served) GRPCServer(_ *goplugin.GRPCBroker, to *grpc.Server) error {
	protocol.RegisterLossServer(to, s.service)
	return nil
}

// GRPCClient gives the client of the service.
func (served) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return protocol.NewLossClient(conn), nil
}
