package build

import (
	"context"
	"encoding/binary"
	"io"
)

// postingsRuns stores the postings of numbered names in spill files. Each file has the postings of one range of records: for
// each name with any, its number, the size of the postings, and the postings.
type postingsRuns struct {
	tmp   *tempDir
	files []*spillFile
	head  []byte // buffer
}

// begin begins the next range of records.
func (r *postingsRuns) begin() { r.files = append(r.files, r.tmp.newSpillFile()) }

// add adds the postings of a name in the current range. Names must be added in order.
func (r *postingsRuns) add(id int, postings []byte) error {
	out := r.files[len(r.files)-1]
	r.head = binary.AppendUvarint(r.head[:0], uint64(id))
	r.head = binary.AppendUvarint(r.head, uint64(len(postings)))
	if _, err := out.Write(r.head); err != nil {
		return err
	}
	_, err := out.Write(postings)
	return err
}

// merge calls part for the postings of each of n names in every range, in order, and end after the last range of a name.
// The bytes are only valid until part returns. It removes the files.
func (r *postingsRuns) merge(ctx context.Context, n int, part func(id int, postings []byte) error, end func() error) error {
	runs := make([]*postingsRun, len(r.files))
	for i, s := range r.files {
		in, err := s.reader()
		if err != nil {
			return err
		}
		runs[i] = &postingsRun{r: in}
		if err := runs[i].next(); err != nil {
			return err
		}
	}
	for id := range n {
		if id%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, run := range runs {
			if run.done || run.id != uint64(id) {
				continue
			}
			if err := part(id, run.postings); err != nil {
				return err
			}
			if err := run.next(); err != nil {
				return err
			}
		}
		if err := end(); err != nil {
			return err
		}
	}
	for _, s := range r.files {
		if err := s.remove(); err != nil {
			return err
		}
	}
	return nil
}

// postingsRun reads the postings of one range of records.
type postingsRun struct {
	r        *spillReader
	id       uint64
	postings []byte // only valid until next
	done     bool
}

func (r *postingsRun) next() (err error) {
	if r.id, err = r.r.uvarint(); err == io.EOF {
		r.done = true
		return nil
	}
	if err != nil {
		return err
	}
	size, err := r.r.uvarint()
	if err != nil {
		return err
	}
	r.postings, err = r.r.next(int(size))
	return err
}
