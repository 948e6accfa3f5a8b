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
  egress: [issuer]
forms:
  calls: [auth]
  secrets: []
  paths: [/]
  egress: []
transactions:
  calls: [auth, forms]
  secrets: [transaction-token, instance-signing, instance-sealing, erasure-pepper]
  paths: [/consents, /transactions, /records, /subjects, /receipts, /stats, /demo/messages, /user/records, /audit/consents, /decisions, /access, /choices, /erasures, /.well-known/authzen-configuration]
  egress: [mail, sms]
peers:
  calls: [auth, forms, transactions]
  secrets: [instance-signing, instance-sealing]
  paths: [/peers, /federation, /.well-known/accord, /audit/peers, /audit/checkpoints]
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

{{/* Fails if values name a service or an entry of the Secret that the table does not have. */}}
{{- define "accord.checkNames" -}}
{{- $services := include "accord.services" . | fromYaml }}
{{- $entries := list }}
{{- range $name, $service := $services }}
{{- $entries = concat $entries $service.secrets (list (printf "database-%s" $name) (printf "internal-%s" $name)) }}
{{- end }}
{{- range $key := keys .Values.services | sortAlpha }}
{{- if not (hasKey $services $key) }}{{ fail (printf "services.%s is no service; the services are %s." $key (keys $services | sortAlpha | join ", ")) }}{{ end }}
{{- end }}
{{- range $key := keys .Values.secrets.from | sortAlpha }}
{{- if not (has $key $entries) }}{{ fail (printf "secrets.from.%s is no entry of the Secret; the entries are %s." $key ($entries | uniq | sortAlpha | join ", ")) }}{{ end }}
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
