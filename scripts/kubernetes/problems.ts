/** Problems of the Kubernetes manifests of the guide, as sentences. */
import { entries, GAUGES, metricName } from '../../packages/server/src/telemetry/metric-list.ts';
import { unknownVariables } from '../container/problems.ts';
import { type Deployment, type Manifest, manifest } from './schemas.ts';

export type ManifestFile = { readonly path: string; readonly text: string };

export function manifestProblems(files: readonly ManifestFile[]): string[] {
  const problems: string[] = [];
  const manifests: Manifest[] = [];
  for (const { path, text } of files) {
    const parsed = Bun.YAML.parse(text);
    for (const document of Array.isArray(parsed) ? parsed : [parsed]) {
      const { success, data, error } = manifest.safeParse(document);
      if (success) manifests.push(data);
      else
        problems.push(
          ...error.issues.map(
            ({ path: field, message }) => `${path}: ${titleOf(document)} ${field.join('.')}: ${message}`,
          ),
        );
    }
  }
  return problems.length > 0 ? problems : manifests.flatMap((one) => referenceProblems(one, manifests));
}

const titleOf = (document: unknown): string => {
  const { kind = '', metadata } = (document ?? {}) as { kind?: string; metadata?: { name?: string } };
  return `${kind} ${metadata?.name ?? ''}`;
};

/** References between objects, which no schema checks. */
function referenceProblems(one: Manifest, all: readonly Manifest[]): string[] {
  const deployments = all.filter((other) => other.kind === 'Deployment');
  const exists = (labels: Readonly<Record<string, string>>): boolean =>
    deployments.some(({ spec }) => matches(labels, spec.template.metadata.labels));
  const problems: string[] = [];
  switch (one.kind) {
    case 'Deployment':
      problems.push(...deploymentProblems(one, all));
      break;
    case 'Service': {
      if (!exists(one.spec.selector)) problems.push('it selects nothing');
      const ports = deployments.flatMap(({ spec }) =>
        spec.template.spec.containers.flatMap((each) => each.ports),
      );
      for (const { targetPort } of one.spec.ports)
        if (!ports.some((port) => port.name === targetPort || port.containerPort === targetPort))
          problems.push(`there is no port ${targetPort}`);
      break;
    }
    case 'PodDisruptionBudget':
      if (!exists(one.spec.selector.matchLabels)) problems.push('it selects nothing');
      break;
    case 'NetworkPolicy':
      for (const { matchLabels } of [
        one.spec.podSelector,
        ...one.spec.ingress.flatMap(({ from }) => from.map(({ podSelector }) => podSelector)),
      ])
        if (!exists(matchLabels)) problems.push('it selects nothing');
      break;
    case 'HorizontalPodAutoscaler': {
      const target = one.spec.scaleTargetRef.name;
      if (!deployments.some(({ metadata }) => metadata.name === target))
        problems.push(`there is no ${target}`);
      const gauges = entries(GAUGES).map(([name]) => metricName(name));
      for (const { pods } of one.spec.metrics)
        if (!gauges.includes(pods.metric.name)) problems.push(`${pods.metric.name} is not a gauge`);
      break;
    }
    case 'PersistentVolumeClaim':
      break;
  }
  return problems.map((problem) => `${titleOf(one)}: ${problem}`);
}

function deploymentProblems({ metadata, spec }: Deployment, all: readonly Manifest[]): string[] {
  const problems: string[] = [];
  const { template, selector } = spec;
  if (!matches(selector.matchLabels, template.metadata.labels))
    problems.push('it does not select its own pods');
  for (const container of template.spec.containers) {
    const volumes = new Set(template.spec.volumes.map(({ name }) => name));
    for (const { name } of container.volumeMounts)
      if (!volumes.delete(name)) problems.push(`there is no volume ${name}`);
    for (const name of volumes) problems.push(`volume ${name} is not mounted`);
    for (const probe of [container.livenessProbe, container.readinessProbe]) {
      const { port } = probe.httpGet ?? probe.tcpSocket ?? {};
      if (!container.ports.some(({ name }) => name === port)) problems.push(`there is no port ${port}`);
    }
    if (metadata.name === 'parlance')
      problems.push(...unknownVariables((container.env ?? []).map(({ name }) => name)));
  }
  for (const volume of template.spec.volumes) {
    if (!('persistentVolumeClaim' in volume)) continue;
    const { claimName } = volume.persistentVolumeClaim;
    if (!all.some((other) => other.kind === 'PersistentVolumeClaim' && other.metadata.name === claimName))
      problems.push(`there is no claim ${claimName}`);
  }
  return problems;
}

const matches = (
  selector: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
): boolean => Object.entries(selector).every(([name, value]) => labels[name] === value);
