#!/bin/sh
# Runs what the argument names: a service (auth, forms, …), a job (migrate, topics, secrets, keys) or a command of an operator (account, client).
set -eu
name=${1:?'Say what to run: auth, forms, transactions, webhooks, peers, migrate, topics, secrets, keys, account or client.'}
shift
# The heap is as thrifty on a machine with much memory as in a small container: a small young generation, growth in small steps.
for program in "services/$name/main.ts" "services/$name.ts" "services/auth/$name.ts"; do
  if [ -f "$program" ]; then exec node --disable-warning=TimeoutNegativeWarning --max-semi-space-size=16 --heap-growing-percent=75 "$program" "$@"; fi
done
echo "There is nothing called $name to run." >&2
exit 64
