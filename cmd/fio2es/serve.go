package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/web"
)

func serveCommand(e *env) *cobra.Command {
	listen := ""
	cmd := &cobra.Command{
		Use: "serve", SuggestFor: []string{"web"},
		Short: "The history in a browser, without Kibana",
		Long: `Serves the history to browsers until it is interrupted (Ctrl-C): a list of all runs, with
the filters, columns and orders of "runs"; the report of each, as by "report";
comparisons of runs that are chosen in the list; and workloads, as by "trend". Pages of
live runs ("run", "follow"), and the list, show what is stored within some seconds.

  /                         the runs, the newest first; also with
                            ?text=randwrite&sort=p99, where=bs%3D4k,
                            columns=p99,pool_profile and order=lowest
  /runs/ID                  one of them: its id, the beginning of it, or latest
  /executions/ID            all stages of one call of fio: its id, or a stage
  /archives                 all archives, such as nights of CBT
  /archives/NAME            all tests of one, as by "report"; also against=
  /compare?run=ID&run=ID    two compared, or a page of more, by archive
  /matrix?by=bs,iodepth     many runs, as by "runs --by"; also where= and show=
  /workloads                runs with the same settings, and when they changed
  /workloads/ID             the workload of a run
  /metrics                  for Prometheus: latest runs, rules of live runs
  /healthz                  200 while it serves

Pages are read-only and there is no login: everyone who can reach the address can read
the history, with names of hosts and configurations. By default that is this machine
only. From another machine use a tunnel: ssh -L 8600:localhost:8600 HOST.`,
		Example: `  fio2es serve
  fio2es serve --listen 127.0.0.1:0         at a free port, which stderr names
  fio2es serve --elasticsearch https://es:9200`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), e, listen) },
	}
	addSettings(cmd.Flags(), "cluster")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8600", "`address` and port; port 0 is a free one, and :8600 all addresses of this machine")
	return cmd
}

func serve(ctx context.Context, e *env, listen string) error {
	if _, _, err := net.SplitHostPort(listen); err != nil {
		return usagef("--listen %s: want an address and a port, such as 127.0.0.1:8600", listen)
	}
	store, err := e.openWaiting(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("--listen %s: another program listens there: try another port, or 0 for a free one", listen)
	}
	var name *net.DNSError
	switch cause := (*net.OpError)(nil); {
	case errors.As(err, &name):
		return fmt.Errorf("--listen %s: this machine has no address %s", listen, name.Name)
	case errors.As(err, &cause):
		return fmt.Errorf("--listen %s: %w", listen, cause.Err)
	case err != nil:
		return fmt.Errorf("--listen %s: %w", listen, err)
	}
	local, host := isLocal(l.Addr()), l.Addr().String()
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() { // it listens on all addresses
		host = net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	e.log.Info(fmt.Sprintf("%s is at http://%s/", e.historyName(), host))
	if !local {
		e.log.Warn("there is no login: everyone who can reach this address can read the history")
	}
	pages := web.New(web.Options{Store: store, Name: e.historyName(), Program: generator(), Log: e.log, Local: local})
	return web.Serve(ctx, l, pages, e.log)
}

// isLocal reports whether only programs on this machine can reach an address.
func isLocal(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
