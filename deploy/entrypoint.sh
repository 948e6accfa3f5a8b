#!/bin/sh
# Runs the program that the first argument names. The help below lists the programs.
set -eu

help() {
  cat <<'HELP'
Accord collects consents: it shows forms, stores the answers as records and signs receipts.

Usage: docker run accord <program> [<argument> …]

Services, which run until SIGTERM:
  auth              accounts, tokens and keys
  forms             models, forms and receipts
  transactions      consent transactions and records
  peers             federation with other instances
  webhooks          notifications of other systems
  console           the back office of people in an organisation

Jobs, which can be repeated; run them in this order before the services:
  secrets           generates the secrets of an instance in a folder
  cluster-secrets   the same as a Secret of Kubernetes
  migrate           brings the database to the schema of this release
  topics            creates the topics of Kafka

Commands of an administrator:
  account           adds and changes accounts
  client            adds and changes OAuth clients
  keys              replaces the keys of the instance
  erasures          repeats erasures after a restore
  export            writes audit logs, checkpoints and receipts into a folder
  verify            checks such a folder offline
  smoke-test        tries a whole consent on the services of a release (helm test)

Options: --help, --version

Settings and secrets: docs/operations.md of the project. A service that starts without them lists what is missing.
Interface: GET /docs of a running instance; /app/openapi.yaml and /app/asyncapi.yaml in this image.
Licences and packages: /app/LICENSE, /app/LICENSES.txt and /app/sbom.cdx.json in this image.
HELP
}

name=${1:-}
case $name in
  '') help >&2; exit 64 ;;
  help | -h | --help) help; exit 0 ;;
  --version) exec node -p '`accord ${require("./package.json").version}`' ;;
esac
shift
# Limits memory use on large machines: a small young generation, and growth of the heap in small steps.
for program in "services/$name/main.ts" "services/$name.ts" "services/auth/$name.ts" "services/transactions/$name.ts"; do
  if [ -f "$program" ]; then exec node --disable-warning=TimeoutNegativeWarning --max-semi-space-size=16 --heap-growing-percent=75 -r ./deploy/image/use-compiled.cjs "$program" "$@"; fi
done
echo "There is no program called $name. accord --help lists the programs." >&2
exit 64
