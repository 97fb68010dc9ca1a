package dbtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Server is a PostgreSQL server of its own, on a socket in its directory. PostgreSQL refuses to run as root, who therefore
// runs it as the user "postgres".
type Server struct {
	DSN      string
	bin, dir string
}

// ErrMissing is of a machine without PostgreSQL.
var ErrMissing = errors.New("there is no /usr/lib/postgresql/*/bin/postgres (Debian: apt install postgresql)")

// NewServer makes a server in a directory that there is, and starts it.
func NewServer(dir string) (*Server, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	s := &Server{DSN: "host=" + dir + " user=test", dir: dir}
	if len(found) > 0 {
		s.bin = filepath.Dir(found[len(found)-1])
	} else if path, err := exec.LookPath("postgres"); err == nil {
		s.bin = filepath.Dir(path)
	} else {
		return nil, ErrMissing
	}
	if os.Geteuid() == 0 {
		if out, err := exec.Command("chown", "postgres", dir).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("chown: %w: %s", err, out)
		}
	}
	if err := s.run("initdb", "-D", dir+"/data", "-U", "test", "--auth=trust", "--no-locale", "-E", "UTF8", "--wal-segsize=1"); err != nil {
		return nil, err
	}
	return s, s.Start()
}

func (s *Server) run(args ...string) error {
	args[0] = filepath.Join(s.bin, args[0])
	if os.Geteuid() == 0 {
		args = append([]string{"runuser", "-u", "postgres", "--"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// Start starts a server that is not running.
func (s *Server) Start() error {
	return s.run("pg_ctl", "-D", s.dir+"/data", "-w", "-l", "/dev/null", "-o",
		"-c listen_addresses='' -c max_wal_size=4MB -c min_wal_size=2MB -c shared_buffers=8MB -c unix_socket_directories="+s.dir, "start")
}

// Kill ends the server at once, as a crash does.
func (s *Server) Kill() error {
	return s.run("pg_ctl", "-D", s.dir+"/data", "-m", "immediate", "stop")
}

// Running reports whether the server runs.
func (s *Server) Running() bool { return s.run("pg_ctl", "-D", s.dir+"/data", "status") == nil }
