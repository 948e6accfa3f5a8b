{{/*
The table of services. An entry adds a service with all its resources, and its values under `services`.
- calls: services whose internal operations it calls
- secrets: entries of the Secret that it reads, beside its password and the internal secrets
- paths: public path prefixes
- egress: other targets than PostgreSQL, Kafka, Redis and the services that it calls (services-networkpolicy.yaml)
*/}}
{{- define "accord.services" -}}
auth:
  calls: []
  secrets: [key-pepper, issuer-cookies, issuer-signing, console-client]
  paths: [/auth, /accounts, /audit/auth, /keys, /user]
  egress: [issuer, mail]
forms:
  calls: [auth]
  secrets: []
  paths: [/]
  egress: []
transactions:
  calls: [auth, forms]
  secrets: [transaction-token, instance-signing, instance-sealing, document-sealing, erasure-pepper]
  paths: [/consents, /f, /l, /transactions, /records, /subjects, /receipts, /verify, /stats, /demo/messages, /user/records, /audit/consents, /decisions, /access, /choices, /erasures, /campaigns, /.well-known/authzen-configuration]
  egress: [mail, sms]
peers:
  calls: [auth, forms, transactions, webhooks]
  secrets: [instance-signing, instance-sealing]
  paths: [/peers, /federation, /.well-known/accord, /.well-known/jwks.json, /audit/peers, /audit/checkpoints]
  egress: [outbound]
webhooks:
  calls: [auth]
  secrets: [webhook-sealing]
  paths: [/webhooks, /audit/webhooks]
  egress: [outbound]
console:
  calls: []
  secrets: [console-session, console-client]
  paths: [/console]
  egress: [issuer, public]
{{- end }}

{{/* Services that call a service, as JSON list. Takes the service's name. */}}
{{- define "accord.callers" -}}
{{- $callers := list }}
{{- range $name, $service := include "accord.services" . | fromYaml }}
{{- if has $ $service.calls }}{{ $callers = append $callers $name }}{{ end }}
{{- end }}
{{- toJson $callers }}
{{- end }}

{{/* Fails if values name a service or an entry of the Secret that the table does not have, or contradict one another. */}}
{{- define "accord.checkValues" -}}
{{- $services := include "accord.services" . | fromYaml }}
{{- $entries := list }}
{{- range $name, $service := $services }}
{{- $entries = concat $entries $service.secrets (list (printf "database-%s" $name) (printf "internal-%s" $name)) }}
{{- with (include "accord.serviceValues" (dict "root" $ "name" $name) | fromYaml).autoscaling }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}{{ fail (printf "The autoscaling of %s has minReplicas %d, more than maxReplicas %d." $name (int .minReplicas) (int .maxReplicas)) }}{{ end }}
{{- end }}
{{- end }}
{{- range $key := keys .Values.services | sortAlpha }}
{{- if not (hasKey $services $key) }}{{ fail (printf "services.%s is no service; the services are %s." $key (keys $services | sortAlpha | join ", ")) }}{{ end }}
{{- end }}
{{- range $key := keys .Values.secrets.from | sortAlpha }}
{{- if not (has $key $entries) }}{{ fail (printf "secrets.from.%s is no entry of the Secret; the entries are %s." $key ($entries | uniq | sortAlpha | join ", ")) }}{{ end }}
{{- end }}
{{- range $store := list "database" "kafka" "redis" }}
{{- with (get $.Values $store).tls }}
{{- if and (not .enabled) (or .ca.existingSecret .clientSecret) }}{{ fail (printf "Set %s.tls.enabled to true, because a Secret for TLS is set, or remove that Secret." $store) }}{{ end }}
{{- end }}
{{- end }}
{{- with .Values.kafka.sasl }}
{{- if and (not .mechanism) (or .user .existingSecret) }}{{ fail "Set kafka.sasl.mechanism to SCRAM-SHA-256 or SCRAM-SHA-512, because kafka.sasl.user or its Secret is set." }}{{ end }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.networkPolicy.enabled (not .Values.networkPolicy.peers.monitoring) }}
{{- fail "Set networkPolicy.peers.monitoring to the pods of Prometheus, because metrics.serviceMonitor.enabled is true and network policies deny every scrape." }}
{{- end }}
{{- end }}

{{/* The values of a service: those of `defaults`, overwritten by its own. Takes root and name. */}}
{{- define "accord.serviceValues" -}}
{{- $own := get .root.Values.services .name | default dict }}
{{- mustMergeOverwrite (deepCopy .root.Values.defaults) (deepCopy $own) | toYaml }}
{{- end }}

{{/* The prefix of all names: the release's name if it contains "accord". */}}
{{- define "accord.fullname" -}}
{{- if contains "accord" .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-accord" .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Labels that select the pods of a component. Takes root and component. */}}
{{- define "accord.selectorLabels" -}}
app.kubernetes.io/name: accord
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* The labels of a resource. Takes root and component. */}}
{{- define "accord.labels" -}}
{{ include "accord.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: accord
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "accord.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (.tag | default $.Chart.AppVersion) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The host name of baseUrl, without a port. */}}
{{- define "accord.host" -}}
{{- (urlParse (required "Set baseUrl to the public address of this instance, such as https://consent.example.org." .Values.baseUrl)).hostname }}
{{- end }}

{{/* ---- Settings: addresses of the stores and of Accord ---- */}}

{{/* Where PostgreSQL is. Takes root and user; without a user each service signs in with its own role. */}}
{{- define "accord.databaseUrl" -}}
{{- $root := .root }}
{{- with .root.Values.database }}
{{- $host := required "Set database.host to the host of PostgreSQL." .host }}
{{- $user := ternary (printf "%s@" $.user) "" (not (empty $.user)) }}
{{- printf "postgresql://%s%s:%d/%s" $user $host (int .port) .name }}
{{- if .tls.enabled }}?sslmode=verify-full{{ if .tls.ca.existingSecret }}&sslrootcert=/certificates/database-ca.crt{{ end }}{{ end }}
{{- end }}
{{- end }}

{{- define "accord.redisUrl" -}}
{{- with .Values.redis }}
{{- $host := required "Set redis.host to the host of Redis or Valkey." .host }}
{{- $user := ternary (printf "%s@" .user) "" (not (empty .user)) }}
{{- printf "%s://%s%s:%d" (ternary "rediss" "redis" .tls.enabled) $user $host (int .port) }}
{{- end }}
{{- end }}

{{/* Settings of every process that uses Kafka. */}}
{{- define "accord.kafkaSettings" -}}
{{- with .Values.kafka }}
{{- if not .brokers }}{{ fail "Set kafka.brokers to the brokers, such as [kafka-1:9092, kafka-2:9092]." }}{{ end }}
KAFKA_BROKERS: {{ join "," .brokers | quote }}
{{- if .tls.enabled }}
KAFKA_TLS: 'true'
{{- if .tls.ca.existingSecret }}
KAFKA_CA: /certificates/kafka-ca.crt
{{- end }}
{{- if .tls.clientSecret }}
KAFKA_CERT: /certificates/kafka.crt
KAFKA_KEY: /certificates/kafka.key
{{- end }}
{{- end }}
{{- if .sasl.mechanism }}
KAFKA_SASL: {{ .sasl.mechanism | lower }}
KAFKA_USER: {{ required "Set kafka.sasl.user, because kafka.sasl.mechanism is set." .sasl.user | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Settings of every service (docs/operations.md, "Settings"). */}}
{{- define "accord.settings" -}}
HOST: 0.0.0.0
BASE_URL: {{ required "Set baseUrl to the public address of this instance, such as https://consent.example.org." .Values.baseUrl | quote }}
SECRETS_DIR: /secrets
DATABASE_URL: {{ include "accord.databaseUrl" (dict "root" .) | quote }}
{{ include "accord.kafkaSettings" . | trim }}
REDIS_URL: {{ include "accord.redisUrl" . | quote }}
{{- if .Values.redis.tls.ca.existingSecret }}
REDIS_CA: /certificates/redis-ca.crt
{{- end }}
{{- if .Values.trustedCA.existingSecret }}
NODE_EXTRA_CA_CERTS: /certificates/trusted-ca.crt
{{- end }}
{{- range $variable, $value := dict "INSTANCE_NAME" .Values.instance.name "INSTANCE_LANGUAGE" .Values.instance.language "INSTANCE_TIME_ZONE" .Values.instance.timeZone "MAIL_FROM" .Values.mail.from "AUDIT_RETENTION" .Values.auditRetention }}
{{- if $value }}
{{ $variable }}: {{ $value | quote }}
{{- end }}
{{- end }}
LOG_LEVEL: {{ .Values.logLevel }}
{{- with .Values.tracing }}
{{- if .endpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ .endpoint | quote }}
OTEL_TRACES_SAMPLER_ARG: {{ .ratio | quote }}
{{- end }}
{{- end }}
{{- with .Values.oidc }}
{{- if .issuer }}
OIDC_ISSUER: {{ .issuer | quote }}
OIDC_AUDIENCE: {{ .audience | quote }}
OIDC_ROLE_CLAIM: {{ .roleClaim | quote }}
OIDC_SUBJECT_CLAIM: {{ .subjectClaim | quote }}
{{- end }}
{{- end }}
SECOND_FACTOR: {{ .Values.secondFactor | quote }}
{{- with .Values.corsOrigins }}
CORS_ORIGINS: {{ join "," . | quote }}
{{- end }}
{{- with .Values.embedOrigins }}
EMBED_ORIGINS: {{ join "," . | quote }}
{{- end }}
{{- with .Values.trustedProxies }}
TRUSTED_PROXIES: {{ join "," . | quote }}
{{- end }}
{{- with .Values.outboundAllowedNetworks }}
OUTBOUND_ALLOWED_NETWORKS: {{ join "," . | quote }}
{{- end }}
{{- range $name := keys (include "accord.services" . | fromYaml) | sortAlpha }}
{{ upper $name }}_INTERNAL_URL: http://{{ include "accord.fullname" $ }}-{{ $name }}:8081
{{- end }}
{{- end }}

{{/* Headers of exported traces, as environment of every service. They contain credentials. */}}
{{- define "accord.tracingEnv" -}}
{{- with .Values.tracing }}
{{- if and .endpoint .headers.existingSecret }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef: { name: {{ .headers.existingSecret }}, key: {{ .headers.key }} }
{{- end }}
{{- end }}
{{- end }}

{{/* Settings of messages, as environment of a service that sends them. Their URLs contain passwords. With an outside issuer auth sends none. Takes root, and name and egress of the service. */}}
{{- define "accord.messageEnv" -}}
{{- $egress := ternary (list) .egress (and (eq .name "auth") (ne .root.Values.oidc.issuer "")) }}
{{- range $setting, $values := dict "MAIL" .root.Values.mail "SMS" .root.Values.sms }}
{{- if and (has (lower $setting) $egress) $values.existingSecret }}
- name: {{ $setting }}_URL
  valueFrom:
    secretKeyRef: { name: {{ $values.existingSecret }}, key: {{ $values.key }} }
{{- if and (eq $setting "SMS") $values.from }}
- { name: SMS_FROM, value: {{ $values.from | quote }} }
{{- end }}
{{- end }}
{{- end }}
{{- if and (has "mail" $egress) .root.Values.mail.ca.existingSecret }}
- { name: MAIL_CA, value: /certificates/mail-ca.crt }
{{- end }}
{{- end }}

{{/* ---- Pods and containers ---- */}}

{{/* The restricted Pod Security Standard; user and group are those of the image. */}}
{{- define "accord.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "accord.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/*
The entries of the Secret that a service reads: its own secrets, its password, its internal secret and those of its
callers. As JSON list. Takes name and service.
*/}}
{{- define "accord.secretEntries" -}}
{{- $entries := concat .service.secrets (list (printf "database-%s" .name) (printf "internal-%s" .name)) }}
{{- range include "accord.callers" .name | fromJsonArray }}
{{- $entries = append $entries (printf "internal-%s" .) }}
{{- end }}
{{- toJson $entries }}
{{- end }}

{{- define "accord.secretName" -}}
{{- .Values.secrets.existingSecret | default (printf "%s-secrets" (include "accord.fullname" .)) }}
{{- end }}

{{/*
The sources of a projected volume. Nothing if there are none: the API server drops an empty list, and each `kubectl apply`
would add it again.
*/}}
{{- define "accord.sources" -}}
{{- with . | default "" | trim -}}
sources: {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Sources of a volume of secrets: each entry as a file, nothing else. Takes root and entries. */}}
{{- define "accord.secretSources" -}}
{{- range .entries }}
{{- $from := get $.root.Values.secrets.from . | default dict }}
- secret:
    name: {{ $from.name | default (include "accord.secretName" $.root) }}
    items:
      - { key: {{ $from.key | default . }}, path: {{ . }} }
{{- end }}
{{- end }}

{{/* The password for Kafka, as the file kafka-password. */}}
{{- define "accord.kafkaPassword" -}}
{{- with .Values.kafka.sasl }}
{{- if .mechanism }}
- secret:
    name: {{ required "Set kafka.sasl.existingSecret to the Secret with the password of kafka.sasl.user." .existingSecret }}
    items:
      - { key: {{ .key }}, path: kafka-password }
{{- end }}
{{- end }}
{{- end }}

{{/* The password for Redis, as the file redis-password. */}}
{{- define "accord.redisPassword" -}}
{{- with .Values.redis }}
{{- if .existingSecret }}
- secret:
    name: {{ .existingSecret }}
    items:
      - { key: {{ .key }}, path: redis-password }
{{- end }}
{{- end }}
{{- end }}

{{/* The secret of the client of `helm test`, as the file test-client. */}}
{{- define "accord.testClient" -}}
{{- with .Values.test }}
{{- if .clientId }}
- secret:
    name: {{ required "Set test.existingSecret to the Secret with the secret of test.clientId." .existingSecret }}
    items:
      - { key: {{ .key }}, path: test-client }
{{- end }}
{{- end }}
{{- end }}

{{/* Certificates as files: the CAs of the uses, and the client certificate for Kafka. Takes root and uses. */}}
{{- define "accord.certificateSources" -}}
{{- $values := .root.Values }}
{{- $cas := dict
  "database" $values.database.tls.ca
  "kafka" $values.kafka.tls.ca
  "redis" $values.redis.tls.ca
  "mail" $values.mail.ca
  "trusted" $values.trustedCA }}
{{- range .uses }}
{{- $ca := get $cas . | default dict }}
{{- if $ca.existingSecret }}
- secret:
    name: {{ $ca.existingSecret }}
    items:
      - { key: {{ $ca.key }}, path: {{ . }}-ca.crt }
{{- end }}
{{- end }}
{{- if and (has "kafka" .uses) $values.kafka.tls.clientSecret }}
- secret:
    name: {{ $values.kafka.tls.clientSecret }}
    items:
      - { key: tls.crt, path: kafka.crt }
      - { key: tls.key, path: kafka.key }
{{- end }}
{{- end }}

{{/*
A checksum of the content of Secrets, so that `helm upgrade` restarts the pods that read a changed one. `helm template`
reads no cluster: there a changed podAnnotation restarts pods. Takes root, sources (YAML, as in a projected volume) and
env (YAML, as in a container).
*/}}
{{- define "accord.secretsChecksum" -}}
{{- $reads := list }}
{{- range fromYamlArray .sources }}
{{- $name := .secret.name }}
{{- range .secret.items }}
{{- $reads = append $reads (dict "as" .path "name" $name "key" .key) }}
{{- end }}
{{- end }}
{{- range $variable := fromYamlArray .env }}
{{- with dig "valueFrom" "secretKeyRef" dict $variable }}
{{- $reads = append $reads (dict "as" $variable.name "name" .name "key" .key) }}
{{- end }}
{{- end }}
{{- $content := list }}
{{- range $reads }}
{{- $secret := lookup "v1" "Secret" $.root.Release.Namespace .name | default dict }}
{{- $content = append $content (printf "%s=%s" .as (dig "data" .key "" $secret)) }}
{{- end }}
{{- toJson $content | sha256sum }}
{{- end }}

{{/* The password of the database's owner, as the file database-owner. */}}
{{- define "accord.ownerPassword" -}}
{{- with .Values.database.owner }}
- secret:
    name: {{ required "Set database.owner.existingSecret to the Secret with the password of the database's owner." .existingSecret }}
    items:
      - { key: {{ .key }}, path: database-owner }
{{- end }}
{{- end }}

{{/* ---- Jobs ---- */}}

{{/*
Annotations of what runs before the services of a new release start, or afterwards. What has succeeded is deleted; a
failed Job stays, with its log. Takes weight and, for afterwards, hook.
*/}}
{{- define "accord.hookAnnotations" -}}
helm.sh/hook: {{ .hook | default "pre-install,pre-upgrade" }}
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/*
A Job that runs a program of the image. The name depends on the values, the image and the version of the chart, because
`kubectl apply` cannot change a Job.
Takes root, component, weight, hook, args, env (YAML), secrets and certificates (YAML, sources of a projected volume), and
serviceAccount, if the program calls the API server.
*/}}
{{- define "accord.job" -}}
{{- $labels := dict "root" .root "component" .component }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "accord.fullname" .root }}-{{ .component }}-{{ print (include "accord.image" .root) (include "accord.labels" $labels) (toYaml .root.Values) | sha256sum | trunc 8 }}
  labels: {{- include "accord.labels" $labels | nindent 4 }}
  annotations: {{- include "accord.hookAnnotations" . | nindent 4 }}
spec:
  activeDeadlineSeconds: {{ int .root.Values.jobs.timeout }}
  backoffLimit: 3
  ttlSecondsAfterFinished: 86400
  template:
    metadata:
      labels: {{- include "accord.labels" $labels | nindent 8 }}
    spec:
      restartPolicy: Never
      {{- with .serviceAccount }}
      serviceAccountName: {{ . }}
      {{- end }}
      automountServiceAccountToken: {{ not (empty .serviceAccount) }}
      enableServiceLinks: false
      securityContext: {{- include "accord.podSecurity" . | nindent 8 }}
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "accord.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: {{ toJson .args }}
          {{- with .env }}
          env: {{- . | trim | nindent 12 }}
          {{- end }}
          # The last lines of the log are the reason that `kubectl describe` shows.
          terminationMessagePolicy: FallbackToLogsOnError
          resources: {{- toYaml .root.Values.jobs.resources | nindent 12 }}
          securityContext: {{- include "accord.containerSecurity" . | nindent 12 }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            - { name: secrets, mountPath: /secrets, readOnly: true }
            - { name: certificates, mountPath: /certificates, readOnly: true }
      volumes:
        - name: tmp
          emptyDir: { sizeLimit: 16Mi }
        - name: secrets
          projected:
            defaultMode: 0440
            {{- include "accord.sources" .secrets | nindent 12 }}
        - name: certificates
          projected:
            defaultMode: 0440
            {{- include "accord.sources" .certificates | nindent 12 }}
{{- end }}

{{/* ---- NetworkPolicies ---- */}}

{{/*
A rule of a NetworkPolicy. Without peers it allows every address, but calls of a use only to what "accord.anywhere" lists; the
API server may be at an address of a node, which that list does not have everywhere. Takes direction (from, to), use, peers and
ports.
*/}}
{{- define "accord.networkRule" -}}
- ports:
    {{- range .ports }}
    - port: {{ . }}
    {{- end }}
  {{- if .peers }}
  {{ .direction }}: {{- toYaml .peers | nindent 4 }}
  {{- else if and (eq .direction "to") (ne .use "apiServer") }}
  to: {{- include "accord.anywhere" . | nindent 4 }}
  {{- end }}
{{- end }}

{{/*
Targets whose address is not known: every pod, and every address that is not link-local. Clouds serve the credentials of a
node at a link-local address or at one of the three others. Pods are named because some networks, such as Cilium's, do not
count them as addresses.
*/}}
{{- define "accord.anywhere" -}}
- namespaceSelector: {}
- ipBlock:
    cidr: 0.0.0.0/0
    except: [169.254.0.0/16, 168.63.129.16/32, 100.100.100.200/32]
- ipBlock:
    cidr: ::/0
    except: [fe80::/10, fd00:ec2::254/128]
{{- end }}

{{/* The egress rule of a use: a key of networkPolicy.peers. Nothing if the use is not configured. Takes root and use. */}}
{{- define "accord.egressRule" -}}
{{- $values := .root.Values }}
{{- $peers := get $values.networkPolicy.peers .use }}
{{- $ports := list }}
{{- if eq .use "dns" }}
- ports:
    {{- range $values.networkPolicy.ports.dns }}
    - { port: {{ . }}, protocol: UDP }
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
  {{- with $peers }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- else if eq .use "outbound" }}
{{ include "accord.outboundRules" .root }}
{{- else }}
{{- if eq .use "database" }}{{ $ports = list $values.database.port }}{{ end }}
{{- if eq .use "redis" }}{{ $ports = list $values.redis.port }}{{ end }}
{{- if eq .use "kafka" }}
{{- range $values.kafka.brokers }}{{ $ports = append $ports (regexFind "[0-9]+$" . | int) }}{{ end }}
{{- end }}
{{- if and (eq .use "mail") $values.mail.existingSecret }}{{ $ports = list $values.mail.port }}{{ end }}
{{- if and (eq .use "sms") $values.sms.existingSecret }}{{ $ports = list $values.sms.port }}{{ end }}
{{- if and (eq .use "tracing") $values.tracing.endpoint }}{{ $ports = list (include "accord.urlPort" $values.tracing.endpoint | int) }}{{ end }}
{{- if eq .use "apiServer" }}{{ $ports = $values.networkPolicy.ports.apiServer }}{{ end }}
{{- if eq .use "public" }}
{{ include "accord.routedRules" (dict "root" .root "peers" $peers "url" $values.baseUrl) }}
{{- else if and (eq .use "issuer") $values.oidc.issuer }}
{{ include "accord.routedRules" (dict "root" .root "peers" $peers "url" $values.oidc.issuer) }}
{{- else if $ports }}
{{ include "accord.networkRule" (dict "direction" "to" "use" .use "peers" $peers "ports" ($ports | uniq)) }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Egress to a URL that may lead to pods of the cluster: a router, or the issuer behind a Service. A policy sees the port of
these pods (Traefik: 8443), which the URL does not tell (443), so named peers and routers get every port. Without a named
router it may be anywhere. Takes root, peers and url.
*/}}
{{- define "accord.routedRules" -}}
{{- $router := .root.Values.networkPolicy.peers.router | default list }}
{{- if not (or .peers $router) }}
- to: {{- include "accord.anywhere" . | nindent 4 }}
{{- else }}
{{- if not .peers }}
{{ include "accord.networkRule" (dict "direction" "to" "use" "public" "ports" (list (include "accord.urlPort" .url | int))) }}
{{- end }}
- to: {{- concat (.peers | default list) $router | toYaml | nindent 4 }}
{{- end }}
{{- end }}

{{/* The port of an http or https URL. */}}
{{- define "accord.urlPort" -}}
{{- $url := urlParse . }}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" }}
{{- $port | default (ternary 80 443 (eq $url.scheme "http")) }}
{{- end }}

{{/*
Egress to addresses that others choose: the public internet without special-purpose ranges (RFC 6890), and the networks
that the operator allows. The services check the same (lib/outbound/address-rules.ts).
*/}}
{{- define "accord.outboundRules" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: [0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 168.63.129.16/32, 169.254.0.0/16, 172.16.0.0/12, 192.0.0.0/24, 192.168.0.0/16, 198.18.0.0/15, 224.0.0.0/3]
    - ipBlock:
        cidr: 2000::/3
        except: [2001::/32, 2001:db8::/32, 2002::/16]
    {{- range .Values.outboundAllowedNetworks }}
    - ipBlock:
        cidr: {{ . }}
    {{- end }}
    {{- with .Values.networkPolicy.peers.outbound }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{/* ---- Topics ---- */}}

{{/* The topics of asyncapi.yaml: partitions, and retention in milliseconds; without one the topic is compacted. */}}
{{- define "accord.topics" -}}
accord.consents: { partitions: 12, retention: '604800000' }
accord.models: { partitions: 12 }
accord.keys: { partitions: 1 }
accord.peers: { partitions: 1 }
accord.heads: { partitions: 1 }
accord.settings: { partitions: 1 }
accord.peer-submissions: { partitions: 12, retention: '604800000' }
accord.peer-outcomes: { partitions: 12, retention: '604800000' }
accord.notices: { partitions: 12, retention: '604800000' }
{{- end }}

{{/* The topics as resources of Strimzi. */}}
{{- define "accord.topicResources" -}}
{{- range $topic, $options := include "accord.topics" . | fromYaml }}
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata:
  name: {{ $topic }}
  labels:
    strimzi.io/cluster: {{ $.Values.topics.strimziCluster }}
spec:
  partitions: {{ $options.partitions }}
  replicas: 3
  config:
    cleanup.policy: {{ ternary "delete" "compact" (hasKey $options "retention") }}
    {{- with $options.retention }}
    retention.ms: {{ . | quote }}
    {{- end }}
    compression.type: uncompressed
    message.timestamp.type: LogAppendTime
    min.insync.replicas: '2'
{{- end }}
{{- end }}
