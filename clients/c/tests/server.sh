#!/bin/sh
# Runs the program, $1, against a real server.
set -eu
program=$1
folder=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server"; fi; rm -rf "$folder"' EXIT

if [ -z "${PARLANCE_URL:-}" ]; then
  parlance=$(cd "$(dirname "$0")/../../.." && pwd)/packages/cli/bin/parlance
  (cd "$folder" && exec sh "$parlance" serve --port 0 --data "$folder/data" --provider offline) >"$folder/log" 2>&1 &
  server=$!
  until PARLANCE_URL=$(sed -n 's/^parlance listening on //p' "$folder/log") && [ -n "$PARLANCE_URL" ]; do
    kill -0 "$server" || { cat "$folder/log"; exit 1; }
    sleep 0.1
  done
fi
export PARLANCE_URL

is() {
  [ "$1" = "$2" ] || { echo "expected: $2, but was: $1"; exit 1; }
}

is "$("$program" chat 'count to 3')" '1 2 3'
is "$(printf 'count to 2\ncount to 4\n' | "$program" -s "ctest-$$" chat)" "$(printf '1 2\n1 2 3 4')"
"$program" -s "ctest-$$" clear
echo 'Bees live in hives.' | "$program" summarize Bees >"$folder/summary"
[ -s "$folder/summary" ]
! "$program" -u http://127.0.0.1:1/ summarize </dev/null
