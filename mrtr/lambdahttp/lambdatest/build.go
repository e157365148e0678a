package lambdatest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Build runs go build on the main package pkg, as seen from dir, and writes the
// binary to out. It sets the build tag lambda.norpc and those given.
func Build(ctx context.Context, dir, pkg, out string, tags ...string) error {
	tags = append([]string{"lambda.norpc"}, tags...)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-tags", strings.Join(tags, ","), "-o", out, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("lambdatest: building %q: %w\n%s", pkg, err, output)
	}
	return nil
}
