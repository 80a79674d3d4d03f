package plugins

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/scqm/scqm/plugins/internal/protocol"
)

// lined is a service with a line.
type lined struct {
	protocol.LossServer
	path string
}

// withLine opens a line to a service. Hosts of other makers may give no folder
// for it; then there is none.
func withLine(s protocol.LossServer) (protocol.LossServer, error) {
	folder := os.Getenv(socketFolderKey)
	if folder == "" {
		return s, nil
	}
	l := &lined{s, filepath.Join(folder, "line.sock")}
	return l, listenAt(l.path, l.serve)
}

// listenAt hands every connection to a socket to a function.
func listenAt(path string, with func(net.Conn)) error {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("plugins: serve: %w", err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go with(conn)
		}
	}()
	return nil
}

// Configure adds where the line is.
func (l *lined) Configure(ctx context.Context, request *protocol.ConfigureRequest) (*protocol.ConfigureResponse, error) {
	reply, err := l.LossServer.Configure(ctx, request)
	if err == nil {
		reply.Line = l.path
	}
	return reply, err
}

// serve answers the calls of one connection until it ends.
func (l *lined) serve(conn net.Conn) {
	defer conn.Close()
	buffer := make([]byte, 512)
	for {
		request, err := readRequest(conn, &buffer)
		if err != nil {
			return // the host is gone, or not one
		}
		reply, failure := l.Evaluate(context.Background(), request)
		if writeReply(conn, &buffer, reply, failure) != nil {
			return
		}
	}
}

// readRequest reads a frame. The host sends no other before it has the reply.
func readRequest(from io.Reader, buffer *[]byte) (*protocol.EvaluateRequest, error) {
	n, err := io.ReadAtLeast(from, *buffer, requestHeader)
	if err != nil {
		return nil, err
	}
	end := requestHeader + int(binary.LittleEndian.Uint32(*buffer))
	if end > requestHeader+maxFrame || n > end {
		return nil, fmt.Errorf("a frame of %d bytes", end)
	}
	if end > len(*buffer) {
		*buffer = append(*buffer, make([]byte, end-len(*buffer))...)
	}
	if _, err := io.ReadFull(from, (*buffer)[n:end]); err != nil {
		return nil, err
	}
	request := &protocol.EvaluateRequest{}
	return request, proto.Unmarshal((*buffer)[requestHeader:end], request)
}

func writeReply(to io.Writer, buffer *[]byte, reply *protocol.EvaluateResponse, failure error) error {
	frame, s := (*buffer)[:replyHeader], status.Convert(failure)
	var err error
	if failure != nil {
		frame = append(frame, s.Message()[:min(len(s.Message()), maxFrame)]...)
	} else if frame, err = (proto.MarshalOptions{}).MarshalAppend(frame, reply); err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-replyHeader))
	binary.LittleEndian.PutUint32(frame[4:], uint32(s.Code()))
	_, err = to.Write(frame)
	return err
}
