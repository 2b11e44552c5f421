package build

import "encoding/binary"

// postingsRuns stores the postings of numbered names in spill files. Each file has the postings of
// one range of records: for each name with any, its number, the size of the postings, and the
// postings.
type postingsRuns struct {
	tmp   *tempDir
	files []*spillFile
	head  []byte // buffer
}

// begin begins the next range of records.
func (r *postingsRuns) begin() { r.files = append(r.files, r.tmp.newSpillFile()) }

// add adds the postings of a name in the current range. Names must be added in the order of their
// numbers.
func (r *postingsRuns) add(id int, postings []byte) {
	out := r.files[len(r.files)-1]
	r.head = binary.AppendUvarint(r.head[:0], uint64(id))
	r.head = binary.AppendUvarint(r.head, uint64(len(postings)))
	out.Write(r.head)
	out.Write(postings)
}

// merge calls add for the postings of each of n names in every range, in order, and end after the
// last range of a name. The bytes are only valid until add returns. It removes the files.
func (r *postingsRuns) merge(n int, add func(id int, postings []byte) error, end func(id int) error) error {
	runs := make([]*spillReader, len(r.files))
	ids := make([]int, len(runs)) // of the next name in each range
	next := func(i int) {
		ids[i] = n
		if runs[i].more(1) {
			ids[i] = int(runs[i].uvarint())
		}
	}
	for i, s := range r.files {
		runs[i] = s.reader()
		next(i)
	}
	for id := range n {
		if id%1024 == 0 && r.tmp.err() != nil {
			return r.tmp.err()
		}
		for i, run := range runs {
			if ids[i] != id {
				continue
			}
			postings, err := run.nextSized()
			if err != nil {
				return err
			}
			if err := add(id, postings); err != nil {
				return err
			}
			next(i)
		}
		if err := end(id); err != nil {
			return err
		}
	}
	for _, s := range r.files {
		if err := s.remove(); err != nil { // also that of a run that ended early
			return err
		}
	}
	return nil
}
