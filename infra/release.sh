#!/bin/sh
# Prints the name of a release, a hash of all that a deployment is made of:
#
#	infra/release.sh BINARY PARAMETERS-FILE [NAME=VALUE ...]
#
# CloudFormation publishes a version of the function for each name, and moves the alias to it.
set -eu
binary=$1 file=$2
shift 2
cd "$(dirname "$0")/.."
{
	for part in "$binary" "$file" template.yaml infra/*.yaml; do
		printf '%s %s\n' "$(wc -c <"$part")" "$part"
		cat "$part"
	done
	for parameter in "$@"; do
		printf '%s %s\n' "${#parameter}" "$parameter"
	done
} | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c 1-40
