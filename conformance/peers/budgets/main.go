// Command budgets holds what the benchmarks measured against the budgets of the
// server's design and prints a table. It reads the output of go test -bench,
// files or standard input, in which a benchmark may come several times: the
// least of each metric counts. It ends with 0 over budget too: measurements are
// no tests.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	binary := flag.String("binary", "", "the function's `file`, stripped; empty: its size is left out")
	flag.Parse()
	if err := run(*binary, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "budgets: %v\n", err)
		os.Exit(1)
	}
}

func run(binary string, files []string) error {
	r := results{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = r.read(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
	}
	if len(files) == 0 {
		if err := r.read(os.Stdin); err != nil {
			return err
		}
	}
	if binary != "" {
		if err := r.size(binary); err != nil {
			return err
		}
	}
	w := bufio.NewWriter(os.Stdout)
	for _, line := range r.table() {
		fmt.Fprintf(w, "%-44s %12s %12s  %s\n", line.what, line.budget, line.measured, line.verdict)
	}
	return w.Flush()
}

// size adds the size of a file, and of what gzip makes of it: a zip of one file
// differs by a few bytes.
func (r results) size(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	zipped, err := exec.Command("gzip", "-9", "-n", "-c", name).Output()
	if err != nil {
		return fmt.Errorf("compressing %s: %w", name, err)
	}
	r.add("size", "binary", float64(info.Size()))
	r.add("size", "zip", float64(len(zipped)))
	return nil
}
