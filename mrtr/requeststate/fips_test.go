package requeststate

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/fips140"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFIPS runs TestFIPSChild in a process that refuses every algorithm that is
// not approved.
func TestFIPS(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestFIPSChild$", "-test.v")
	cmd.Env = append(os.Environ(), "GODEBUG=fips140=only", "MRTR_TEST_FIPS_CHILD=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestFIPSChild")
}

func TestFIPSChild(t *testing.T) {
	if os.Getenv("MRTR_TEST_FIPS_CHILD") == "" {
		t.Skip("run by TestFIPS")
	}
	require.True(t, fips140.Enabled())
	block, err := aes.NewCipher(make([]byte, 32))
	require.NoError(t, err)
	_, err = cipher.NewGCM(block)
	require.Error(t, err, "a nonce of the caller's is allowed: the mode is not on")

	for _, v := range readVectors(t) {
		v.testOpen(t)
		if v.expect == "ok" {
			v.testSeal(t)
		}
	}
}
