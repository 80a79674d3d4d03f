package plugins

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/scqm/scqm/plugins/protocol"
)

// connect prepares the connection, which is established by the first call. It does not
// use go-plugin's own client, because that opens further streams without a deadline.
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

// drain reads and discards the output that a plugin with go-plugin's server sends over the connection
// before it is described. If nobody read it, the plugin would hang. drain ends with the connection.
func (p *Plugin) drain() {
	stream, err := p.conn.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true}, "/plugin.GRPCStdio/StreamStdio")
	if err != nil || stream.SendMsg(&emptypb.Empty{}) != nil || stream.CloseSend() != nil {
		return
	}
	for stream.RecvMsg(&emptypb.Empty{}) == nil {
	}
}
