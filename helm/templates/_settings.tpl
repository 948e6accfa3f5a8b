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
INSTANCE_NAME: {{ .Values.instance.name | quote }}
INSTANCE_LANGUAGE: {{ .Values.instance.language | quote }}
INSTANCE_TIME_ZONE: {{ .Values.instance.timeZone | quote }}
LOG_LEVEL: {{ .Values.logLevel }}
AUDIT_RETENTION: {{ .Values.auditRetention }}
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

{{/* Settings of messages, as environment of the service that sends them. Their URLs contain passwords. */}}
{{- define "accord.messageEnv" -}}
{{- range $setting, $values := dict "MAIL" .Values.mail "SMS" .Values.sms }}
{{- if $values.existingSecret }}
- name: {{ $setting }}_URL
  valueFrom:
    secretKeyRef: { name: {{ $values.existingSecret }}, key: {{ $values.key }} }
{{- if $values.from }}
- { name: {{ $setting }}_FROM, value: {{ $values.from | quote }} }
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.mail.ca.existingSecret }}
- { name: MAIL_CA, value: /certificates/mail-ca.crt }
{{- end }}
{{- end }}
