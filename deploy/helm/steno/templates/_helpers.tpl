{{- define "steno.labels" -}}
app.kubernetes.io/name: steno
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "steno.selector" -}}
app.kubernetes.io/name: steno
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
