{{/* The topics of asyncapi.yaml: partitions, and retention in milliseconds; without one the topic is compacted. */}}
{{- define "accord.topics" -}}
accord.consents: { partitions: 12, retention: '604800000' }
accord.models: { partitions: 12 }
accord.keys: { partitions: 1 }
accord.peers: { partitions: 1 }
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
