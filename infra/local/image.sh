#!/bin/sh
# Makes the base image that `sam local` runs the function in be there, for x86_64 or arm64, this machine's own:
#
#	infra/local/image.sh ARCHITECTURE
#
# The last line says which it is: "real", pulled from AWS, or "stand-in", built from the Dockerfile beside this.
set -eu
architecture=$1
name=public.ecr.aws/lambda/provided:al2023-$architecture
emulator=public.ecr.aws/lambda/provided:al2023-rapid-$architecture # what the SAM CLI makes of it

docker version >/dev/null || { echo 'image.sh: Docker is not running' >&2; exit 1; }
if timeout 120 docker pull --quiet "$name" >&2; then
	if docker image inspect "$emulator" >/dev/null 2>&1; then docker image rm --force "$emulator" >&2; fi
	echo real
	exit
fi
busybox=$(command -v busybox) && ! ldd "$busybox" >/dev/null 2>&1 || { echo 'image.sh: no busybox without libraries, for the stand-in image; Debian has it in busybox-static' >&2; exit 1; }
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
cp "$busybox" "$context/busybox"
DOCKER_BUILDKIT=0 docker build --quiet --tag "$name" --file "$(dirname "$0")/Dockerfile" "$context" >&2
echo "image.sh: $name cannot be pulled; a stand-in was built" >&2
echo stand-in
