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
