#!/bin/sh
# Runs the program that the argument names: a service (auth, forms, …), a job (migrate, topics, secrets, cluster-secrets, keys) or a command of an operator (account, client).
set -eu
name=${1:?'Name the program to run: auth, forms, transactions, webhooks, peers, migrate, topics, secrets, cluster-secrets, keys, account or client.'}
shift
# Limits memory use on large machines: a small young generation, and growth of the heap in small steps.
for program in "services/$name/main.ts" "services/$name.ts" "services/auth/$name.ts"; do
  if [ -f "$program" ]; then exec node --disable-warning=TimeoutNegativeWarning --max-semi-space-size=16 --heap-growing-percent=75 "$program" "$@"; fi
done
echo "There is no program called $name." >&2
exit 64
