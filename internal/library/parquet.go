package library

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"herbarium/internal/background"
	"herbarium/internal/export/parquet"
	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// parquetLayout names what the bytes of a Parquet file depend on, beside the records: the types
// follow from the index.
func parquetLayout(exact bool) string {
	layout := fmt.Sprintf("%s-p%d", segment.CurrentIndex(), parquet.Layout)
	if exact {
		layout += "-text"
	}
	return layout
}

// ParquetName returns the name of the Parquet file of a version that this program builds. exact
// means that all values are texts as written.
func ParquetName(version string, exact bool) string {
	return store.ParquetFile(version, parquetLayout(exact))
}

// OpenParquet opens the Parquet file of a version, which the caller closes; see OpenDerived.
func (l *derivedFiles) OpenParquet(ctx context.Context, v View, exact bool) (*os.File, error) {
	if v.Reader == nil {
		return nil, herb.Invalidf("%s changes with every write and has no Parquet file; download data.csv", v.Ref)
	}
	return l.OpenDerived(ctx, l.parquetFile(v, exact))
}

// BuildParquet builds the Parquet file of a version and stores it for others. The version need not
// be in the catalogue.
func (l *derivedFiles) BuildParquet(ctx context.Context, v View) error {
	d := l.parquetFile(v, false)
	return l.BuildDerived(ctx, d, background.NewTask(d.What))
}

// parquetFile describes the Parquet file of a version.
func (l *derivedFiles) parquetFile(v View, exact bool) Derived {
	return Derived{
		Name: ParquetName(v.Version, exact), What: "building the Parquet file of " + v.Ref.String(),
		Versions: []View{v}, Total: int64(v.Records),
		Size: int64(v.Reader.Size()) / 2, // most files are smaller
		Write: func(ctx context.Context, t *background.Task, file io.Writer) error {
			return l.writeParquet(ctx, v, exact, t, file)
		},
	}
}

// writeParquet writes a Parquet file.
func (l *derivedFiles) writeParquet(ctx context.Context, v View, exact bool, t *background.Task,
	file io.Writer) (err error) {
	scratch, err := filesystem.TempFile(l.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	types, err := v.Types()
	if err != nil {
		return err
	}
	sorted, err := v.Reader.SortedField(types)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	w, err := parquet.NewWriter(buffered, parquet.Options{
		Fields: v.Fields, Types: types, Exact: exact, Sorted: sorted, Scratch: scratch,
		Metadata: [][2]string{{"herbarium.dataset", v.Ref.String()}, {"herbarium.version", v.Version}},
	})
	if err != nil {
		return err
	}
	if err := addRecords(ctx, w, v, t); err != nil {
		return err
	}
	query.Idle(ctx)
	return errors.Join(w.Close(), buffered.Flush())
}

// addRecords adds all records of a version to a file.
func addRecords(ctx context.Context, w *parquet.Writer, v View, t *background.Task) error {
	const reportEvery = 1024
	written := int64(0)
	decoder := herb.NewRecordDecoder(v.Fields)
	return v.Reader.Each(ctx, func(record []byte) error {
		field, failed := 0, error(nil)
		err := decoder.Decode(record, func(value []byte) {
			if failed == nil {
				failed = w.Add(field, value)
			}
			field++
		})
		err = errors.Join(err, failed)
		if err != nil {
			return err
		}
		written++
		if written%reportEvery == 0 {
			t.SetDone(written)
		}
		return w.EndRecord()
	})
}
