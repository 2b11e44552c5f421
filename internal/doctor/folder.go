package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Free space below which a publish is likely to fail, and below which writes are.
const (
	warnFree = 1 << 30
	failFree = 64 << 20
)

// noData says what to do if the data folder is another folder.
const noData = "set --data to the folder of the server; 'herbarium serve' and 'herbarium publish' create one"

// checkFolder checks that the data folder exists, is private and can be written.
func (d *doctor) checkFolder(context.Context) {
	folder := absolute(d.Config.Data)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.Config.Database != "":
		d.warn(folder+" does not exist; it is the cache of a node, which creates it", "set --data to the folder of the node")
		return
	case errors.Is(err, fs.ErrNotExist):
		d.fail(folder+" does not exist", noData)
		return
	case err != nil:
		d.fail(err.Error(), "check the permissions of the folders above it")
		return
	case !info.IsDir():
		d.fail(folder+" is not a folder", "set --data to the folder of the server")
		return
	}
	if exists, err := d.Config.HasData(); err != nil || !exists {
		d.fail(folder+" is not a data folder", noData)
		return
	}
	probe, err := os.CreateTemp(folder, "doctor-*.tmp")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		d.fail(fmt.Sprintf("cannot write to it: %v", err), "run the command as the user of the server, or fix owner and permissions")
		return
	}
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		d.warn(fmt.Sprintf("%s belongs to user %d and this command runs as %d: files that it creates may not be readable for the server", folder, uid, os.Geteuid()),
			"run commands as the user of the server")
		return
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && filepath.Separator == '/' { // other systems have no such permissions
		d.warn(fmt.Sprintf("%s has mode %04o: other users of the machine can access it", folder, mode), "chmod 700 "+folder)
		return
	}
	d.ok(folder + " exists, is private and can be written")
}

// checkSpace checks the free space of the disk of the data folder.
func (d *doctor) checkSpace(context.Context) {
	free, total, ok := diskSpace(d.Config.Data)
	if !ok {
		d.warn("the free space is unknown", "check it with the tools of the system")
		return
	}
	detail := fmt.Sprintf("%s of %s free", formatBytes(free), formatBytes(total))
	const remedy = "free space, or move the data folder to a larger disk"
	switch {
	case free < failFree:
		d.fail(detail+"; writes will fail", remedy)
	case free < warnFree:
		d.warn(detail+"; a publish needs several times the size of its file", remedy)
	default:
		d.ok(detail)
	}
}

// formatBytes formats a number of bytes with a binary unit.
func formatBytes(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}

// absolute returns the absolute path, or path itself if the working directory is unknown.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
