{{/* A rule of a NetworkPolicy. Without peers it allows every address. Takes direction (from, to), peers and ports. */}}
{{- define "accord.networkRule" -}}
- ports:
    {{- range .ports }}
    - port: {{ . }}
    {{- end }}
  {{- with .peers }}
  {{ $.direction }}: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* The egress rule of a use: a key of networkPolicy.peers. Nothing if the use is not configured. Takes root and use. */}}
{{- define "accord.egressRule" -}}
{{- $values := .root.Values }}
{{- $peers := get $values.networkPolicy.peers .use }}
{{- $ports := list }}
{{- if eq .use "dns" }}
- ports:
    - { port: 53, protocol: UDP }
    - { port: 53, protocol: TCP }
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
{{- if and (eq .use "issuer") $values.oidc.issuer }}{{ $ports = list (include "accord.urlPort" $values.oidc.issuer | int) }}{{ end }}
{{- if eq .use "public" }}{{ $ports = list (include "accord.urlPort" $values.baseUrl | int) }}{{ end }}
{{- if and (eq .use "tracing") $values.tracing.endpoint }}{{ $ports = list (include "accord.urlPort" $values.tracing.endpoint | int) }}{{ end }}
{{- if eq .use "apiServer" }}{{ $ports = list 443 6443 }}{{ end }}
{{- if $ports }}
{{ include "accord.networkRule" (dict "direction" "to" "peers" $peers "ports" ($ports | uniq)) }}
{{- /* Calls of a public address reach a router of the cluster at the port of its pods. */}}
{{- if and (has .use (list "public" "issuer")) $values.networkPolicy.peers.router }}
- to: {{- toYaml $values.networkPolicy.peers.router | nindent 4 }}
{{- end }}
{{- end }}
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
