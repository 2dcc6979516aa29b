{{- define "chargehouse.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "chargehouse.labels" -}}
app.kubernetes.io/name: chargehouse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* A Deployment of one mode. Takes root, mode and settings. */}}
{{- define "chargehouse.deployment" -}}
{{- $name := include "chargehouse.name" .root -}}
{{- $scheme := .root.Values.config.api.tls | empty | ternary "HTTP" "HTTPS" -}}
{{- $port := eq .mode "api" | ternary .root.Values.config.api.port .root.Values.config.api.worker_port -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}-{{ .mode }}
  labels:
    {{- include "chargehouse.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .mode }}
    app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
spec:
  replicas: {{ .settings.replicas }}
  strategy:
    {{- if eq .mode "worker" }}
    # The old version has stopped gathering when the new one migrates.
    type: Recreate
    {{- else }}
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
    {{- end }}
  selector:
    matchLabels:
      {{- include "chargehouse.labels" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .mode }}
  template:
    metadata:
      labels:
        {{- include "chargehouse.labels" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .mode }}
      annotations:
        # A changed configuration is a new rollout.
        checksum/config: {{ .root.Values.config | toYaml | sha256sum }}
    spec:
      automountServiceAccountToken: false
      # A run gets 30 seconds to end.
      terminationGracePeriodSeconds: 60
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        {{- with .root.Values.tlsSecret }}
        # The key is of root and this group.
        fsGroup: 1000
        {{- end }}
        seccompProfile: { type: RuntimeDefault }
      containers:
        - name: chargehouse
          image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: ["serve", "--mode", {{ .mode | quote }}, "--config", "/etc/chargehouse/chargehouse.yaml"]
          {{- with .root.Values.secrets }}
          envFrom:
            {{- range . }}
            - secretRef: { name: {{ . | quote }} }
            {{- end }}
          {{- end }}
          ports:
            - name: http
              containerPort: {{ $port }}
          # Postgres is migrated before the port opens.
          startupProbe:
            httpGet: { path: /health, port: http, scheme: {{ $scheme }} }
            periodSeconds: 5
            failureThreshold: 120
          livenessProbe:
            httpGet: { path: /health, port: http, scheme: {{ $scheme }} }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          {{- if eq .mode "api" }}
          readinessProbe:
            httpGet: { path: "/api/v1/readiness?strict=true", port: http, scheme: {{ $scheme }} }
            periodSeconds: 5
            timeoutSeconds: 5
          # Endpoints forget a pod a moment after it gets the signal to stop.
          lifecycle:
            preStop:
              exec: { command: ["sleep", "5"] }
          {{- end }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: { drop: ["ALL"] }
          resources:
            {{- toYaml .settings.resources | nindent 12 }}
          volumeMounts:
            - { name: config, mountPath: /etc/chargehouse, readOnly: true }
            - { name: tmp, mountPath: /tmp }
            {{- with .root.Values.tlsSecret }}
            - { name: tls, mountPath: /etc/chargehouse-tls, readOnly: true }
            {{- end }}
      volumes:
        - name: config
          configMap: { name: {{ $name }} }
        - name: tmp
          emptyDir: {}
        {{- with .root.Values.tlsSecret }}
        - name: tls
          secret: { secretName: {{ . | quote }}, defaultMode: 288 } # 0440
        {{- end }}
      {{- with .root.Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .root.Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .root.Values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end -}}
