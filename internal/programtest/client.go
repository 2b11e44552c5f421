package programtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Response is a response of a server, read completely.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Send sends a request with headers, given as names and values.
func Send(ctx context.Context, client *http.Client, method, url, body string, headers ...string) (Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return Response{}, err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	return Response{resp.StatusCode, resp.Header, string(content)}, err
}

// Buffer is a buffer that one goroutine reads while others write it.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
