package frame

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/scqm/scqm/plugins/protocol"
)

// Evaluate is the type of a function that handles a request. Its errors are gRPC statuses.
type Evaluate = func(context.Context, *protocol.EvaluateRequest) (*protocol.EvaluateResponse, error)

// Listen creates a socket at path and serves every connection to it until the process
// ends.
func Listen(path string, evaluate Evaluate) error {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn, evaluate)
		}
	}()
	return nil
}

// serve answers the calls on one connection until the connection ends.
func serve(conn net.Conn, evaluate Evaluate) {
	defer conn.Close()
	buffer := make([]byte, firstBuffer)
	for {
		request, err := readRequest(conn, &buffer)
		if err != nil {
			return // the host has closed the connection, or is not a valid host
		}
		reply, failure := evaluate(context.Background(), request)
		if writeReply(conn, &buffer, reply, failure) != nil {
			return
		}
	}
}

// readRequest reads one frame. The host sends the next request only after it has received the reply.
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
