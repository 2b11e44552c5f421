package sqlite

import (
	"errors"
	"fmt"
	"os"

	"herbarium/internal/filesystem"
)

// Processes that use a database hold a shared lock on a file named after the schema version that
// they know. The lock ends with the process, even if it is killed. A migration takes exclusive
// locks on the files of all versions that cannot use its result and holds them until it has ended:
// it finds out whether such a process runs, and one that starts meanwhile waits and then reads the
// new version.

// usersFile returns the path of the file that processes with a schema version lock.
func usersFile(path string, version int) string {
	return fmt.Sprintf("%s-schema%d.lock", path, version)
}

// register marks the database as used by a program with a schema version until the file is closed.
// Where the system has no locks, it has no effect.
func register(path string, version int) (*os.File, error) {
	f, err := os.OpenFile(usersFile(path, version), os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filesystem.LockShared(f); err != nil && !errors.Is(err, filesystem.ErrLocksUnsupported) {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// olderUsers holds the locks of schema versions that programs must not use.
type olderUsers struct {
	files []*os.File
	users string // describes the programs that use the database; empty if there are none
}

// excludeOlder keeps programs with a schema version below needs from using a database, unless some
// already do.
func excludeOlder(path string, needs int) (o olderUsers, err error) {
	for version := 1; version < needs && o.users == ""; version++ {
		f, err := os.OpenFile(usersFile(path, version), os.O_RDONLY|os.O_CREATE, 0o600)
		if err != nil {
			o.close()
			return o, err
		}
		o.files = append(o.files, f)
		switch err := filesystem.TryLock(f); {
		case errors.Is(err, filesystem.ErrLocked):
			o.users = fmt.Sprintf("a server or command with schema version %d uses %s", version, path)
		case err != nil && !errors.Is(err, filesystem.ErrLocksUnsupported):
			o.close()
			return o, err
		}
	}
	return o, nil
}

// close releases the locks.
func (o olderUsers) close() {
	for _, f := range o.files {
		_ = f.Close() // it was only locked
	}
}
