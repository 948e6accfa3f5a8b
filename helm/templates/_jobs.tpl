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
A Job that runs a program of the image. The name depends on the values, because `kubectl apply` cannot change a Job.
Takes root, component, weight, hook, args, env (YAML), secrets and certificates (YAML, sources of a projected volume), and
serviceAccount, if the program calls the API server.
*/}}
{{- define "accord.job" -}}
{{- $labels := dict "root" .root "component" .component }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "accord.fullname" .root }}-{{ .component }}-{{ print (include "accord.image" .root) (toYaml .root.Values) | sha256sum | trunc 8 }}
  labels: {{- include "accord.labels" $labels | nindent 4 }}
  annotations: {{- include "accord.hookAnnotations" . | nindent 4 }}
spec:
  activeDeadlineSeconds: {{ .root.Values.jobs.timeout }}
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
