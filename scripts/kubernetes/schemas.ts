/**
 * Kinds and fields of Kubernetes objects that our manifests use. Unlisted fields are refused, like the API
 * server does with strict validation: add them here with their type from the API reference.
 */
import { z } from 'zod';

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ */
const name = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
const labels = z.record(
  z.string().regex(/^([a-z0-9.-]+\/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/),
  z.string().max(63),
);
const cpu = z.string().regex(/^\d+m?$/);
const bytes = z.string().regex(/^\d+(Ki|Mi|Gi|Ti)$/);
const port = z.union([z.int().min(1).max(65_535), name]);
const count = z.int().min(0);

const metadata = z.strictObject({ name, labels: labels.optional(), annotations: labels.optional() });
const selector = z.strictObject({ matchLabels: labels });

const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string().startsWith('/'), port }).optional(),
  tcpSocket: z.strictObject({ port }).optional(),
  periodSeconds: count.optional(),
  failureThreshold: count.optional(),
});

const environment = z.union([
  z.strictObject({ name: z.string(), value: z.string() }),
  z.strictObject({
    name: z.string(),
    valueFrom: z.strictObject({ secretKeyRef: z.strictObject({ name, key: z.string() }) }),
  }),
]);

const container = z.strictObject({
  name,
  image: z.string().regex(/^[\w./-]+:[^:]*\d/, 'an image needs a version'),
  command: z.array(z.string()).optional(),
  ports: z.array(z.strictObject({ name, containerPort: z.int() })),
  env: z.array(environment).optional(),
  livenessProbe: probe,
  readinessProbe: probe,
  lifecycle: z
    .strictObject({
      preStop: z.strictObject({ exec: z.strictObject({ command: z.array(z.string()) }) }),
    })
    .optional(),
  resources: z.strictObject({
    requests: z.strictObject({ cpu, memory: bytes }),
    limits: z.strictObject({ cpu: cpu.optional(), memory: bytes }),
  }),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(
    z.strictObject({ name, mountPath: z.string().startsWith('/'), readOnly: z.boolean().optional() }),
  ),
});

const volume = z.union([
  z.strictObject({ name, secret: z.strictObject({ secretName: name }) }),
  z.strictObject({ name, persistentVolumeClaim: z.strictObject({ claimName: name }) }),
  z.strictObject({ name, emptyDir: z.strictObject({ sizeLimit: bytes.optional() }) }),
]);

const podTemplate = z.strictObject({
  metadata: z.strictObject({ labels, annotations: labels.optional() }),
  spec: z.strictObject({
    automountServiceAccountToken: z.literal(false),
    terminationGracePeriodSeconds: count.optional(),
    securityContext: z.strictObject({
      runAsNonRoot: z.literal(true),
      runAsUser: z.int().min(1),
      runAsGroup: z.int().min(1),
      fsGroup: z.int().min(1),
      seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
    }),
    topologySpreadConstraints: z
      .array(
        z.strictObject({
          maxSkew: z.int().min(1),
          topologyKey: z.string(),
          whenUnsatisfiable: z.enum(['ScheduleAnyway', 'DoNotSchedule']),
          labelSelector: selector,
        }),
      )
      .optional(),
    containers: z.array(container).min(1),
    volumes: z.array(volume),
  }),
});

const share = z.union([count, z.string().regex(/^\d+%$/)]);

const deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata,
  spec: z.strictObject({
    replicas: count,
    selector,
    strategy: z.union([
      z.strictObject({
        type: z.literal('RollingUpdate'),
        rollingUpdate: z.strictObject({ maxSurge: share, maxUnavailable: share }),
      }),
      z.strictObject({ type: z.literal('Recreate') }),
    ]),
    template: podTemplate,
  }),
});

const service = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Service'),
  metadata,
  spec: z.strictObject({
    selector: labels,
    ports: z.array(z.strictObject({ name, port: z.int(), targetPort: port })),
  }),
});

const disruptionBudget = z.strictObject({
  apiVersion: z.literal('policy/v1'),
  kind: z.literal('PodDisruptionBudget'),
  metadata,
  spec: z.strictObject({ maxUnavailable: share, selector }),
});

const volumeClaim = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('PersistentVolumeClaim'),
  metadata,
  spec: z.strictObject({
    accessModes: z.array(z.enum(['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'])),
    resources: z.strictObject({ requests: z.strictObject({ storage: bytes }) }),
  }),
});

const autoscaler = z.strictObject({
  apiVersion: z.literal('autoscaling/v2'),
  kind: z.literal('HorizontalPodAutoscaler'),
  metadata,
  spec: z.strictObject({
    scaleTargetRef: z.strictObject({ apiVersion: z.string(), kind: z.string(), name }),
    minReplicas: count,
    maxReplicas: count,
    metrics: z.array(
      z.strictObject({
        type: z.literal('Pods'),
        pods: z.strictObject({
          metric: z.strictObject({ name: z.string() }),
          target: z.strictObject({ type: z.literal('AverageValue'), averageValue: z.string() }),
        }),
      }),
    ),
    behavior: z.strictObject({
      scaleDown: z.strictObject({
        stabilizationWindowSeconds: count,
        policies: z.array(
          z.strictObject({ type: z.enum(['Pods', 'Percent']), value: count, periodSeconds: count }),
        ),
      }),
    }),
  }),
});

const networkPolicy = z.strictObject({
  apiVersion: z.literal('networking.k8s.io/v1'),
  kind: z.literal('NetworkPolicy'),
  metadata,
  spec: z.strictObject({
    podSelector: selector,
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])),
    ingress: z.array(
      z.strictObject({
        from: z.array(z.strictObject({ podSelector: selector })),
        ports: z.array(z.strictObject({ protocol: z.enum(['TCP', 'UDP']), port })),
      }),
    ),
  }),
});

export const manifest = z.discriminatedUnion('kind', [
  deployment,
  service,
  disruptionBudget,
  volumeClaim,
  autoscaler,
  networkPolicy,
]);

export type Manifest = z.infer<typeof manifest>;
export type Deployment = z.infer<typeof deployment>;
