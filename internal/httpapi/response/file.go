package response

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// SendFile sends a file, or the ranges of it that the request asks for. The entity tag and the
// content type must be set. It evaluates the conditions of the request. The response is never
// compressed, because ranges are those of the file. There is no time limit as long as the client
// keeps reading.
func (w *Writer) SendFile(r *http.Request, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	w.deadline.stop()
	asked := r.Header.Get("Range")
	r = withoutEmptyRanges(r, info.Size())
	sender := &fileSender{ResponseWriter: w, control: http.NewResponseController(w), stall: w.shared.opts.Stall}
	http.ServeContent(sender, r, "", time.Time{}, io.NewSectionReader(file, 0, info.Size()))
	switch sender.rejected {
	case http.StatusPreconditionFailed:
		return herb.Errorf(herb.CodePrecondition, "If-Match does not hold: the entity tag of the file is %s",
			w.Header().Get("Etag"))
	case http.StatusRequestedRangeNotSatisfiable:
		return herb.Errorf(herb.CodeRange, "the range %q is not in the file, which has %d bytes", Shown(asked),
			info.Size())
	}
	return nil
}

// withoutEmptyRanges removes the ranges of the last 0 bytes from a request, which net/http takes
// for satisfiable. If there is no other one, the request asks for a range beyond the end of the
// file.
func withoutEmptyRanges(r *http.Request, size int64) *http.Request {
	unit, list, _ := strings.Cut(r.Header.Get("Range"), "=")
	all := strings.Split(list, ",")
	kept := slices.DeleteFunc(slices.Clone(all), func(spec string) bool {
		length, isSuffix := strings.CutPrefix(strings.TrimSpace(spec), "-")
		return isSuffix && length != "" && strings.Trim(length, "0") == ""
	})
	if len(kept) == len(all) {
		return r
	}
	if len(kept) == 0 {
		kept = []string{strconv.FormatInt(size, 10) + "-"}
	}
	r = r.Clone(r.Context())
	r.Header.Set("Range", unit+"="+strings.Join(kept, ","))
	return r
}

// fileSender sends a body in chunks, each of which the client must read in time, and suppresses the
// text of errors.
type fileSender struct {
	http.ResponseWriter
	control  *http.ResponseController
	stall    time.Duration
	rejected int // status of an error, whose text is not sent; 0: none
}

func (s *fileSender) WriteHeader(status int) {
	if status == http.StatusRequestedRangeNotSatisfiable || status == http.StatusPreconditionFailed {
		s.rejected = status
		return
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *fileSender) Write(p []byte) (int, error) {
	if s.rejected != 0 {
		return len(p), nil
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(s.stall)) // writers of tests do not support deadlines
	return s.ResponseWriter.Write(p)
}
